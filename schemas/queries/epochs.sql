-- A trial's epochs: loss, time until the last rank ended it, all ranks' bytes
-- argument: TRIAL: its UUID or a prefix of it
SELECT e.epoch, e.warmup, e.loss, e.wall_s,
       (SELECT sum(v.sent_bytes) FROM rank_volume v WHERE v.trial_id = e.trial_id AND v.epoch = e.epoch AND v.content = 'payload')
       AS sent_bytes, c.simulated_on
FROM epoch e JOIN trial t ON t.id = e.trial_id JOIN cell c ON c.id = t.cell_id
WHERE e.trial_id = (SELECT id FROM trial WHERE uuid >= ?1 AND uuid < ?1 || 'g') ORDER BY e.epoch;
