-- Between which numbers of GPUs one scheme overtakes another: faster up to the first, slower from the second on
WITH cell_time AS (SELECT experiment, dataset, model, hidden, precision, kernel, coalesce(simulated_on, '') AS simulated, machine_id, scheme,
                          partitioner, gpus, median(epoch_s) AS epoch_s
                   FROM compared_trials WHERE epoch_s IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
     -- One GPU has no partition: it begins the line of every partitioner.
     line AS (SELECT * FROM cell_time WHERE gpus > 1
              UNION ALL
              SELECT o.experiment, o.dataset, o.model, o.hidden, o.precision, o.kernel, o.simulated, o.machine_id, o.scheme, p.partitioner, 1,
                     median(o.epoch_s)
              FROM cell_time o JOIN (SELECT DISTINCT experiment, dataset, partitioner FROM cell_time WHERE gpus > 1) p USING (experiment, dataset)
              WHERE o.gpus = 1 GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
     both AS (SELECT a.experiment, a.dataset, a.model, a.hidden, a.precision, a.kernel, a.simulated, a.machine_id, a.partitioner, a.gpus, a.scheme,
                     b.scheme AS overtaken_by, a.epoch_s < b.epoch_s AS ahead
              FROM line a JOIN line b USING (experiment, dataset, model, hidden, precision, kernel, simulated, machine_id, partitioner, gpus)
              WHERE a.scheme <> b.scheme),
     steps AS (SELECT *, lead(gpus) OVER by_gpus AS next_gpus, lead(ahead) OVER by_gpus AS next_ahead FROM both
               WINDOW by_gpus AS (PARTITION BY experiment, dataset, model, hidden, precision, kernel, simulated, machine_id, scheme, overtaken_by,
                                               partitioner ORDER BY gpus))
SELECT experiment, dataset, model, hidden, partitioner, scheme, overtaken_by, gpus AS ahead_up_to_gpus, next_gpus AS behind_from_gpus, kernel,
       nullif(simulated, '') AS simulated_on, iif(simulated = '', m.cpu, NULL) AS cpu
FROM steps JOIN machine m ON m.id = machine_id WHERE ahead AND next_ahead = 0
ORDER BY experiment, dataset, model, hidden, partitioner, gpus;
