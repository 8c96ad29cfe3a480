-- What people ask of epochs, phases, volumes and spans is of a scheme on some GPUs: the views say which.

DROP VIEW epochs;
CREATE VIEW epochs AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, e.epoch, r.rank, e.warmup, e.loss, r.wall_s,
       (SELECT p.seconds FROM rank_phase p WHERE p.trial_id = r.trial_id AND p.epoch = r.epoch
         AND p.rank = r.rank AND p.phase = 'comm') AS exposed_comm_s,
       r.total_comm_s, r.peak_memory_bytes, e.wall_s AS slowest_rank_s
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN epoch e ON e.trial_id = t.id
JOIN rank_epoch r ON r.trial_id = e.trial_id AND r.epoch = e.epoch;

DROP VIEW phases;
CREATE VIEW phases AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, e.epoch, p.rank, e.warmup, p.phase, p.seconds
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN epoch e ON e.trial_id = t.id
JOIN rank_phase p ON p.trial_id = e.trial_id AND p.epoch = e.epoch;

DROP VIEW volumes;
CREATE VIEW volumes AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, e.epoch, v.rank, e.warmup, v.operation, v.content, v.sent_bytes, v.received_bytes, v.messages,
       s.sent_bytes AS stated_sent_bytes, s.received_bytes AS stated_received_bytes, s.messages AS stated_messages
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN epoch e ON e.trial_id = t.id
JOIN rank_volume v ON v.trial_id = e.trial_id AND v.epoch = e.epoch
LEFT JOIN stated_volume s ON s.trial_id = v.trial_id AND s.rank = v.rank AND s.operation = v.operation
     AND s.content = v.content;
