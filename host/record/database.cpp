#include "record/database.hpp"

#include <chrono>
#include <map>
#include <thread>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "core/existing_folder.hpp"
#include "record/apply.hpp"
#include "record/migrations.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {
namespace {

/// SQLite does not wait for locks when it changes the journal mode, so several processes that open a new
/// database at once would fail.
void use_wal(sqlite::Connection& c) {
    using namespace std::chrono_literals;
    for (int tries = 0;; ++tries) {
        try {
            auto mode = c.prepare("PRAGMA journal_mode = WAL", "use a write-ahead log");
            if (mode.step() && mode.text(0) == "wal") return;
            throw EnvironmentError(
                fmt::format("the file system of {} does not allow SQLite's write-ahead log (a network folder?). "
                            "Name a database "
                            "on a local disk with --database.",
                            c.path().string()));
        } catch (const EnvironmentError& e) {
            if (tries == 200 || std::string_view(e.what()).find("locked") == std::string_view::npos) throw;
        }
        std::this_thread::sleep_for(50ms);
    }
}

void check_writable(sqlite::Connection& c) {
    // In a read-only folder SQLite cannot create its log; starting a write transaction shows that.
    sqlite::Transaction t(c);
    c.execute("PRAGMA user_version", "write");
}

}  // namespace

std::string code_text(const nlohmann::json& code) { return code.empty() ? "" : code.dump(); }

Database::Database(const std::filesystem::path& path) : path_(path) {
    require_folder_of(path, "--database");
    connection_ = std::make_unique<sqlite::Connection>(path, sqlite::Access::read_write);
    check_writable(*connection_);
    use_wal(*connection_);
    // NORMAL: after a power loss the last commits may be missing, never inconsistent.
    connection_->execute("PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY",
                         "set up the connection");
    migrate(*connection_);
    applier_ = std::make_unique<LineApplier>(*connection_);
}

Database::Database(const std::filesystem::path& path, Unmigrated)
    : path_(path), connection_(std::make_unique<sqlite::Connection>(path, sqlite::Access::read_only)) {}

Database Database::for_reading(const std::filesystem::path& path) {
    try {
        return Database(path);
    } catch (const EnvironmentError&) {
        Database there(path, Unmigrated{});
        // An older one would have to be changed before it can be read.
        if (there.connection_->integer("PRAGMA user_version", "read its version") !=
            std::ssize(shipped_migrations()))
            throw;
        return there;
    }
}

Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&& o) noexcept {
    applier_.reset();  // its statements belong to the connection
    path_ = std::move(o.path_);
    connection_ = std::move(o.connection_);
    applier_ = std::move(o.applier_);
    return *this;
}
Database::~Database() = default;

ApplyResult Database::apply(std::span<const nlohmann::json> lines) {
    ApplyResult result;
    if (lines.empty()) return result;
    sqlite::Transaction transaction(*connection_);
    for (const nlohmann::json& line : lines) {
        connection_->execute("SAVEPOINT line", "begin a line");
        try {
            applier_->apply(line);
            ++result.lines;
        } catch (const DataError& e) {
            connection_->execute("ROLLBACK TO line", "leave out a line");
            applier_->forget();
            result.problems.emplace_back(e.what());
        } catch (...) {
            applier_->forget();
            throw;
        }
        connection_->execute("RELEASE line", "end a line");
    }
    transaction.commit();
    return result;
}

void Database::register_experiment(const std::string& name, const std::string& spec,
                                   std::span<const CellRecord> cells, const ScalingAxis& scaling) {
    sqlite::Transaction transaction(*connection_);
    const std::int64_t id = applier_->experiment(name);
    connection_->prepare("UPDATE experiment SET spec = ?, scaling = ? WHERE id = ?", "store an experiment")
        .run(spec, to_text(scaling), id);
    connection_->prepare("DELETE FROM experiment_cell WHERE experiment_id = ?", "store an experiment").run(id);
    auto add = connection_->prepare("INSERT INTO experiment_cell VALUES (?,?,?) ON CONFLICT DO NOTHING",
                                    "store an experiment's cell");
    // Names and code are no part of what a cell is: the experiment that ran last says how a cell is called, and
    // the build that runs it what has to be verified.
    auto name_it = connection_->prepare(
        "UPDATE cell SET identity = ?, verification_key = coalesce(nullif(?, ''), verification_key) WHERE id = ?",
        "store a cell's names");
    int position = 0;
    for (const CellRecord& c : cells) {
        const std::int64_t cell = applier_->cell(c);
        name_it.run(c.identity.dump(), c.verification_key, cell);
        add.run(id, cell, position++);
    }
    transaction.commit();
}

void Database::note_verification_keys(std::span<const CellRecord> cells) {
    sqlite::Transaction transaction(*connection_);
    auto note = connection_->prepare("UPDATE cell SET verification_key = ? WHERE digest = ?",
                                     "store a cell's verification key");
    for (const CellRecord& c : cells) note.run(c.verification_key, c.digest);
    transaction.commit();
}

