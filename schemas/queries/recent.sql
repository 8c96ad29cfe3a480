-- The thirty trials that were recorded last
SELECT substr(uuid, 1, 8) AS trial, x.name AS experiment, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, t.purpose, t.status, t.epoch_s, c.simulated_on, t.started
FROM trial t JOIN cell c ON c.id = t.cell_id JOIN experiment x ON x.id = t.experiment_id
ORDER BY t.id DESC LIMIT 30;
