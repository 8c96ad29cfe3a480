-- Speed-up (as in tables: over serial on one GPU, else the scheme's fewest), efficiency and Karp and Flatt's serial fraction
SELECT x.name AS experiment, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner, c.hidden, c.gpus, s.trials, s.epoch_s,
       b.scheme_label AS against, s.base_gpus AS against_gpus, s.speed_up, s.efficiency, s.serial_fraction, s.oversubscribed
FROM speed_ups s JOIN experiment x ON x.id = s.experiment_id JOIN cell c ON c.id = s.cell_id JOIN cell b ON b.id = s.base_cell_id
ORDER BY experiment, c.dataset, scheme, c.hidden, partitioner, c.gpus;
