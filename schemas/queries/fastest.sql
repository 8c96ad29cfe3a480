-- The fastest scheme for each dataset, number of GPUs and machine: the least mean over its trials
SELECT dataset, gpus, scheme, partitioner, trials, min(mean_epoch_s) AS mean_epoch_s, sent_bytes_per_epoch, cpu
FROM (SELECT c.dataset, c.gpus, c.scheme_label AS scheme, c.partitioner_label AS partitioner, count(*) AS trials,
             avg(t.epoch_s) AS mean_epoch_s, max(t.sent_bytes_per_epoch) AS sent_bytes_per_epoch, m.cpu, t.machine_id
      FROM trial t JOIN cell c ON c.id = t.cell_id JOIN machine m ON m.id = t.machine_id
      WHERE t.purpose = 'measure' AND t.status = 'ok' AND t.epoch_s IS NOT NULL
      GROUP BY c.id, t.machine_id)
GROUP BY dataset, gpus, machine_id ORDER BY dataset, gpus;
