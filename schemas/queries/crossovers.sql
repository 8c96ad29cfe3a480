-- Between which numbers of GPUs one scheme overtakes another: faster up to the first, slower from the second on
WITH mean AS (SELECT c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner, c.hidden, c.gpus, t.machine_id,
                     avg(t.epoch_s) AS epoch_s
              FROM trial t JOIN cell c ON c.id = t.cell_id
              WHERE t.purpose = 'measure' AND t.status = 'ok' AND t.epoch_s IS NOT NULL
              GROUP BY 1, 2, 3, 4, 5, 6),
     -- One GPU has no partition: it begins the line of every partitioner.
     line AS (SELECT * FROM mean WHERE gpus > 1
              UNION ALL
              SELECT o.dataset, o.scheme, p.partitioner, o.hidden, 1, o.machine_id, avg(o.epoch_s)
              FROM mean o JOIN (SELECT DISTINCT dataset, partitioner FROM mean WHERE gpus > 1) p USING (dataset)
              WHERE o.gpus = 1 GROUP BY 1, 2, 3, 4, 6),
     both AS (SELECT a.dataset, a.partitioner, a.hidden, a.gpus, a.machine_id, a.scheme, b.scheme AS overtaken_by,
                     a.epoch_s < b.epoch_s AS ahead
              FROM line a JOIN line b USING (dataset, partitioner, hidden, gpus, machine_id) WHERE a.scheme <> b.scheme),
     steps AS (SELECT *, lead(gpus) OVER by_gpus AS next_gpus, lead(ahead) OVER by_gpus AS next_ahead FROM both
               WINDOW by_gpus AS (PARTITION BY dataset, hidden, machine_id, scheme, overtaken_by, partitioner ORDER BY gpus))
SELECT dataset, hidden, partitioner, scheme, overtaken_by, gpus AS ahead_up_to_gpus, next_gpus AS behind_from_gpus
FROM steps WHERE ahead AND next_ahead = 0
ORDER BY dataset, hidden, partitioner, gpus;
