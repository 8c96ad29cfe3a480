-- Trials that failed, newest first, with the reason
SELECT substr(t.uuid, 1, 8) AS trial, x.name AS experiment, c.dataset, c.scheme_label AS scheme, c.gpus, t.purpose, t.status, t.reason,
       t.started
FROM trial t JOIN cell c ON c.id = t.cell_id JOIN experiment x ON x.id = t.experiment_id
WHERE t.status NOT IN ('ok', 'skipped', 'running') ORDER BY t.id DESC LIMIT 200;
