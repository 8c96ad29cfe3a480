-- After how many epochs a partitioner has paid for itself against a cheaper one; empty: never
WITH mean AS (SELECT c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner, c.gpus, c.hidden, t.machine_id,
                     avg(t.partition_s) AS partition_s, avg(t.epoch_s) AS epoch_s
              FROM trial t JOIN cell c ON c.id = t.cell_id
              WHERE t.purpose = 'measure' AND t.status = 'ok' AND t.epoch_s IS NOT NULL AND c.gpus > 1
              GROUP BY c.dataset, c.scheme_label, c.partitioner_label, c.gpus, c.hidden, t.machine_id)
SELECT m.dataset, m.scheme, m.gpus, m.hidden, m.partitioner, o.partitioner AS against, m.partition_s, m.epoch_s,
       o.partition_s AS against_partition_s, o.epoch_s AS against_epoch_s,
       CASE WHEN m.epoch_s < o.epoch_s THEN (m.partition_s - o.partition_s) / (o.epoch_s - m.epoch_s) END AS epochs
FROM mean m JOIN mean o USING (dataset, scheme, gpus, hidden, machine_id)
WHERE m.partition_s > o.partition_s
ORDER BY m.dataset, m.scheme, m.gpus, epochs;
