-- Trials that are to be measured again and are not yet: an interrupted rerun goes on where it stopped.
CREATE TABLE rerun (
    cell_id INTEGER NOT NULL REFERENCES cell ON DELETE CASCADE,
    machine_id INTEGER NOT NULL REFERENCES machine,
    number INTEGER NOT NULL,                   -- of the trial in its cell
    replaces INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE, -- the newest conclusive trial when this was asked for
    asked TEXT NOT NULL,                       -- ISO 8601, UTC
    PRIMARY KEY (cell_id, machine_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX rerun_replaces ON rerun (replaces);
