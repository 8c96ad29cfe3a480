-- After how many measured epochs a partitioner has paid for itself against a cheaper one; empty: never
WITH cell_time AS (SELECT k.experiment, k.dataset, k.model, k.hidden, k.precision, k.kernel, k.scheme, k.partitioner, k.gpus, k.machine_id, k.cpu,
                          median(t.partition_s) AS partition_s, median(k.epoch_s) AS epoch_s
                   FROM compared_trials k JOIN trial t ON t.id = k.trial_id
                   WHERE k.epoch_s IS NOT NULL AND k.gpus > 1 AND k.simulated_on IS NULL  -- partitioning takes this machine's time
                   GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
SELECT m.experiment, m.dataset, m.model, m.hidden, m.scheme, m.gpus, m.partitioner, o.partitioner AS against, m.partition_s, m.epoch_s,
       o.partition_s AS against_partition_s, o.epoch_s AS against_epoch_s,
       CASE WHEN m.epoch_s < o.epoch_s THEN (m.partition_s - o.partition_s) / (o.epoch_s - m.epoch_s) END AS epochs, m.cpu
FROM cell_time m JOIN cell_time o USING (experiment, dataset, model, hidden, precision, kernel, scheme, gpus, machine_id)
WHERE m.partition_s > o.partition_s
ORDER BY m.experiment, m.dataset, m.scheme, m.gpus, epochs;
