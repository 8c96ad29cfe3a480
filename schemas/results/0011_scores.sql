-- What train, validation and test are of: accuracy where a vertex has one label, micro-F1 where it may have several. Rows
-- from before are of accuracy.

ALTER TABLE evaluation ADD COLUMN metric TEXT NOT NULL DEFAULT 'accuracy' CHECK (metric IN ('accuracy', 'micro-F1'));

-- What train_accuracy, validation_accuracy and test_accuracy are of; NULL: nothing was evaluated.
ALTER TABLE trial ADD COLUMN score_metric TEXT CHECK (score_metric IN ('accuracy', 'micro-F1'));
UPDATE trial SET score_metric = 'accuracy' WHERE EXISTS (SELECT 1 FROM evaluation e WHERE e.trial_id = trial.id);

DROP VIEW evaluations;
CREATE VIEW evaluations AS
SELECT t.uuid AS trial, c.digest AS cell, e.epoch, e.metric, e.train, e.validation, e.test, e.wall_s
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN evaluation e ON e.trial_id = t.id;

DROP VIEW latest;
DROP VIEW trials;
CREATE VIEW trials AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme,
       c.partitioner_label AS partitioner, c.kernel, c.gpus, c.threads_per_rank, c.hidden, c.seed, t.number,
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
