-- What was measured. Tables are singular and normalised; the plural views at the end are what people query.
-- A migration is never edited after it shipped: the next change is 0002_*.sql.

CREATE TABLE experiment (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    spec TEXT NOT NULL DEFAULT '',             -- the file's text when it last ran
    first_seen TEXT NOT NULL
) STRICT;

-- What a cell is stands in its identity alone (host/spec/fields.cpp declares its fields); the columns that queries and views read are
-- computed from it.
CREATE TABLE cell (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,               -- of the identity without the names that tables show
    identity TEXT NOT NULL CHECK (json_valid(identity)),
    verification_key TEXT NOT NULL DEFAULT '', -- cells that one verification serves share it
    dataset TEXT NOT NULL AS (identity ->> '$.dataset.name') STORED,
    dataset_digest TEXT NOT NULL AS (identity ->> '$.dataset.digest') STORED,
    scheme TEXT NOT NULL AS (identity ->> '$.scheme.name') STORED,
    scheme_label TEXT NOT NULL AS (identity ->> '$.scheme.label') STORED,
    partitioner TEXT NOT NULL AS (identity ->> '$.partitioner.name') STORED,
    partitioner_label TEXT NOT NULL AS (identity ->> '$.partitioner.label') STORED,
    kernel TEXT NOT NULL AS (identity ->> '$.kernel.name') STORED,
    gpus INTEGER NOT NULL AS (identity ->> '$.gpus') STORED,
    threads_per_rank INTEGER NOT NULL AS (identity ->> '$.threads_per_rank') STORED,
    precision TEXT NOT NULL AS (identity ->> '$.precision') STORED,
    model TEXT NOT NULL AS (identity ->> '$.model.layers') STORED,            -- gcn, sage or gin
    hidden TEXT NOT NULL AS (trim(identity ->> '$.model.widths', '[]')) STORED, -- "64,64"
    layers INTEGER NOT NULL AS (json_array_length(identity, '$.model.widths') + 1) STORED,
    optimizer TEXT NOT NULL AS (identity ->> '$.train.optimizer') STORED,
    learning_rate REAL NOT NULL AS (identity ->> '$.train.lr') STORED,
    dropout REAL NOT NULL AS (identity ->> '$.train.dropout') STORED,
    seed INTEGER NOT NULL AS (identity ->> '$.seed') STORED,
    epochs INTEGER NOT NULL AS (identity ->> '$.epochs') STORED,
    warmup INTEGER NOT NULL AS (identity ->> '$.warmup') STORED,
    slowdown TEXT NOT NULL AS (identity ->> '$.slowdown.label') STORED,       -- "none" where no rank is slowed down
    simulated_on TEXT                          -- the machine of simulated ranks, whose numbers are a model's predictions
        AS (iif(identity ->> '$.kernel.name' = 'simulated', identity ->> '$.kernel.params.machine', NULL)) STORED
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
    code TEXT NOT NULL DEFAULT '' CHECK (code = '' OR json_valid(code)), -- digests of what computed it
    verification_key TEXT NOT NULL DEFAULT '', -- its cell's when it started
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
    epoch_s REAL,                              -- median over epochs; where ranks do not end them together, the mean
    exposed_comm_s REAL,                       -- likewise
    sent_bytes_per_epoch INTEGER,              -- payload, summed over ranks; mean over epochs
    messages_per_epoch INTEGER,
    volume_as_stated INTEGER,                  -- 1: counted = stated in every measured epoch; NULL: not stated
    final_loss REAL,
    train_accuracy REAL,                       -- of the last evaluation
    validation_accuracy REAL,
    test_accuracy REAL,
    peak_memory_bytes INTEGER,                 -- maximum over ranks and measured epochs
    score_metric TEXT CHECK (score_metric IN ('accuracy', 'micro-F1')) -- of the three accuracies
) STRICT;
-- The trials that count are chosen without reading the trials' long rows.
CREATE INDEX trial_counted ON trial (cell_id, machine_id, number, experiment_id, status, epoch_s, oversubscribed, purpose)
WHERE purpose = 'measure';
CREATE INDEX trial_cell ON trial (cell_id, purpose, machine_id);
CREATE INDEX trial_experiment ON trial (experiment_id);
CREATE INDEX trial_started ON trial (started);
CREATE INDEX trial_verification_key ON trial (verification_key) WHERE purpose = 'verify';

