-- Epochs of independent workers overlap: several may end together, so a trial's time is their mean, not their median.
UPDATE trial SET epoch_s = (SELECT avg(wall_s) FROM epoch WHERE trial_id = trial.id AND NOT warmup)
WHERE id IN (SELECT trial_id FROM worker_epoch);
