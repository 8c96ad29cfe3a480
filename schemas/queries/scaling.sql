-- Speed-up (as in tables: over serial on one GPU, else the scheme's fewest), efficiency and Karp and Flatt's serial fraction
SELECT x.name AS experiment, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner, c.model, c.hidden, c.gpus, s.trials, s.epoch_s,
       b.scheme_label AS against, s.base_gpus AS against_gpus, s.speed_up, s.efficiency, s.serial_fraction, s.oversubscribed,
       c.simulated_on, iif(c.simulated_on IS NULL, m.cpu, NULL) AS cpu
FROM speed_ups s JOIN experiment x ON x.id = s.experiment_id JOIN cell c ON c.id = s.cell_id JOIN cell b ON b.id = s.base_cell_id
     JOIN machine m ON m.id = s.machine_id
WHERE c.simulated_on IS NULL OR x.name NOT GLOB '*-tune'
ORDER BY experiment, c.dataset, scheme, c.model, c.hidden, partitioner, c.gpus;
