-- Where a trial's time went: mean seconds of each phase and rank over its measured epochs
-- argument: TRIAL: its UUID or a prefix of it
SELECT p.rank, p.phase, avg(p.seconds) AS mean_s, c.simulated_on
FROM rank_phase p JOIN epoch e USING (trial_id, epoch) JOIN trial t ON t.id = p.trial_id JOIN cell c ON c.id = t.cell_id
WHERE p.trial_id = (SELECT id FROM trial WHERE uuid >= ?1 AND uuid < ?1 || 'g') AND NOT e.warmup
GROUP BY p.rank, p.phase ORDER BY p.rank, mean_s DESC;
