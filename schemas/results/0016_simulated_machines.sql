-- Cells whose ranks are simulated: on which machine. Their numbers are predictions of a model, not measurements.
ALTER TABLE cell ADD COLUMN simulated_on TEXT
    AS (iif(json_valid(identity) AND kernel = 'simulated', json_extract(identity, '$.kernel.params.machine'), NULL)) VIRTUAL;

DROP VIEW cells;
CREATE VIEW cells AS
SELECT digest AS cell, dataset, scheme_label AS scheme, partitioner_label AS partitioner, kernel, simulated_on, gpus,
       threads_per_rank, precision, hidden, layers, optimizer, learning_rate, dropout, seed, epochs, warmup,
       slowdown,
       (SELECT count(*) FROM trial WHERE cell_id = cell.id AND purpose = 'measure' AND status = 'ok') AS ok_trials,
       (SELECT v.status FROM verification v WHERE v.key = cell.verification_key
         ORDER BY v.trial_id DESC LIMIT 1) AS verification,
       dataset_digest, identity
FROM cell;

DROP VIEW latest;
DROP VIEW trials;
CREATE VIEW trials AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme,
       c.partitioner_label AS partitioner, c.kernel, c.simulated_on, c.gpus, c.threads_per_rank, c.hidden, c.seed,
       c.slowdown, t.number,
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
