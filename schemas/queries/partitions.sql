-- Quality of the partitions, and their cost at set-up
SELECT c.dataset, c.partitioner_label AS partitioner, c.gpus, min(t.edge_cut) AS edge_cut,
       min(t.connectivity_minus_one) AS connectivity_minus_one, min(t.vertex_imbalance) AS vertex_imbalance,
       min(t.nonzero_imbalance) AS nonzero_imbalance, avg(t.partition_s) AS partition_s
FROM trial t JOIN cell c ON c.id = t.cell_id
WHERE t.purpose = 'measure' AND t.status = 'ok' AND c.gpus > 1
GROUP BY c.dataset, c.partitioner_label, c.gpus ORDER BY c.dataset, c.gpus, connectivity_minus_one;
