-- What was measured. Tables are singular and normalised; the plural views at the end are what people query.
-- A migration is never edited after it shipped: the next change is 0002_*.sql.

CREATE TABLE experiment (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    spec TEXT NOT NULL DEFAULT '',             -- the file's text when it last ran
    first_seen TEXT NOT NULL
) STRICT;

CREATE TABLE cell (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    identity TEXT NOT NULL CHECK (json_valid(identity)),
    verification_key TEXT NOT NULL DEFAULT '', -- cells that one verification serves share it
    dataset TEXT NOT NULL,
    dataset_digest TEXT NOT NULL DEFAULT '',
    scheme TEXT NOT NULL,
    scheme_label TEXT NOT NULL,
    partitioner TEXT NOT NULL,
    partitioner_label TEXT NOT NULL,
    kernel TEXT NOT NULL,
    gpus INTEGER NOT NULL,
    threads_per_rank INTEGER NOT NULL,
    precision TEXT NOT NULL,
    hidden TEXT NOT NULL,                      -- "64,64"
    layers INTEGER NOT NULL,
    optimizer TEXT NOT NULL,
    learning_rate REAL NOT NULL,
    dropout REAL NOT NULL,
    seed INTEGER NOT NULL,
    epochs INTEGER NOT NULL,
    warmup INTEGER NOT NULL
) STRICT;
CREATE INDEX cell_verification_key ON cell (verification_key);

-- The cells an experiment has now, in the order of its file.
CREATE TABLE experiment_cell (
    experiment_id INTEGER NOT NULL REFERENCES experiment ON DELETE CASCADE,
    cell_id INTEGER NOT NULL REFERENCES cell ON DELETE CASCADE,
    position INTEGER NOT NULL,
    PRIMARY KEY (experiment_id, cell_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX experiment_cell_cell ON experiment_cell (cell_id);

CREATE TABLE machine (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,          -- XXH3-128 of the description
    description TEXT NOT NULL CHECK (json_valid(description)),
    cpu TEXT,
    cores INTEGER
) STRICT;

CREATE TABLE trial (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    cell_id INTEGER NOT NULL REFERENCES cell ON DELETE CASCADE,
    experiment_id INTEGER NOT NULL REFERENCES experiment ON DELETE CASCADE,
    machine_id INTEGER NOT NULL REFERENCES machine,
    number INTEGER NOT NULL,                   -- of its cell, from 0
    block INTEGER NOT NULL,                    -- randomised block
    purpose TEXT NOT NULL CHECK (purpose IN ('measure', 'verify', 'reference')),
    status TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'ok', 'skipped', 'failed', 'oom',
        'timeout', 'crashed', 'diverged', 'interrupted')),
    reason TEXT NOT NULL DEFAULT '',
    log_tail TEXT NOT NULL DEFAULT '',
    started TEXT NOT NULL,                     -- ISO 8601, UTC
    ended TEXT,
    wall_s REAL,                               -- launch to end, as the host saw it
    provenance TEXT NOT NULL CHECK (json_valid(provenance)),
    oversubscribed INTEGER NOT NULL DEFAULT 0,
    -- from the worker's start and set-up
    ranks INTEGER,
    device TEXT,
    mpi TEXT,
    load_s REAL,
    partition_s REAL,
    build_s REAL,
    setup_s REAL,
    edge_cut INTEGER,
    connectivity_minus_one INTEGER,
    vertex_imbalance REAL,
    nonzero_imbalance REAL,
    vertices INTEGER,
    edges INTEGER,
    features INTEGER,
    classes INTEGER,
    synthetic TEXT NOT NULL DEFAULT '',        -- what of the data is: "graph, features"; empty: nothing
    aggregated_input INTEGER NOT NULL DEFAULT 0,
    approximation TEXT NOT NULL DEFAULT '',    -- a paper's shortcut in use; empty: exact
    notes TEXT NOT NULL DEFAULT '',
    -- summary over measured (not warm-up) epochs, so that a listing never reads epochs
    measured_epochs INTEGER,
    epoch_s REAL,                              -- median over epochs of the maximum over ranks
    exposed_comm_s REAL,                       -- likewise
    sent_bytes_per_epoch INTEGER,              -- payload, summed over ranks; median over epochs
    messages_per_epoch INTEGER,
    volume_as_stated INTEGER,                  -- 1: counted = stated in every measured epoch; NULL: not stated
    final_loss REAL,
    train_accuracy REAL,                       -- of the last evaluation
    validation_accuracy REAL,
    test_accuracy REAL,
    peak_memory_bytes INTEGER                  -- maximum over ranks and epochs
) STRICT;
CREATE INDEX trial_cell ON trial (cell_id, purpose, machine_id, started);
CREATE INDEX trial_experiment ON trial (experiment_id, started);
CREATE INDEX trial_started ON trial (started);