CREATE TABLE trial_rank (
    trial_id INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
    rank INTEGER NOT NULL,
    host TEXT,
    pid INTEGER,
    device TEXT,
    memory_bytes INTEGER,                      -- of its device, at the end of set-up
    stated_memory_bytes INTEGER,               -- what the scheme says that it holds, without prepared sparse matrices
    host_peak_bytes INTEGER,                   -- the most host memory in use at once, pages of mapped files included
    -- what set-up cost: reading its vertices' data, cutting its blocks of the graph, receiving the partition, preparing matrices
    read_s REAL,
    read_bytes INTEGER,
    cut_s REAL,
    cut_bytes INTEGER,
    exchange_s REAL,
    exchange_bytes INTEGER,
    prepare_s REAL,
    prepare_bytes INTEGER,
    PRIMARY KEY (trial_id, rank)
) STRICT, WITHOUT ROWID;

-- One epoch of a trial, all ranks together. Where ranks do not end it together (independent workers; epochs that run on), it lasts from
-- when the last of them left the epochs before to when the last left this one.
CREATE TABLE epoch (
    trial_id INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
    epoch INTEGER NOT NULL,
    warmup INTEGER NOT NULL,
    loss REAL,                                 -- NULL: not finite
    wall_s REAL NOT NULL,                      -- where ranks end it together, the maximum over them
    steps INTEGER,                             -- of all ranks
    samples INTEGER,                           -- train vertices that they were on
    as_stated INTEGER,                         -- counted = stated, of a scheme that states each epoch; else NULL: see stated_volume
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

-- One epoch of an independent worker: the batches of that epoch which it trained.
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
) STRICT, WITHOUT ROWID;

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
) STRICT, WITHOUT ROWID;

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

CREATE TABLE evaluation (
    trial_id INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
    epoch INTEGER NOT NULL,
    metric TEXT NOT NULL CHECK (metric IN ('accuracy', 'micro-F1')), -- micro-F1 where a vertex may have several labels
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
    detail TEXT NOT NULL DEFAULT '',
    -- what it looked at: `checks` {name: {calls, elements, worst_ratio, worst}}, `faults`, `rounding`, `same_bits`, `float64_error`,
    -- `float64_kernel`, `seconds`; empty where a program verified
    checks TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(checks))
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

-- Names that people give to trials.
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

-- Views for people --------------------------------------------------------------------------------------

CREATE VIEW cells AS
SELECT digest AS cell, dataset, scheme_label AS scheme, partitioner_label AS partitioner, kernel, simulated_on, gpus,
       threads_per_rank, precision, hidden, layers, optimizer, learning_rate, dropout, seed, epochs, warmup,
       slowdown,
       (SELECT count(*) FROM trial WHERE cell_id = cell.id AND purpose = 'measure' AND status = 'ok') AS ok_trials,
       iif((SELECT v.status FROM verification v JOIN trial t ON t.id = v.trial_id
             WHERE v.key = cell.verification_key AND t.purpose = 'measure' AND v.status <> 'unverified'
             ORDER BY v.trial_id DESC LIMIT 1) = 'failed', 'failed',
           (SELECT v.status FROM verification v JOIN trial t ON t.id = v.trial_id
             WHERE v.key = cell.verification_key AND t.purpose = 'verify'
             ORDER BY v.trial_id IN (SELECT trial_id FROM imported_trial), v.trial_id DESC LIMIT 1)) AS verification,
       dataset_digest, identity
FROM cell;

