-- Experiments with their cells, their trials and when they last ran
SELECT x.name AS experiment, (SELECT count(*) FROM experiment_cell e WHERE e.experiment_id = x.id) AS cells,
       count(t.id) AS trials, sum(t.status = 'ok') AS ok, sum(t.status NOT IN ('ok', 'skipped', 'interrupted', 'running'))
       AS failed, max(t.started) AS last
FROM experiment x LEFT JOIN trial t ON t.experiment_id = x.id AND t.purpose = 'measure'
GROUP BY x.id ORDER BY last DESC;