CREATE TABLE trial_rank (
    trial_id INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
    rank INTEGER NOT NULL,
    host TEXT,
    pid INTEGER,
    device TEXT,
    memory_bytes INTEGER,
    PRIMARY KEY (trial_id, rank)
) STRICT, WITHOUT ROWID;

-- One epoch of a trial, all ranks together.
CREATE TABLE epoch (
    trial_id INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
    epoch INTEGER NOT NULL,
    warmup INTEGER NOT NULL,
    loss REAL,                                 -- NULL: not finite
    wall_s REAL NOT NULL,                      -- maximum over ranks
    PRIMARY KEY (trial_id, epoch)
) STRICT, WITHOUT ROWID;

CREATE TABLE rank_epoch (
    trial_id INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    wall_s REAL NOT NULL,
    total_comm_s REAL,
    peak_memory_bytes INTEGER,
    PRIMARY KEY (trial_id, epoch, rank),
    FOREIGN KEY (trial_id, epoch) REFERENCES epoch ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE rank_phase (
    trial_id INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    phase TEXT NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (trial_id, epoch, rank, phase),
    FOREIGN KEY (trial_id, epoch, rank) REFERENCES rank_epoch ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE rank_volume (                     -- counted
    trial_id INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    operation TEXT NOT NULL,
    content TEXT NOT NULL CHECK (content IN ('payload', 'metadata')),
    sent_bytes INTEGER NOT NULL,
    received_bytes INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    PRIMARY KEY (trial_id, epoch, rank, operation, content),
    FOREIGN KEY (trial_id, epoch, rank) REFERENCES rank_epoch ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE stated_volume (                   -- what the scheme said it would move in an epoch
    trial_id INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
    rank INTEGER NOT NULL,
    operation TEXT NOT NULL,
    content TEXT NOT NULL CHECK (content IN ('payload', 'metadata')),
    sent_bytes INTEGER NOT NULL,
    received_bytes INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    PRIMARY KEY (trial_id, rank, operation, content)
) STRICT, WITHOUT ROWID;

CREATE TABLE evaluation (
    trial_id INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
    epoch INTEGER NOT NULL,
    train REAL,
    validation REAL,
    test REAL,
    wall_s REAL,
    PRIMARY KEY (trial_id, epoch)
) STRICT, WITHOUT ROWID;

CREATE TABLE verification (
    trial_id INTEGER PRIMARY KEY REFERENCES trial ON DELETE CASCADE,
    key TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('verified', 'failed', 'unverified')),
    reason TEXT NOT NULL DEFAULT '',
    loss_error REAL,
    gradient_error REAL,
    volume_equal INTEGER,
    sampled_vertices INTEGER NOT NULL DEFAULT 0, -- 0: the whole graph
    detail TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX verification_key ON verification (key, trial_id);

-- Trials that a living host process has taken. Its journal's lock says whether it lives.
CREATE TABLE claim (
    cell_digest TEXT NOT NULL,
    machine TEXT NOT NULL,
    purpose TEXT NOT NULL,
    number INTEGER NOT NULL,
    journal TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    claimed TEXT NOT NULL,
    PRIMARY KEY (cell_digest, machine, purpose, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX claim_journal ON claim (journal);

-- Views for people --------------------------------------------------------------------------------------

CREATE VIEW cells AS
SELECT digest AS cell, dataset, scheme_label AS scheme, partitioner_label AS partitioner, kernel, gpus,
       threads_per_rank, precision, hidden, layers, optimizer, learning_rate, dropout, seed, epochs, warmup,
       (SELECT count(*) FROM trial WHERE cell_id = cell.id AND purpose = 'measure' AND status = 'ok') AS ok_trials,
       (SELECT v.status FROM verification v WHERE v.key = cell.verification_key
         ORDER BY v.trial_id DESC LIMIT 1) AS verification,
       dataset_digest, identity
FROM cell;

CREATE VIEW trials AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme,
       c.partitioner_label AS partitioner, c.kernel, c.gpus, c.threads_per_rank, c.hidden, c.seed, t.number,
       t.block, t.purpose, t.status, t.reason, t.epoch_s, t.exposed_comm_s, t.sent_bytes_per_epoch,
       t.messages_per_epoch, t.volume_as_stated, t.measured_epochs, t.final_loss, t.train_accuracy,
       t.validation_accuracy, t.test_accuracy, t.peak_memory_bytes, t.load_s, t.partition_s, t.build_s, t.setup_s,
       t.edge_cut, t.connectivity_minus_one, t.vertex_imbalance, t.nonzero_imbalance, t.vertices, t.edges,
       t.features, t.classes, t.synthetic, t.oversubscribed, t.aggregated_input, t.approximation, t.device, t.mpi,
       t.started, t.ended, t.wall_s, t.notes, t.log_tail, m.fingerprint AS machine, m.cpu, t.provenance
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN machine m ON m.id = t.machine_id;

-- The newest measured trial of each cell on each machine.
CREATE VIEW latest AS
SELECT v.* FROM trials v JOIN trial t ON t.uuid = v.trial
WHERE t.purpose = 'measure'
  AND t.id = (SELECT n.id FROM trial n WHERE n.cell_id = t.cell_id AND n.purpose = 'measure'
              AND n.machine_id = t.machine_id ORDER BY n.started DESC, n.id DESC LIMIT 1);

-- One row for each epoch and rank.
CREATE VIEW epochs AS
SELECT t.uuid AS trial, c.digest AS cell, e.epoch, r.rank, e.warmup, e.loss, r.wall_s,
       (SELECT p.seconds FROM rank_phase p WHERE p.trial_id = r.trial_id AND p.epoch = r.epoch
         AND p.rank = r.rank AND p.phase = 'comm') AS exposed_comm_s,
       r.total_comm_s, r.peak_memory_bytes, e.wall_s AS slowest_rank_s
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN epoch e ON e.trial_id = t.id
JOIN rank_epoch r ON r.trial_id = e.trial_id AND r.epoch = e.epoch;

CREATE VIEW phases AS
SELECT t.uuid AS trial, c.digest AS cell, e.epoch, p.rank, e.warmup, p.phase, p.seconds
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN epoch e ON e.trial_id = t.id
JOIN rank_phase p ON p.trial_id = e.trial_id AND p.epoch = e.epoch;

-- Counted beside stated; a scheme that stated nothing has NULL there.
CREATE VIEW volumes AS
SELECT t.uuid AS trial, c.digest AS cell, e.epoch, v.rank, e.warmup, v.operation, v.content, v.sent_bytes,
       v.received_bytes, v.messages, s.sent_bytes AS stated_sent_bytes,
       s.received_bytes AS stated_received_bytes, s.messages AS stated_messages
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN epoch e ON e.trial_id = t.id
JOIN rank_volume v ON v.trial_id = e.trial_id AND v.epoch = e.epoch
LEFT JOIN stated_volume s ON s.trial_id = v.trial_id AND s.rank = v.rank AND s.operation = v.operation
     AND s.content = v.content;

CREATE VIEW evaluations AS
SELECT t.uuid AS trial, c.digest AS cell, e.epoch, e.train, e.validation, e.test, e.wall_s
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN evaluation e ON e.trial_id = t.id;

CREATE VIEW verifications AS
SELECT t.uuid AS trial, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, c.kernel, c.precision, v.status, v.reason, v.loss_error, v.gradient_error, v.volume_equal,
       v.sampled_vertices, v.detail, t.started, v.key
FROM verification v
JOIN trial t ON t.id = v.trial_id
JOIN cell c ON c.id = t.cell_id;
