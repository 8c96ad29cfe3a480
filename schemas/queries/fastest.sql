-- The fastest scheme for each experiment, dataset, model, number of GPUs and machine: the least median over its trials
SELECT experiment, dataset, model, hidden, precision, gpus, scheme, partitioner, kernel, trials, min(epoch_s) AS epoch_s, sent_bytes_per_epoch,
       simulated_on, cpu
FROM (SELECT k.experiment_id, k.experiment, k.dataset, k.model, k.hidden, k.precision, k.gpus, k.scheme, k.partitioner, k.kernel, k.machine_id,
             count(*) AS trials, median(k.epoch_s) AS epoch_s, median(t.sent_bytes_per_epoch) AS sent_bytes_per_epoch, k.simulated_on, k.cpu
      FROM compared_trials k JOIN trial t ON t.id = k.trial_id WHERE k.epoch_s IS NOT NULL
      GROUP BY k.experiment_id, k.cell_id, k.machine_id)
GROUP BY experiment_id, dataset, model, hidden, precision, gpus, machine_id, simulated_on
ORDER BY experiment, dataset, model, hidden, gpus, simulated_on;
