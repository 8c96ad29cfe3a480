-- The timeline of traced epochs: every operation on every stream, one row a span.

CREATE TABLE span (
    trial_id INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    number INTEGER NOT NULL,                   -- in the order in which they were recorded
    stream TEXT NOT NULL CHECK (stream IN ('compute', 'communication')),
    phase TEXT NOT NULL,
    operation TEXT NOT NULL,
    begin_s REAL NOT NULL,                     -- since this rank's epoch began
    end_s REAL NOT NULL CHECK (end_s >= begin_s),
    bytes INTEGER NOT NULL,                    -- payload that this rank sends and receives; 0 for compute
    group_size INTEGER NOT NULL,               -- ranks that take part; 0 for compute
    PRIMARY KEY (trial_id, epoch, rank, number),
    FOREIGN KEY (trial_id, epoch, rank) REFERENCES rank_epoch ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE VIEW spans AS
SELECT t.uuid AS trial, c.digest AS cell, s.epoch, s.rank, s.stream, s.phase, s.operation, s.begin_s, s.end_s,
       s.end_s - s.begin_s AS seconds, s.bytes, s.group_size
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN span s ON s.trial_id = t.id;
