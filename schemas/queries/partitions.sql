-- Quality of the partitions, and their cost at set-up; empty: nothing is known of an expected graph's
SELECT k.dataset, k.partitioner, k.gpus, min(t.edge_cut) AS edge_cut, min(t.connectivity_minus_one) AS connectivity_minus_one,
       min(t.vertex_imbalance) AS vertex_imbalance, min(t.nonzero_imbalance) AS nonzero_imbalance, avg(t.partition_s) AS partition_s, m.cpu,
       max(t.synthetic GLOB 'expected graph*') AS expected
FROM compared_trials k JOIN trial t ON t.id = k.trial_id JOIN cell c ON c.id = t.cell_id JOIN machine m ON m.id = k.machine_id
WHERE k.gpus > 1
GROUP BY k.dataset, c.dataset_digest, k.partitioner, k.gpus, k.machine_id, t.synthetic GLOB 'expected graph*'
ORDER BY k.dataset, k.gpus, connectivity_minus_one;
