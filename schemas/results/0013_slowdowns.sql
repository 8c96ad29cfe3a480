-- Ranks that a cell declares slow: its identity has them where there are any.

-- As tables show it: {3: 2, jitter: 0.2}. An identity that SQLite cannot read must not keep others from being read.
ALTER TABLE cell ADD COLUMN slowdown TEXT
    AS (coalesce(iif(json_valid(identity), json_extract(identity, '$.slowdown.label'), NULL), 'none')) VIRTUAL;

DROP VIEW cells;
CREATE VIEW cells AS
SELECT digest AS cell, dataset, scheme_label AS scheme, partitioner_label AS partitioner, kernel, gpus,
       threads_per_rank, precision, hidden, layers, optimizer, learning_rate, dropout, seed, epochs, warmup,
       slowdown,
       (SELECT count(*) FROM trial WHERE cell_id = cell.id AND purpose = 'measure' AND status = 'ok') AS ok_trials,
       (SELECT v.status FROM verification v WHERE v.key = cell.verification_key
         ORDER BY v.trial_id DESC LIMIT 1) AS verification,
       dataset_digest, identity
FROM cell;

-- One row for each epoch of each independent worker.
CREATE VIEW workers AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, c.slowdown, w.epoch, w.rank, e.warmup, w.steps, w.samples, w.loss, r.wall_s, w.end_s,
       (SELECT p.seconds FROM rank_phase p WHERE p.trial_id = w.trial_id AND p.epoch = w.epoch
         AND p.rank = w.rank AND p.phase = 'wait') AS wait_s,
       (SELECT count(*) FROM averaging a WHERE a.trial_id = w.trial_id AND a.epoch = w.epoch AND a.rank = w.rank)
         AS averagings,
       (SELECT avg(abs(a.staleness)) FROM averaging a WHERE a.trial_id = w.trial_id AND a.epoch = w.epoch
         AND a.rank = w.rank) AS mean_staleness
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN worker_epoch w ON w.trial_id = t.id
JOIN epoch e ON e.trial_id = w.trial_id AND e.epoch = w.epoch
JOIN rank_epoch r ON r.trial_id = w.trial_id AND r.epoch = w.epoch AND r.rank = w.rank;

DROP VIEW latest;
DROP VIEW trials;
CREATE VIEW trials AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme,
       c.partitioner_label AS partitioner, c.kernel, c.gpus, c.threads_per_rank, c.hidden, c.seed, c.slowdown, t.number,
       t.block, t.purpose, t.status, t.reason, t.epoch_s, t.exposed_comm_s, t.sent_bytes_per_epoch,
       t.messages_per_epoch, t.volume_as_stated, t.measured_epochs, t.final_loss, t.score_metric, t.train_accuracy,
       t.validation_accuracy, t.test_accuracy, t.peak_memory_bytes, t.load_s, t.partition_s, t.build_s, t.setup_s,
       t.edge_cut, t.connectivity_minus_one, t.vertex_imbalance, t.nonzero_imbalance, t.vertices, t.edges,
       t.features, t.classes, t.synthetic, t.oversubscribed, t.aggregated_input, t.approximation, t.device, t.mpi,
       t.started, t.ended, t.wall_s, t.notes, t.log_tail, m.fingerprint AS machine, m.cpu, t.provenance
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN machine m ON m.id = t.machine_id;

CREATE VIEW latest AS
SELECT v.* FROM trials v JOIN trial t ON t.uuid = v.trial
WHERE t.purpose = 'measure'
  AND t.id = (SELECT n.id FROM trial n WHERE n.cell_id = t.cell_id AND n.purpose = 'measure'
              AND n.machine_id = t.machine_id ORDER BY n.started DESC, n.id DESC LIMIT 1);