namespace {

/// When a rerun of number `t.number` was requested, if trial t is the one to be replaced.
constexpr const char* rerun_of_trial =
    "(SELECT r.asked FROM rerun r WHERE r.cell_id = t.cell_id AND r.machine_id = t.machine_id AND r.number = "
    "t.number "
    "AND r.replaces >= t.id)";

/// So that of the rows with one number the newest is the last: the one recorded last of those measured into this
/// database, and only else of the imported ones.
constexpr const char* imported_first = "ORDER BY t.id NOT IN (SELECT trial_id FROM imported_trial), t.id";

/// Rows in that order: number, uuid, status, reason, build, code, rerun's date.
void add_state(std::map<int, TrialState>& by_number, const sqlite::Statement& q) {
    TrialState& s = by_number[static_cast<int>(q.integer(0))];
    const TrialStatus status = trial_status(q.text(2));
    const bool conclusive = is_conclusive(status);
    if (conclusive || s.conclusive == 0)
        s = {static_cast<int>(q.integer(0)),
             q.text(1),
             status,
             q.text(3),
             q.text(4),
             q.text(5),
             s.conclusive,
             q.text(6)};
    s.conclusive += conclusive;
}

std::vector<TrialState> in_order(std::map<int, TrialState>& by_number) {
    std::vector<TrialState> states;
    for (auto& [number, state] : by_number) states.push_back(std::move(state));
    return states;
}

}  // namespace

std::vector<TrialState> Database::trials_of(const std::string& cell_digest, const std::string& machine) const {
    auto q = connection_->prepare(
        fmt::format(
            "SELECT t.number, t.uuid, t.status, t.reason, json_extract(t.provenance, '$.build'), t.code, {} "
            "FROM trial t ",
            rerun_of_trial) +
            "JOIN cell c ON c.id = t.cell_id JOIN machine m ON m.id = t.machine_id "
            "WHERE c.digest = ? AND m.fingerprint = ? AND t.purpose = 'measure' " +
            imported_first,
        "read a cell's trials");
    q.bind(cell_digest, machine);
    std::map<int, TrialState> by_number;
    while (q.step()) add_state(by_number, q);
    return in_order(by_number);
}

bool Database::was_skipped(const std::string& cell_digest, const std::string& machine,
                           const std::string& reason) const {
    auto q = connection_->prepare(
        "SELECT 1 FROM trial t JOIN cell c ON c.id = t.cell_id JOIN machine m ON m.id = t.machine_id "
        "WHERE c.digest = ? AND m.fingerprint = ? AND t.purpose = 'measure' AND t.status = 'skipped' "
        "AND t.reason = ? LIMIT 1",
        "look for a skipped trial");
    q.bind(cell_digest, machine, reason);
    return q.step();
}

std::map<std::string, std::vector<TrialState>> Database::all_trials(const std::string& machine) const {
    auto q = connection_->prepare(fmt::format("SELECT t.number, t.uuid, t.status, t.reason, "
                                              "json_extract(t.provenance, '$.build'), t.code, {}, c.digest "
                                              "FROM trial t ",
                                              rerun_of_trial) +
                                      "JOIN cell c ON c.id = t.cell_id JOIN machine m ON m.id = t.machine_id "
                                      "WHERE m.fingerprint = ? AND t.purpose = 'measure' " +
                                      imported_first,
                                  "read all trials");
    q.bind(machine);
    std::map<std::string, std::map<int, TrialState>> by_cell;
    while (q.step()) add_state(by_cell[q.text(7)], q);
    std::map<std::string, std::vector<TrialState>> all;
    for (auto& [digest, by_number] : by_cell) all[digest] = in_order(by_number);
    return all;
}

void Database::request_rerun(std::span<const std::string> trials) {
    if (trials.empty()) return;
    sqlite::Transaction transaction(*connection_);
    // Requests that have been fulfilled since.
    connection_->execute(
        "DELETE FROM rerun WHERE EXISTS (SELECT 1 FROM trial t WHERE t.cell_id = rerun.cell_id "
        "AND t.machine_id = rerun.machine_id AND t.number = rerun.number AND t.purpose = 'measure' "
        "AND t.id > rerun.replaces AND t.status NOT IN ('running', 'interrupted', 'skipped') "
        "AND t.id NOT IN (SELECT trial_id FROM imported_trial))",
        "forget reruns that are done");
    auto ask = connection_->prepare(
        "INSERT INTO rerun SELECT t.cell_id, t.machine_id, t.number, t.id, ?2 FROM trial t WHERE t.uuid = ?1 "
        "ON CONFLICT DO NOTHING",
        "store what is to be measured again");
    const std::string now = utc_now();
    for (const std::string& t : trials) ask.run(t, now);
    transaction.commit();
}

std::int64_t Database::forget_reruns(const std::string& cell_digest, const std::string& machine_fingerprint) {
    connection_
        ->prepare(
            "DELETE FROM rerun WHERE cell_id = (SELECT id FROM cell WHERE digest = ?) "
            "AND machine_id = (SELECT id FROM machine WHERE fingerprint = ?)",
            "forget a rerun")
        .run(cell_digest, machine_fingerprint);
    return connection_->changes();
}

std::optional<VerificationRecord> Database::verification(const std::string& key) const {
    return VerificationFinder(*connection_).find(key);
}

bool Database::late_step_due(const std::string& key) const {
    const auto late = VerificationFinder(*connection_).late_step(key);
    return !late || late->status != VerificationStatus::verified;
}

std::int64_t remove_trials(Database& database, std::span<const std::string> trials) {
    sqlite::Transaction transaction(database.connection());
    auto remove = database.connection().prepare("DELETE FROM trial WHERE uuid = ?", "remove a trial");
    std::int64_t removed = 0;
    for (const std::string& t : trials) {
        remove.run(t);
        removed += database.connection().changes();
    }
    database.applier().forget();
    transaction.commit();
    return removed;
}

}  // namespace gnnbench
