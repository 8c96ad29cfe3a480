-- Measured cells that no verification has confirmed
SELECT c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner, c.gpus, c.kernel, coalesce(v.status, 'not tried') AS status,
       v.reason
FROM cell c LEFT JOIN (SELECT key, status, reason, max(trial_id) FROM verification GROUP BY key) v
     ON v.key = c.verification_key
WHERE coalesce(v.status, '') <> 'verified'
  AND EXISTS (SELECT 1 FROM trial t WHERE t.cell_id = c.id AND t.purpose = 'measure' AND t.status = 'ok')
ORDER BY c.dataset, c.scheme_label, c.gpus;
