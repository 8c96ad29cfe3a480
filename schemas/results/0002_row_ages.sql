-- How old the rows of other ranks were that an epoch computed with, where a scheme uses old ones: all ranks together.
CREATE TABLE row_age (
    trial_id INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    layer INTEGER NOT NULL,                    -- of the model
    kind TEXT NOT NULL CHECK (kind IN ('features', 'gradients')),
    rows INTEGER NOT NULL,                     -- used, of those that other ranks own
    absent INTEGER NOT NULL,                   -- of these: zeros, because nothing had been sent yet
    mean_epochs REAL,                          -- since their owners computed the others; NULL: there are none
    most_epochs INTEGER NOT NULL,              -- of the oldest
    PRIMARY KEY (trial_id, epoch, layer, kind),
    FOREIGN KEY (trial_id, epoch) REFERENCES epoch ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE VIEW staleness AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, e.epoch, e.warmup, a.layer, a.kind, a.rows, a.absent, a.mean_epochs, a.most_epochs, t.purpose
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN epoch e ON e.trial_id = t.id
JOIN row_age a ON a.trial_id = e.trial_id AND a.epoch = e.epoch;
