-- What the measured epochs took, in joules: of the packages and DRAM of the hosts, and of the devices, whole ones. A counter knows no
-- ranks and no phases. NULL has its reason beside it.
ALTER TABLE trial ADD COLUMN energy_j REAL;      -- hosts and devices together; NULL where one of them is not known
ALTER TABLE trial ADD COLUMN host_energy_j REAL;
ALTER TABLE trial ADD COLUMN device_energy_j REAL;
ALTER TABLE trial ADD COLUMN host_energy_reason TEXT NOT NULL DEFAULT 'not recorded';
ALTER TABLE trial ADD COLUMN device_energy_reason TEXT NOT NULL DEFAULT 'not recorded';
-- Of this epoch, warm-up too; NULL where it is too short for the counter, or follows another without a pause.
ALTER TABLE epoch ADD COLUMN host_energy_j REAL;
ALTER TABLE epoch ADD COLUMN device_energy_j REAL;

DROP VIEW latest;
DROP VIEW trials;

CREATE VIEW trials AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme,
       c.partitioner_label AS partitioner, c.kernel, c.simulated_on, c.gpus, c.threads_per_rank, c.hidden, c.seed,
       c.slowdown, t.number,
       t.block, t.purpose, t.status, t.reason, t.epoch_s, t.exposed_comm_s, t.sent_bytes_per_epoch,
       t.messages_per_epoch, t.volume_as_stated, t.measured_epochs, t.final_loss, t.score_metric, t.train_accuracy,
       t.validation_accuracy, t.test_accuracy, t.peak_memory_bytes, t.energy_j, t.host_energy_j, t.host_energy_reason,
       t.device_energy_j, t.device_energy_reason, t.load_s, t.partition_s, t.build_s, t.setup_s,
       t.edge_cut, t.connectivity_minus_one, t.vertex_imbalance, t.nonzero_imbalance, t.vertices, t.edges,
       t.features, t.classes, t.synthetic, t.oversubscribed, t.aggregated_input, t.approximation, t.device, t.mpi,
       t.started, t.ended, t.wall_s, t.notes, t.log_tail, m.fingerprint AS machine, m.cpu, t.provenance
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN machine m ON m.id = t.machine_id;

-- The newest measured trial of each cell on each machine: the one recorded last, by its row, and not by `started`, since a clock can be
-- set back. What was measured into this database comes before what was imported, which is recorded late whenever it was measured.
CREATE VIEW latest AS
SELECT v.* FROM trials v JOIN trial t ON t.uuid = v.trial
WHERE t.purpose = 'measure'
  AND t.id = coalesce((SELECT n.id FROM trial n WHERE n.cell_id = t.cell_id AND n.purpose = 'measure' AND n.machine_id = t.machine_id
                        AND n.id NOT IN (SELECT trial_id FROM imported_trial) ORDER BY n.id DESC LIMIT 1),
                      (SELECT n.id FROM trial n WHERE n.cell_id = t.cell_id AND n.purpose = 'measure' AND n.machine_id = t.machine_id
                       ORDER BY n.id DESC LIMIT 1));

-- One row for each epoch, all ranks together.
CREATE VIEW energy AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, e.epoch, e.warmup, e.wall_s, e.host_energy_j, e.device_energy_j,
       CASE WHEN e.host_energy_j IS NOT NULL THEN '' WHEN t.host_energy_reason <> '' THEN t.host_energy_reason
            ELSE 'too short, or without a pause before or after it' END AS host_energy_reason,
       CASE WHEN e.device_energy_j IS NOT NULL THEN '' WHEN t.device_energy_reason <> '' THEN t.device_energy_reason
            ELSE 'too short, or without a pause before or after it' END AS device_energy_reason,
       t.purpose
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN epoch e ON e.trial_id = t.id;
