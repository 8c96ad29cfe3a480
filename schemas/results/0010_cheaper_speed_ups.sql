-- The same speed_ups, found without comparing every cell with every other: a cell's base is looked up among serial's cells on one GPU, and
-- among those of its own scheme. What counts of a trial is in an index, because a trial's row is long.

CREATE INDEX trial_counted ON trial (cell_id, machine_id, number, experiment_id, status, started, epoch_s, oversubscribed)
WHERE purpose = 'measure';

DROP VIEW speed_ups;
CREATE VIEW speed_ups AS
WITH timed AS MATERIALIZED (
    SELECT k.experiment_id, k.machine_id, k.cell_id, k.trials, k.epoch_s, k.oversubscribed, c.scheme = 'serial' AND c.gpus = 1 AS over_serial,
           c.scheme_label, c.partitioner_label, c.gpus, c.threads_per_rank, c.epochs,
           c.dataset_digest || json_remove(c.identity, '$.scheme', '$.partitioner', '$.gpus', '$.threads_per_rank', '$.epochs', '$.warmup',
                                           '$.dataset.source') AS alike
    FROM cell_times k JOIN cell c ON c.id = k.cell_id),
serial AS MATERIALIZED (SELECT * FROM timed WHERE over_serial),
bases AS (
    SELECT t.cell_id, t.experiment_id, t.machine_id, t.trials, t.epoch_s, t.oversubscribed, t.gpus, t.partitioner_label, t.threads_per_rank,
           t.epochs, b.cell_id AS base_cell_id, b.epoch_s AS base_epoch_s, b.gpus AS base_gpus, b.over_serial,
           b.partitioner_label AS base_partitioner, b.threads_per_rank AS base_threads, b.epochs AS base_epochs
    FROM timed t JOIN serial b ON b.experiment_id = t.experiment_id AND b.machine_id = t.machine_id AND b.alike = t.alike
    UNION ALL
    SELECT t.cell_id, t.experiment_id, t.machine_id, t.trials, t.epoch_s, t.oversubscribed, t.gpus, t.partitioner_label, t.threads_per_rank,
           t.epochs, b.cell_id, b.epoch_s, b.gpus, b.over_serial, b.partitioner_label, b.threads_per_rank, b.epochs
    FROM timed t JOIN timed b ON b.experiment_id = t.experiment_id AND b.machine_id = t.machine_id AND b.alike = t.alike
     AND b.scheme_label = t.scheme_label AND b.gpus <= t.gpus
     AND (b.partitioner_label = t.partitioner_label OR b.partitioner_label = 'none')
    WHERE NOT EXISTS (SELECT 1 FROM serial s WHERE s.experiment_id = t.experiment_id AND s.machine_id = t.machine_id
                      AND s.alike = t.alike)),
ranked AS (
    SELECT *, row_number() OVER (PARTITION BY experiment_id, machine_id, cell_id
                                 ORDER BY over_serial DESC, base_gpus, base_partitioner = partitioner_label DESC,
                                          base_threads = threads_per_rank DESC, base_epochs = epochs DESC, base_cell_id = cell_id DESC,
                                          base_cell_id) AS place
    FROM bases)
SELECT experiment_id, machine_id, cell_id, trials, epoch_s, oversubscribed, base_cell_id, base_gpus, over_serial,
       base_epoch_s / epoch_s AS speed_up,
       base_epoch_s * base_gpus / (epoch_s * gpus) AS efficiency,
       (epoch_s / base_epoch_s - 1.0 * base_gpus / gpus) / nullif(1 - 1.0 * base_gpus / gpus, 0) AS serial_fraction
FROM ranked WHERE place = 1 AND epoch_s > 0;
