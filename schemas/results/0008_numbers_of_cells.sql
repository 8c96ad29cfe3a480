-- What an experiment's tables, comparisons and queries show of a cell: defined once, here.

-- The trial that counts as number n of a cell of an experiment on a machine: the newest conclusive one that this experiment measured;
-- where it measured none, the newest that another one did; where none is conclusive, the newest. `borrowed`: another experiment's.
CREATE VIEW counted_trials AS
SELECT experiment_id, cell_id, machine_id, number, trial_id, borrowed, status, epoch_s, oversubscribed
FROM (SELECT x.experiment_id, t.cell_id, t.machine_id, t.number, t.id AS trial_id, t.experiment_id <> x.experiment_id AS borrowed,
             t.status, t.epoch_s, t.oversubscribed,
             row_number() OVER (PARTITION BY x.experiment_id, t.cell_id, t.machine_id, t.number
                                ORDER BY t.status IN ('running', 'interrupted', 'skipped'), t.experiment_id <> x.experiment_id,
                                         t.started DESC, t.id DESC) AS place
      FROM experiment_cell x JOIN trial t ON t.cell_id = x.cell_id AND t.purpose = 'measure')
WHERE place = 1;

-- A cell's time: the median over its counted ok trials.
CREATE VIEW cell_times AS
SELECT experiment_id, cell_id, machine_id, trials, avg(epoch_s) AS epoch_s, max(oversubscribed) AS oversubscribed
FROM (SELECT experiment_id, cell_id, machine_id, epoch_s, max(oversubscribed) OVER cell AS oversubscribed,
             count(*) OVER cell AS trials, row_number() OVER (cell ORDER BY epoch_s) AS place
      FROM counted_trials
      WHERE status = 'ok' AND epoch_s IS NOT NULL
      WINDOW cell AS (PARTITION BY experiment_id, cell_id, machine_id))
WHERE place IN ((trials + 1) / 2, trials / 2 + 1)
GROUP BY experiment_id, cell_id, machine_id, trials;

-- Speed-up of a cell: the time of its base over its own. The base is a cell of the same experiment and machine that is equal in data, model,
-- training, kernel, precision and seed: `serial` on one GPU where that was measured, else the same scheme on its fewest GPUs. That has the
-- same partitioner, or none: a graph in one part has no partition, so that cell begins the line of every partitioner. Of several, one with the
-- same partitioner, threads and epochs is taken.
CREATE VIEW speed_ups AS
WITH timed AS MATERIALIZED (
    SELECT k.experiment_id, k.machine_id, k.cell_id, k.trials, k.epoch_s, k.oversubscribed, c.scheme, c.scheme_label, c.partitioner_label,
           c.gpus, c.threads_per_rank, c.epochs,
           c.dataset_digest,
           json_remove(c.identity, '$.scheme', '$.partitioner', '$.gpus', '$.threads_per_rank', '$.epochs', '$.warmup',
                       '$.dataset.source') AS rest
    FROM cell_times k JOIN cell c ON c.id = k.cell_id),
ranked AS (
    SELECT t.experiment_id, t.machine_id, t.cell_id, t.trials, t.epoch_s, t.oversubscribed, t.gpus, b.cell_id AS base_cell_id,
           b.epoch_s AS base_epoch_s, b.gpus AS base_gpus, b.scheme = 'serial' AND b.gpus = 1 AS over_serial,
           row_number() OVER (PARTITION BY t.experiment_id, t.machine_id, t.cell_id
                              ORDER BY b.scheme = 'serial' AND b.gpus = 1 DESC, b.gpus,
                                       b.partitioner_label = t.partitioner_label DESC,
                                       b.threads_per_rank = t.threads_per_rank DESC, b.epochs = t.epochs DESC,
                                       b.cell_id = t.cell_id DESC, b.cell_id) AS place
    FROM timed t JOIN timed b ON b.experiment_id = t.experiment_id AND b.machine_id = t.machine_id AND b.rest = t.rest
     AND b.dataset_digest = t.dataset_digest
     AND (b.scheme = 'serial' AND b.gpus = 1
          OR b.scheme_label = t.scheme_label AND b.gpus <= t.gpus
             AND (b.partitioner_label = t.partitioner_label OR b.partitioner_label = 'none')))
SELECT experiment_id, machine_id, cell_id, trials, epoch_s, oversubscribed, base_cell_id, base_gpus, over_serial,
       base_epoch_s / epoch_s AS speed_up,
       base_epoch_s * base_gpus / (epoch_s * gpus) AS efficiency,
       (epoch_s / base_epoch_s - 1.0 * base_gpus / gpus) / nullif(1 - 1.0 * base_gpus / gpus, 0) AS serial_fraction
FROM ranked WHERE place = 1 AND epoch_s > 0;
