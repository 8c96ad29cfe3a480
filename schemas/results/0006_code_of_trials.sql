-- Which code measured or verified: a verification serves the build it was made with, and no later one.

-- The key under which the trial's code is verified (see CellRecord::verification_key); the cell's is that of the build that ran last.
ALTER TABLE trial ADD COLUMN verification_key TEXT NOT NULL DEFAULT '';
-- Digests of the built scheme, partitioner, kernel, core and worker, as JSON; empty where an older gnnbench measured.
ALTER TABLE trial ADD COLUMN code TEXT NOT NULL DEFAULT '' CHECK (code = '' OR json_valid(code));
UPDATE trial SET verification_key = (SELECT c.verification_key FROM cell c WHERE c.id = cell_id);
CREATE INDEX trial_verification_key ON trial (verification_key) WHERE purpose = 'verify';
