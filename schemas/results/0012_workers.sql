-- Schemes that train by steps, and workers that advance each at its own pace.

-- Steps of an epoch and the train vertices they were on, all ranks together; NULL where an older build measured.
ALTER TABLE epoch ADD COLUMN steps INTEGER;
ALTER TABLE epoch ADD COLUMN samples INTEGER;
-- Whether what was counted is as stated, where that is not the same in every epoch; else NULL, and stated_volume says.
ALTER TABLE epoch ADD COLUMN as_stated INTEGER;

-- One epoch of an independent worker: the batches of that epoch which it trained. Such an epoch of the whole trial lasts
-- from when the last worker left the epochs before to when the last worker left it.
CREATE TABLE worker_epoch (
    trial_id INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    samples INTEGER NOT NULL,
    loss REAL,                                 -- mean over samples; NULL: not finite, or no samples
    end_s REAL NOT NULL,                       -- since the training began
    as_stated INTEGER,
    PRIMARY KEY (trial_id, epoch, rank),
    FOREIGN KEY (trial_id, epoch, rank) REFERENCES rank_epoch ON DELETE CASCADE
) WITHOUT ROWID;

-- A worker's averagings with another; both have a row.
CREATE TABLE averaging (
    trial_id INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    number INTEGER NOT NULL,                   -- in this worker's epoch
    partner INTEGER NOT NULL,
    staleness INTEGER NOT NULL,                -- batches that the partner had trained, less this worker's
    PRIMARY KEY (trial_id, epoch, rank, number),
    FOREIGN KEY (trial_id, epoch, rank) REFERENCES worker_epoch ON DELETE CASCADE
) WITHOUT ROWID;