CREATE VIEW trials AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme,
       c.partitioner_label AS partitioner, c.kernel, c.simulated_on, c.gpus, c.threads_per_rank, c.hidden, c.seed,
       c.slowdown, t.number,
       t.block, t.purpose, t.status, t.reason, t.epoch_s, t.exposed_comm_s, t.sent_bytes_per_epoch,
       t.messages_per_epoch, t.volume_as_stated, t.measured_epochs, t.final_loss, t.score_metric, t.train_accuracy,
       t.validation_accuracy, t.test_accuracy, t.peak_memory_bytes, t.load_s, t.partition_s, t.build_s, t.setup_s,
       t.edge_cut, t.connectivity_minus_one, t.vertex_imbalance, t.nonzero_imbalance, t.vertices, t.edges,
       t.features, t.classes, t.synthetic, t.oversubscribed, t.aggregated_input, t.approximation, t.device, t.mpi,
       t.started, t.ended, t.wall_s, t.notes, t.log_tail, m.fingerprint AS machine, m.cpu, t.provenance
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN machine m ON m.id = t.machine_id;

-- The newest measured trial of each cell on each machine: the one recorded last, by its row, and not by `started`, since a clock can be
-- set back. What was measured into this database comes before what was imported, which is recorded late whenever it was measured.
CREATE VIEW latest AS
SELECT v.* FROM trials v JOIN trial t ON t.uuid = v.trial
WHERE t.purpose = 'measure'
  AND t.id = coalesce((SELECT n.id FROM trial n WHERE n.cell_id = t.cell_id AND n.purpose = 'measure' AND n.machine_id = t.machine_id
                        AND n.id NOT IN (SELECT trial_id FROM imported_trial) ORDER BY n.id DESC LIMIT 1),
                      (SELECT n.id FROM trial n WHERE n.cell_id = t.cell_id AND n.purpose = 'measure' AND n.machine_id = t.machine_id
                       ORDER BY n.id DESC LIMIT 1));

-- One row for each epoch and rank, of verifications too.
CREATE VIEW epochs AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, e.epoch, r.rank, e.warmup, e.loss, r.wall_s,
       (SELECT p.seconds FROM rank_phase p WHERE p.trial_id = r.trial_id AND p.epoch = r.epoch
         AND p.rank = r.rank AND p.phase = 'comm') AS exposed_comm_s,
       r.total_comm_s, r.peak_memory_bytes, e.wall_s AS slowest_rank_s, t.purpose
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN epoch e ON e.trial_id = t.id
JOIN rank_epoch r ON r.trial_id = e.trial_id AND r.epoch = e.epoch;

CREATE VIEW phases AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, e.epoch, p.rank, e.warmup, p.phase, p.seconds, t.purpose
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN epoch e ON e.trial_id = t.id
JOIN rank_phase p ON p.trial_id = e.trial_id AND p.epoch = e.epoch;

-- Counted beside stated; a scheme that stated nothing has NULL there.
CREATE VIEW volumes AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, e.epoch, v.rank, e.warmup, v.operation, v.content, v.sent_bytes, v.received_bytes, v.messages,
       s.sent_bytes AS stated_sent_bytes, s.received_bytes AS stated_received_bytes, s.messages AS stated_messages, t.purpose
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN epoch e ON e.trial_id = t.id
JOIN rank_volume v ON v.trial_id = e.trial_id AND v.epoch = e.epoch
LEFT JOIN stated_volume s ON s.trial_id = v.trial_id AND s.rank = v.rank AND s.operation = v.operation
     AND s.content = v.content;

CREATE VIEW evaluations AS
SELECT t.uuid AS trial, c.digest AS cell, e.epoch, e.metric, e.train, e.validation, e.test, e.wall_s
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN evaluation e ON e.trial_id = t.id;

CREATE VIEW verifications AS
SELECT t.uuid AS trial, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, c.kernel, c.precision, v.status, v.reason, v.loss_error, v.gradient_error, v.volume_equal,
       v.sampled_vertices, v.detail, t.started, v.key, v.checks
FROM verification v
JOIN trial t ON t.id = v.trial_id
JOIN cell c ON c.id = t.cell_id;

CREATE VIEW workers AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme, c.partitioner_label AS partitioner,
       c.gpus, c.slowdown, w.epoch, w.rank, e.warmup, w.steps, w.samples, w.loss, r.wall_s, w.end_s,
       (SELECT p.seconds FROM rank_phase p WHERE p.trial_id = w.trial_id AND p.epoch = w.epoch
         AND p.rank = w.rank AND p.phase = 'wait') AS wait_s,
       (SELECT count(*) FROM averaging a WHERE a.trial_id = w.trial_id AND a.epoch = w.epoch AND a.rank = w.rank)
         AS averagings,
       (SELECT avg(abs(a.staleness)) FROM averaging a WHERE a.trial_id = w.trial_id AND a.epoch = w.epoch
         AND a.rank = w.rank) AS mean_staleness
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id
JOIN worker_epoch w ON w.trial_id = t.id
JOIN epoch e ON e.trial_id = w.trial_id AND e.epoch = w.epoch
JOIN rank_epoch r ON r.trial_id = w.trial_id AND r.epoch = w.epoch AND r.rank = w.rank;

