-- Bytes, messages and exposed communication of each experiment's cells, as means over the trials that count
SELECT k.experiment, k.dataset, k.model, k.hidden, k.scheme, k.partitioner, k.gpus, substr(k.cell, 1, 8) AS cell, count(*) AS trials,
       avg(t.sent_bytes_per_epoch) AS sent_bytes_per_epoch, avg(t.messages_per_epoch) AS messages_per_epoch,
       avg(t.exposed_comm_s) AS exposed_comm_s, avg(t.exposed_comm_s / t.epoch_s) AS exposed_share,
       min(t.volume_as_stated) AS volume_as_stated, k.simulated_on, k.cpu
FROM compared_trials k JOIN trial t ON t.id = k.trial_id
WHERE k.gpus > 1
GROUP BY k.experiment_id, k.cell_id, k.machine_id ORDER BY k.experiment, k.dataset, k.gpus, sent_bytes_per_epoch;
