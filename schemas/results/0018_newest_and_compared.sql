-- The newest trial is the one recorded last, by its row, and not by `started`: a clock can be set back. What was measured into this
-- database comes before what was imported, which is recorded late whenever it was measured.

DROP INDEX trial_cell;
CREATE INDEX trial_cell ON trial (cell_id, purpose, machine_id);
DROP INDEX trial_experiment;
CREATE INDEX trial_experiment ON trial (experiment_id);
DROP INDEX trial_counted;
CREATE INDEX trial_counted ON trial (cell_id, machine_id, number, experiment_id, status, epoch_s, oversubscribed, purpose)
WHERE purpose = 'measure';

DROP VIEW counted_trials;
CREATE VIEW counted_trials AS
SELECT x.experiment_id, t.cell_id, t.machine_id, t.number, t.id AS trial_id, t.experiment_id <> x.experiment_id AS borrowed,
       t.status, t.epoch_s, t.oversubscribed
FROM experiment_cell x JOIN trial t ON t.cell_id = x.cell_id AND t.purpose = 'measure'
WHERE NOT EXISTS (
    SELECT 1 FROM trial n
    WHERE n.purpose = 'measure' AND n.cell_id = t.cell_id AND n.machine_id = t.machine_id AND n.number = t.number AND n.id <> t.id
      AND (n.status NOT IN ('running', 'interrupted', 'skipped'), n.experiment_id = x.experiment_id,
           n.id NOT IN (SELECT trial_id FROM imported_trial), n.id)
          > (t.status NOT IN ('running', 'interrupted', 'skipped'), t.experiment_id = x.experiment_id,
             t.id NOT IN (SELECT trial_id FROM imported_trial), t.id));

DROP VIEW latest;
CREATE VIEW latest AS
SELECT v.* FROM trials v JOIN trial t ON t.uuid = v.trial
WHERE t.purpose = 'measure'
  AND t.id = coalesce((SELECT n.id FROM trial n WHERE n.cell_id = t.cell_id AND n.purpose = 'measure' AND n.machine_id = t.machine_id
                        AND n.id NOT IN (SELECT trial_id FROM imported_trial) ORDER BY n.id DESC LIMIT 1),
                      (SELECT n.id FROM trial n WHERE n.cell_id = t.cell_id AND n.purpose = 'measure' AND n.machine_id = t.machine_id
                       ORDER BY n.id DESC LIMIT 1));

DROP VIEW cells;
CREATE VIEW cells AS
SELECT digest AS cell, dataset, scheme_label AS scheme, partitioner_label AS partitioner, kernel, simulated_on, gpus,
       threads_per_rank, precision, hidden, layers, optimizer, learning_rate, dropout, seed, epochs, warmup,
       slowdown,
       (SELECT count(*) FROM trial WHERE cell_id = cell.id AND purpose = 'measure' AND status = 'ok') AS ok_trials,
       iif((SELECT v.status FROM verification v JOIN trial t ON t.id = v.trial_id
             WHERE v.key = cell.verification_key AND t.purpose = 'measure' AND v.status <> 'unverified'
             ORDER BY v.trial_id DESC LIMIT 1) = 'failed', 'failed',
           (SELECT v.status FROM verification v JOIN trial t ON t.id = v.trial_id
             WHERE v.key = cell.verification_key AND t.purpose = 'verify'
             ORDER BY v.trial_id IN (SELECT trial_id FROM imported_trial), v.trial_id DESC LIMIT 1)) AS verification,
       dataset_digest, identity
FROM cell;

-- The layers of its model: gcn, sage, gin.
ALTER TABLE cell ADD COLUMN model TEXT
    AS (coalesce(iif(json_valid(identity), json_extract(identity, '$.model.layers'), NULL), '')) VIRTUAL;

-- The ok trials that count, as named queries read them, without the candidates of `gnnbench tune`. A simulated trial's time is of
-- no processor.
CREATE VIEW compared_trials AS
SELECT k.experiment_id, x.name AS experiment, k.cell_id, c.digest AS cell, k.machine_id, k.trial_id, c.dataset, c.model, c.hidden, c.precision,
       c.scheme_label AS scheme, c.partitioner_label AS partitioner, c.kernel, c.gpus, c.threads_per_rank, k.epoch_s, k.oversubscribed,
       c.simulated_on, iif(c.simulated_on IS NULL, m.cpu, NULL) AS cpu
FROM counted_trials k JOIN experiment x ON x.id = k.experiment_id JOIN cell c ON c.id = k.cell_id JOIN machine m ON m.id = k.machine_id
WHERE k.status = 'ok' AND (c.simulated_on IS NULL OR x.name NOT GLOB '*-tune');

-- No partition is made of an expected graph, and of its largest part only the vertices are known.
UPDATE trial SET nonzero_imbalance = NULL, partition_s = NULL WHERE synthetic GLOB 'expected graph*';

-- Verifications have epochs, too: what is asked of epochs, phases and volumes can leave them out.
DROP VIEW epochs;
CREATE VIEW epochs AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, e.epoch, r.rank, e.warmup, e.loss, r.wall_s,
       (SELECT p.seconds FROM rank_phase p WHERE p.trial_id = r.trial_id AND p.epoch = r.epoch
         AND p.rank = r.rank AND p.phase = 'comm') AS exposed_comm_s,
       r.total_comm_s, r.peak_memory_bytes, e.wall_s AS slowest_rank_s, t.purpose
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN epoch e ON e.trial_id = t.id
JOIN rank_epoch r ON r.trial_id = e.trial_id AND r.epoch = e.epoch;

DROP VIEW phases;
CREATE VIEW phases AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, e.epoch, p.rank, e.warmup, p.phase, p.seconds, t.purpose
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN epoch e ON e.trial_id = t.id
JOIN rank_phase p ON p.trial_id = e.trial_id AND p.epoch = e.epoch;

DROP VIEW volumes;
CREATE VIEW volumes AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, e.epoch, v.rank, e.warmup, v.operation, v.content, v.sent_bytes, v.received_bytes, v.messages,
       s.sent_bytes AS stated_sent_bytes, s.received_bytes AS stated_received_bytes, s.messages AS stated_messages, t.purpose
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN epoch e ON e.trial_id = t.id
JOIN rank_volume v ON v.trial_id = e.trial_id AND v.epoch = e.epoch
LEFT JOIN stated_volume s ON s.trial_id = v.trial_id AND s.rank = v.rank AND s.operation = v.operation
     AND s.content = v.content;
