-- The fastest scheme for each experiment, dataset, number of GPUs and machine: the least median over its trials
SELECT experiment, dataset, gpus, scheme, partitioner, trials, min(epoch_s) AS epoch_s, sent_bytes_per_epoch, cpu
FROM (SELECT x.name AS experiment, c.dataset, c.gpus, c.scheme_label AS scheme, c.partitioner_label AS partitioner, k.trials, k.epoch_s,
             (SELECT max(t.sent_bytes_per_epoch) FROM trial t WHERE t.cell_id = k.cell_id AND t.machine_id = k.machine_id
               AND t.purpose = 'measure' AND t.status = 'ok') AS sent_bytes_per_epoch, m.cpu, k.machine_id
      FROM cell_times k JOIN experiment x ON x.id = k.experiment_id JOIN cell c ON c.id = k.cell_id JOIN machine m ON m.id = k.machine_id)
GROUP BY experiment, dataset, gpus, machine_id ORDER BY experiment, dataset, gpus;