CREATE VIEW setups AS
SELECT t.uuid AS trial, x.name AS experiment, c.digest AS cell, c.dataset, c.scheme_label AS scheme,
       c.partitioner_label AS partitioner, c.gpus, c.threads_per_rank, t.purpose, r.rank, t.load_s, t.partition_s,
       r.read_s, r.read_bytes, r.cut_s, r.cut_bytes, r.exchange_s, r.exchange_bytes, r.prepare_s, r.prepare_bytes,
       t.setup_s, r.host_peak_bytes, r.memory_bytes, r.stated_memory_bytes
FROM trial_rank r
JOIN trial t ON t.id = r.trial_id
JOIN cell c ON c.id = t.cell_id
JOIN experiment x ON x.id = t.experiment_id;

CREATE VIEW spans AS
SELECT t.uuid AS trial, c.digest AS cell, s.epoch, s.rank, s.stream, s.phase, s.operation, s.begin_s, s.end_s,
       s.end_s - s.begin_s AS seconds, s.bytes, s.group_size
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN span s ON s.trial_id = t.id;

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

-- What an experiment's tables, comparisons and queries show of a cell ------------------------------------------

-- The trial that counts as number n of a cell of an experiment on a machine: the newest conclusive one that this experiment measured;
-- where it measured none, the newest that another one did; where none is conclusive, the newest. `borrowed`: another experiment's. A lookup
-- of the others with its number costs a tenth of a window.
CREATE VIEW counted_trials AS
SELECT x.experiment_id, t.cell_id, t.machine_id, t.number, t.id AS trial_id, t.experiment_id <> x.experiment_id AS borrowed,
       t.status, t.epoch_s, t.oversubscribed
FROM experiment_cell x JOIN trial t ON t.cell_id = x.cell_id AND t.purpose = 'measure'
WHERE NOT EXISTS (
    SELECT 1 FROM trial n
    WHERE n.purpose = 'measure' AND n.cell_id = t.cell_id AND n.machine_id = t.machine_id AND n.number = t.number AND n.id <> t.id
      AND (n.status NOT IN ('running', 'interrupted', 'skipped'), n.experiment_id = x.experiment_id,
           n.id NOT IN (SELECT trial_id FROM imported_trial), n.id)
          > (t.status NOT IN ('running', 'interrupted', 'skipped'), t.experiment_id = x.experiment_id,
             t.id NOT IN (SELECT trial_id FROM imported_trial), t.id));

-- A cell's time: the median over its counted ok trials.
CREATE VIEW cell_times AS
WITH placed AS MATERIALIZED (
    SELECT experiment_id, cell_id, machine_id, epoch_s, oversubscribed,
           row_number() OVER (ORDER BY experiment_id, cell_id, machine_id, epoch_s) AS place
    FROM counted_trials WHERE status = 'ok' AND epoch_s IS NOT NULL),
cells AS MATERIALIZED (
    SELECT experiment_id, cell_id, machine_id, count(*) AS trials, min(place) AS first, max(oversubscribed) AS oversubscribed
    FROM placed GROUP BY experiment_id, cell_id, machine_id)
SELECT c.experiment_id, c.cell_id, c.machine_id, c.trials, (low.epoch_s + high.epoch_s) / 2 AS epoch_s, c.oversubscribed
FROM cells c JOIN placed low ON low.place = c.first + (c.trials - 1) / 2 JOIN placed high ON high.place = c.first + c.trials / 2;

