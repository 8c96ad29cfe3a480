-- What a verification looked at: an object with `checks` {name: {calls, elements, worst_ratio, worst}}, `faults`, `rounding`,
-- `same_bits`, `float64_error`, `float64_kernel`, `seconds`. Empty where an older build verified, or a program did.

ALTER TABLE verification ADD COLUMN checks TEXT NOT NULL DEFAULT '{}';

DROP VIEW verifications;
CREATE VIEW verifications AS
SELECT t.uuid AS trial, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, c.kernel, c.precision, v.status, v.reason, v.loss_error, v.gradient_error, v.volume_equal,
       v.sampled_vertices, v.detail, t.started, v.key, v.checks
FROM verification v
JOIN trial t ON t.id = v.trial_id
JOIN cell c ON c.id = t.cell_id;
