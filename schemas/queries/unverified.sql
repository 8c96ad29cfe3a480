-- Measured cells that no verification has confirmed; none of simulated ones, whose numbers there is nothing to verify in
SELECT c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner, c.gpus, c.kernel, coalesce(v.status, 'not tried') AS status,
       v.reason
FROM cell c LEFT JOIN verification v
     ON v.trial_id = (SELECT n.trial_id FROM verification n WHERE n.key = c.verification_key
                      ORDER BY n.trial_id IN (SELECT trial_id FROM imported_trial), n.trial_id DESC LIMIT 1)
WHERE coalesce(v.status, '') <> 'verified' AND c.simulated_on IS NULL
  AND EXISTS (SELECT 1 FROM trial t WHERE t.cell_id = c.id AND t.purpose = 'measure' AND t.status = 'ok')
ORDER BY c.dataset, c.scheme_label, c.gpus;