-- Speed-up of a cell: the time of its base over its own. The base is a cell of the same experiment and machine that is equal in data, model,
-- training, kernel, precision and seed: `serial` on one GPU where that was measured, else the same scheme on its fewest GPUs. That has the
-- same partitioner, or none: a graph in one part has no partition, so that cell begins the line of every partitioner. Of several, one with the
-- same partitioner, threads and epochs is taken.
CREATE VIEW speed_ups AS
WITH timed AS MATERIALIZED (
    SELECT k.experiment_id, k.machine_id, k.cell_id, k.trials, k.epoch_s, k.oversubscribed, c.scheme = 'serial' AND c.gpus = 1 AS over_serial,
           c.scheme_label, c.partitioner_label, c.gpus, c.threads_per_rank, c.epochs,
           c.dataset_digest || json_remove(c.identity, '$.scheme', '$.partitioner', '$.gpus', '$.threads_per_rank', '$.epochs', '$.warmup',
                                           '$.dataset.source') AS alike
    FROM cell_times k JOIN cell c ON c.id = k.cell_id),
serial AS MATERIALIZED (SELECT * FROM timed WHERE over_serial),
based AS MATERIALIZED (
    SELECT t.experiment_id, t.machine_id, t.cell_id, t.trials, t.epoch_s, t.oversubscribed, t.gpus, coalesce(
        (SELECT cell_id FROM (
            SELECT b.cell_id, b.partitioner_label = t.partitioner_label AS same_partitioner, b.threads_per_rank = t.threads_per_rank AS same_threads,
                   b.epochs = t.epochs AS same_epochs, b.cell_id = t.cell_id AS same_cell
            FROM serial b WHERE b.experiment_id = t.experiment_id AND b.machine_id = t.machine_id AND b.alike = t.alike)
         ORDER BY same_partitioner DESC, same_threads DESC, same_epochs DESC, same_cell DESC, cell_id LIMIT 1),
        (SELECT cell_id FROM (
            SELECT b.cell_id, b.gpus, b.partitioner_label = t.partitioner_label AS same_partitioner,
                   b.threads_per_rank = t.threads_per_rank AS same_threads, b.epochs = t.epochs AS same_epochs, b.cell_id = t.cell_id AS same_cell
            FROM timed b WHERE b.experiment_id = t.experiment_id AND b.machine_id = t.machine_id AND b.alike = t.alike
             AND b.scheme_label = t.scheme_label AND b.gpus <= t.gpus
             AND (b.partitioner_label = t.partitioner_label OR b.partitioner_label = 'none'))
         ORDER BY gpus, same_partitioner DESC, same_threads DESC, same_epochs DESC, same_cell DESC, cell_id LIMIT 1)) AS base_cell_id
    FROM timed t)
SELECT t.experiment_id, t.machine_id, t.cell_id, t.trials, t.epoch_s, t.oversubscribed, t.base_cell_id, b.gpus AS base_gpus, b.over_serial,
       b.epoch_s / t.epoch_s AS speed_up,
       b.epoch_s * b.gpus / (t.epoch_s * t.gpus) AS efficiency,
       (t.epoch_s / b.epoch_s - 1.0 * b.gpus / t.gpus) / nullif(1 - 1.0 * b.gpus / t.gpus, 0) AS serial_fraction
FROM based t CROSS JOIN timed b ON b.cell_id = t.base_cell_id AND b.experiment_id = t.experiment_id AND b.machine_id = t.machine_id
WHERE t.epoch_s > 0;

-- The ok trials that count, as named queries read them, without the candidates of `gnnbench tune`. A simulated trial's time is of
-- no processor.
CREATE VIEW compared_trials AS
SELECT k.experiment_id, x.name AS experiment, k.cell_id, c.digest AS cell, k.machine_id, k.trial_id, c.dataset, c.model, c.hidden, c.precision,
       c.scheme_label AS scheme, c.partitioner_label AS partitioner, c.kernel, c.gpus, c.threads_per_rank, k.epoch_s, k.oversubscribed,
       c.simulated_on, iif(c.simulated_on IS NULL, m.cpu, NULL) AS cpu
FROM counted_trials k JOIN experiment x ON x.id = k.experiment_id JOIN cell c ON c.id = k.cell_id JOIN machine m ON m.id = k.machine_id
WHERE k.status = 'ok' AND (c.simulated_on IS NULL OR x.name NOT GLOB '*-tune');
