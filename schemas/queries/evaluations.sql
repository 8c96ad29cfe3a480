-- Of each trial of an experiment: the evaluation with the best validation score, the last of equals
-- argument: EXPERIMENT: its name
SELECT k.dataset, k.model, k.scheme, k.partitioner, k.gpus, c.seed, e.epoch, e.metric, e.train, e.validation, e.test, k.simulated_on
FROM compared_trials k JOIN cell c ON c.id = k.cell_id
     JOIN evaluation e ON e.trial_id = k.trial_id
                      AND e.epoch = (SELECT b.epoch FROM evaluation b WHERE b.trial_id = k.trial_id
                                     ORDER BY b.validation DESC, b.epoch DESC LIMIT 1)
WHERE k.experiment = ?1 ORDER BY k.dataset, k.model, k.scheme, k.partitioner, k.gpus, c.seed;
