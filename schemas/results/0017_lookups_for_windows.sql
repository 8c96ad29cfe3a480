-- The same views without windows where a lookup does: which trial counts is asked of the others with its number, and a cell's base is the
-- first of those that fit. SQLite spends some 18,000 instructions a row on a window, a tenth of that on a lookup; the index has all that is
-- looked up, so that the trials' long rows stay unread.

DROP INDEX trial_counted;
CREATE INDEX trial_counted ON trial (cell_id, machine_id, number, experiment_id, status, started, epoch_s, oversubscribed, purpose)
WHERE purpose = 'measure';

DROP VIEW counted_trials;
CREATE VIEW counted_trials AS
SELECT x.experiment_id, t.cell_id, t.machine_id, t.number, t.id AS trial_id, t.experiment_id <> x.experiment_id AS borrowed,
       t.status, t.epoch_s, t.oversubscribed
FROM experiment_cell x JOIN trial t ON t.cell_id = x.cell_id AND t.purpose = 'measure'
WHERE NOT EXISTS (
    SELECT 1 FROM trial n
    WHERE n.purpose = 'measure' AND n.cell_id = t.cell_id AND n.machine_id = t.machine_id AND n.number = t.number
      AND (n.status NOT IN ('running', 'interrupted', 'skipped'), n.experiment_id = x.experiment_id, n.started, n.id)
          > (t.status NOT IN ('running', 'interrupted', 'skipped'), t.experiment_id = x.experiment_id, t.started, t.id));

DROP VIEW cell_times;
CREATE VIEW cell_times AS
WITH placed AS MATERIALIZED (
    SELECT experiment_id, cell_id, machine_id, epoch_s, oversubscribed,
           row_number() OVER (ORDER BY experiment_id, cell_id, machine_id, epoch_s) AS place
    FROM counted_trials WHERE status = 'ok' AND epoch_s IS NOT NULL),
cells AS MATERIALIZED (
    SELECT experiment_id, cell_id, machine_id, count(*) AS trials, min(place) AS first, max(oversubscribed) AS oversubscribed
    FROM placed GROUP BY experiment_id, cell_id, machine_id)
SELECT c.experiment_id, c.cell_id, c.machine_id, c.trials, (low.epoch_s + high.epoch_s) / 2 AS epoch_s, c.oversubscribed
FROM cells c JOIN placed low ON low.place = c.first + (c.trials - 1) / 2 JOIN placed high ON high.place = c.first + c.trials / 2;

DROP VIEW speed_ups;
CREATE VIEW speed_ups AS
WITH timed AS MATERIALIZED (
    SELECT k.experiment_id, k.machine_id, k.cell_id, k.trials, k.epoch_s, k.oversubscribed, c.scheme = 'serial' AND c.gpus = 1 AS over_serial,
           c.scheme_label, c.partitioner_label, c.gpus, c.threads_per_rank, c.epochs,
           c.dataset_digest || json_remove(c.identity, '$.scheme', '$.partitioner', '$.gpus', '$.threads_per_rank', '$.epochs', '$.warmup',
                                           '$.dataset.source') AS alike
    FROM cell_times k JOIN cell c ON c.id = k.cell_id),
serial AS MATERIALIZED (SELECT * FROM timed WHERE over_serial),
based AS MATERIALIZED (
    SELECT t.experiment_id, t.machine_id, t.cell_id, t.trials, t.epoch_s, t.oversubscribed, t.gpus, coalesce(
        (SELECT cell_id FROM (
            SELECT b.cell_id, b.partitioner_label = t.partitioner_label AS same_partitioner, b.threads_per_rank = t.threads_per_rank AS same_threads,
                   b.epochs = t.epochs AS same_epochs, b.cell_id = t.cell_id AS same_cell
            FROM serial b WHERE b.experiment_id = t.experiment_id AND b.machine_id = t.machine_id AND b.alike = t.alike)
         ORDER BY same_partitioner DESC, same_threads DESC, same_epochs DESC, same_cell DESC, cell_id LIMIT 1),
        (SELECT cell_id FROM (
            SELECT b.cell_id, b.gpus, b.partitioner_label = t.partitioner_label AS same_partitioner,
                   b.threads_per_rank = t.threads_per_rank AS same_threads, b.epochs = t.epochs AS same_epochs, b.cell_id = t.cell_id AS same_cell
            FROM timed b WHERE b.experiment_id = t.experiment_id AND b.machine_id = t.machine_id AND b.alike = t.alike
             AND b.scheme_label = t.scheme_label AND b.gpus <= t.gpus
             AND (b.partitioner_label = t.partitioner_label OR b.partitioner_label = 'none'))
         ORDER BY gpus, same_partitioner DESC, same_threads DESC, same_epochs DESC, same_cell DESC, cell_id LIMIT 1)) AS base_cell_id
    FROM timed t)
SELECT t.experiment_id, t.machine_id, t.cell_id, t.trials, t.epoch_s, t.oversubscribed, t.base_cell_id, b.gpus AS base_gpus, b.over_serial,
       b.epoch_s / t.epoch_s AS speed_up,
       b.epoch_s * b.gpus / (t.epoch_s * t.gpus) AS efficiency,
       (t.epoch_s / b.epoch_s - 1.0 * b.gpus / t.gpus) / nullif(1 - 1.0 * b.gpus / t.gpus, 0) AS serial_fraction
FROM based t CROSS JOIN timed b ON b.cell_id = t.base_cell_id AND b.experiment_id = t.experiment_id AND b.machine_id = t.machine_id
WHERE t.epoch_s > 0;
