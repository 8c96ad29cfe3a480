-- Measured cells that no verification has confirmed; none of simulated ones, whose numbers there is nothing to verify in
SELECT s.dataset, s.scheme, s.partitioner, s.gpus, s.kernel, coalesce(s.verification, 'not tried') AS status,
       (SELECT v.reason FROM main.verification v JOIN main.trial t ON t.id = v.trial_id
        WHERE v.key = c.verification_key AND v.status = s.verification AND (t.purpose = 'verify' OR v.status = 'failed')
        ORDER BY v.trial_id IN (SELECT trial_id FROM main.imported_trial), v.trial_id DESC LIMIT 1) AS reason
FROM cells s JOIN cell c ON c.digest = s.cell
WHERE coalesce(s.verification, '') <> 'verified' AND s.simulated_on IS NULL AND s.ok_trials > 0
ORDER BY s.dataset, s.scheme, s.gpus;
