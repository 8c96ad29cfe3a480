-- Speed-up, efficiency and Karp and Flatt's serial fraction of each scheme, against its fewest GPUs
WITH mean AS (SELECT c.dataset, c.scheme_label AS scheme, c.partitioner, c.hidden, c.gpus, t.machine_id, avg(t.epoch_s) AS epoch_s,
                     max(t.oversubscribed) AS oversubscribed
              FROM trial t JOIN cell c ON c.id = t.cell_id
              WHERE t.purpose = 'measure' AND t.status = 'ok' AND t.epoch_s IS NOT NULL
              GROUP BY c.dataset, c.scheme_label, CASE WHEN c.gpus > 1 THEN c.partitioner ELSE '' END, c.hidden, c.gpus, t.machine_id),
     least AS (SELECT dataset, scheme, hidden, machine_id, min(gpus) AS gpus, epoch_s FROM mean
               GROUP BY dataset, scheme, hidden, machine_id)
SELECT m.dataset, m.scheme, m.partitioner, m.hidden, m.gpus, m.epoch_s, l.gpus AS against_gpus,
       l.epoch_s / m.epoch_s AS speed_up, l.epoch_s * l.gpus / (m.epoch_s * m.gpus) AS efficiency,
       (m.epoch_s / l.epoch_s - 1.0 * l.gpus / m.gpus) / nullif(1 - 1.0 * l.gpus / m.gpus, 0) AS serial_fraction, m.oversubscribed
FROM mean m JOIN least l USING (dataset, scheme, hidden, machine_id)
ORDER BY m.dataset, m.scheme, m.hidden, m.partitioner, m.gpus;
