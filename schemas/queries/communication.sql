-- Bytes, messages and exposed communication of each cell, as means over its trials
SELECT c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner, c.gpus, count(*) AS trials,
       avg(t.sent_bytes_per_epoch) AS sent_bytes_per_epoch, avg(t.messages_per_epoch) AS messages_per_epoch,
       avg(t.exposed_comm_s) AS exposed_comm_s, avg(t.exposed_comm_s / t.epoch_s) AS exposed_share,
       min(t.volume_as_stated) AS volume_as_stated
FROM trial t JOIN cell c ON c.id = t.cell_id
WHERE t.purpose = 'measure' AND t.status = 'ok' AND c.gpus > 1
GROUP BY c.id ORDER BY c.dataset, c.gpus, sent_bytes_per_epoch;
