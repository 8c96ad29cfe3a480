-- What set-up cost each rank, by part: reading its vertices' data, cutting its blocks of the graph, receiving the
-- partition, preparing matrices for its kernel. NULL where an older build measured.

ALTER TABLE trial_rank ADD COLUMN read_s REAL;
ALTER TABLE trial_rank ADD COLUMN read_bytes INTEGER;
ALTER TABLE trial_rank ADD COLUMN cut_s REAL;
ALTER TABLE trial_rank ADD COLUMN cut_bytes INTEGER;
ALTER TABLE trial_rank ADD COLUMN exchange_s REAL;
ALTER TABLE trial_rank ADD COLUMN exchange_bytes INTEGER;
ALTER TABLE trial_rank ADD COLUMN prepare_s REAL;
ALTER TABLE trial_rank ADD COLUMN prepare_bytes INTEGER;
-- The most host memory in use at once until set-up ended, pages of mapped files included.
ALTER TABLE trial_rank ADD COLUMN host_peak_bytes INTEGER;

CREATE VIEW setups AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme,
       c.partitioner_label AS partitioner, c.gpus, c.threads_per_rank, t.purpose, r.rank, t.load_s, t.partition_s,
       r.read_s, r.read_bytes, r.cut_s, r.cut_bytes, r.exchange_s, r.exchange_bytes, r.prepare_s, r.prepare_bytes,
       t.setup_s, r.host_peak_bytes, r.memory_bytes, r.stated_memory_bytes
FROM trial_rank r
JOIN trial t ON t.id = r.trial_id
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id;
