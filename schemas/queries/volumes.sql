-- Bytes that a trial's ranks moved in its last epoch, beside those that its scheme states
-- argument: TRIAL: its UUID or a prefix of it
SELECT v.rank, v.operation, v.content, v.sent_bytes, s.sent_bytes AS stated_sent_bytes, v.received_bytes,
       s.received_bytes AS stated_received_bytes, v.messages, s.messages AS stated_messages, c.simulated_on
FROM rank_volume v LEFT JOIN stated_volume s USING (trial_id, rank, operation, content)
     JOIN trial t ON t.id = v.trial_id JOIN cell c ON c.id = t.cell_id
WHERE v.trial_id = (SELECT id FROM trial WHERE uuid >= ?1 AND uuid < ?1 || 'g')
  AND v.epoch = (SELECT max(epoch) FROM epoch WHERE trial_id = v.trial_id)
ORDER BY v.rank, v.operation, v.content;
