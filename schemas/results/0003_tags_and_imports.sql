-- Names that people give to trials, and where trials of other databases came from.

CREATE TABLE tag (
    name TEXT NOT NULL,
    trial_id INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
    PRIMARY KEY (name, trial_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_trial ON tag (trial_id);

-- One `gnnbench results import`.
CREATE TABLE import (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,                      -- path of the other database
    imported TEXT NOT NULL                     -- ISO 8601, UTC
) STRICT;

CREATE TABLE imported_trial (
    trial_id INTEGER PRIMARY KEY REFERENCES trial ON DELETE CASCADE,
    import_id INTEGER NOT NULL REFERENCES import
) STRICT;
CREATE INDEX imported_trial_import ON imported_trial (import_id);

CREATE VIEW tags AS
SELECT g.name AS tag, t.uuid AS trial, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.gpus, t.status,
       t.started
FROM tag g
JOIN trial t ON t.id = g.trial_id
JOIN cell c ON c.id = t.cell_id;

CREATE VIEW imports AS
SELECT t.uuid AS trial, i.source, i.imported
FROM imported_trial x
JOIN import i ON i.id = x.import_id
JOIN trial t ON t.id = x.trial_id;
