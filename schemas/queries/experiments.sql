-- Experiments with their cells, their trials and when the trial that was recorded last began
WITH counted AS (SELECT x.id, x.name, count(t.id) AS trials, sum(t.status = 'ok') AS ok,
                        sum(t.status NOT IN ('ok', 'skipped', 'interrupted', 'running')) AS failed, max(t.id) AS newest
                 FROM experiment x LEFT JOIN trial t ON t.experiment_id = x.id AND t.purpose = 'measure' GROUP BY x.id)
SELECT x.name AS experiment, (SELECT count(*) FROM experiment_cell e WHERE e.experiment_id = x.id) AS cells, x.trials, x.ok, x.failed,
       t.started AS last
FROM counted x LEFT JOIN trial t ON t.id = x.newest
ORDER BY x.newest DESC;
