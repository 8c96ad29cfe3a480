#include "record/merge.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/temporary_folder.hpp>

#include "record/migrations.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {
namespace {

namespace fs = std::filesystem;

/// The tables that refer to a trial; each begins with trial_id, and parents come before children.
constexpr const char* hanging[] = {"trial_rank",  "epoch",         "rank_epoch", "rank_phase",
                                   "rank_volume", "stated_volume", "evaluation", "verification",
                                   "span",        "worker_epoch",  "averaging",  "row_age"};

/// The other database, or a copy of it with today's schema.
class Readable {
public:
    explicit Readable(const fs::path& other) : path_(other) {
        std::error_code error;
        if (!fs::is_regular_file(other, error))
            throw SpecError(
                fmt::format("expected another results database at {}; there is no such file", other.string()));
        sqlite::Connection c(other, sqlite::Access::read_only);
        if (c.integer("SELECT count(*) FROM sqlite_schema WHERE name IN ('trial', 'epoch', 'cell')", "read") != 3)
            throw SpecError(fmt::format("expected another results database; {} has no trials", other.string()));
        const std::int64_t version = c.integer("PRAGMA user_version", "read the schema version");
        if (version == static_cast<std::int64_t>(shipped_migrations().size())) return;
        folder_.emplace("import");
        path_ = folder_->path() / "copy.sqlite";
        copy_database(other, path_);
        sqlite::Connection copy(path_, sqlite::Access::read_write);
        migrate(copy);
    }
    const fs::path& path() const { return path_; }

private:
    std::optional<TemporaryFolder> folder_;  ///< of the copy and what a migration leaves beside it
    fs::path path_;
};

/// Columns of a table but `without`, with `prefix` before each.
std::string column_list(const sqlite::Connection& c, const std::string& table,
                        const std::vector<std::string>& without, const std::string& prefix) {
    auto q = c.prepare("SELECT name FROM pragma_table_info(?)", "read a schema");
    q.bind(table);
    std::vector<std::string> names;
    while (q.step())
        if (std::find(without.begin(), without.end(), q.text(0)) == without.end())
            names.push_back(prefix + q.text(0));
    return fmt::format("{}", fmt::join(names, ", "));
}

class Attached {
public:
    Attached(sqlite::Connection& c, const fs::path& path) : c_(c) {
        c_.prepare("ATTACH ? AS other", "open the other database").run(sqlite::uri_of(path, "?mode=ro"));
    }
    ~Attached() {
        try {
            c_.execute("DROP TABLE IF EXISTS temp.taken; DETACH other", "close the other database");
        } catch (const Error&) {  // NOLINT(bugprone-empty-catch): it closes with the connection
        }
    }
    Attached(const Attached&) = delete;
    Attached& operator=(const Attached&) = delete;

private:
    sqlite::Connection& c_;
};

std::int64_t changed(sqlite::Connection& c, const std::string& sql, const char* doing) {
    c.execute(sql, doing);
    return c.changes();
}

/// What trials refer to: experiments, machines and cells, and which cells an experiment has.
void take_cells(sqlite::Connection& c, MergeResult& result) {
    result.experiments = changed(
        c,
        "INSERT INTO main.experiment (name, spec, first_seen, scaling) SELECT name, spec, first_seen, scaling "
        "FROM other.experiment WHERE true ON CONFLICT DO NOTHING",
        "take over experiments");
    result.machines =
        changed(c,
                "INSERT INTO main.machine (fingerprint, description, cpu, cores) SELECT fingerprint, "
                "description, cpu, cores FROM other.machine WHERE true ON CONFLICT DO NOTHING",
                "take over machines");
    const std::string cell = column_list(c, "cell", {"id"}, "");
    result.cells =
        changed(c,
                fmt::format("INSERT INTO main.cell ({0}) SELECT {0} FROM other.cell WHERE true ON CONFLICT DO "
                            "NOTHING",
                            cell),
                "take over cells");
    // Cells that an experiment has only in the other database come after those of this one.
    c.execute(
        "INSERT INTO main.experiment_cell SELECT mx.id, mc.id, 1000000 + e.position FROM other.experiment_cell e "
        "JOIN other.experiment ox ON ox.id = e.experiment_id JOIN main.experiment mx ON mx.name = ox.name "
        "JOIN other.cell oc ON oc.id = e.cell_id JOIN main.cell mc ON mc.digest = oc.digest WHERE true "
        "ON CONFLICT DO NOTHING",
        "take over an experiment's cells");
}

void take_trials(sqlite::Connection& c) {
    const std::vector<std::string> mapped = {"id", "cell_id", "experiment_id", "machine_id"};
    c.execute(
        fmt::format(
            "INSERT INTO trial (cell_id, experiment_id, machine_id, {}) SELECT mc.id, mx.id, mm.id, {} "
            "FROM temp.taken k JOIN other.trial t ON t.id = k.old "
            "JOIN other.cell oc ON oc.id = t.cell_id JOIN main.cell mc ON mc.digest = oc.digest "
            "JOIN other.experiment ox ON ox.id = t.experiment_id JOIN main.experiment mx ON mx.name = ox.name "
            "JOIN other.machine om ON om.id = t.machine_id JOIN main.machine mm ON mm.fingerprint = "
            "om.fingerprint "
            "ORDER BY t.id",
            column_list(c, "trial", mapped, ""), column_list(c, "trial", mapped, "t.")),
        "take over trials");
    c.execute(
        "UPDATE temp.taken SET new = (SELECT m.id FROM other.trial t JOIN main.trial m ON m.uuid = t.uuid "
        "WHERE t.id = taken.old)",
        "take over trials");
    for (const char* table : hanging)
        c.execute(
            fmt::format("INSERT INTO main.{0} (trial_id, {1}) SELECT k.new, {2} FROM temp.taken k "
                        "JOIN other.{0} x ON x.trial_id = k.old",
                        table, column_list(c, table, {"trial_id"}, ""), column_list(c, table, {"trial_id"}, "x.")),
            "take over what hangs on trials");
    c.execute(
        "INSERT INTO main.tag (name, trial_id) SELECT x.name, k.new FROM temp.taken k JOIN other.tag x ON "
        "x.trial_id = k.old",
        "take over tags");
}

}  // namespace

MergeResult import_results(Database& database, const fs::path& other) {
    std::error_code error;
    if (fs::equivalent(database.path(), other, error))
        throw SpecError(
            fmt::format("{} is this database itself; name another one to import from", other.string()));
    const Readable readable(other);
    sqlite::Connection& c = database.connection();
    const Attached attached(c, readable.path());
    MergeResult result;
    sqlite::Transaction transaction(c);
    c.execute("CREATE TEMP TABLE taken (old INTEGER PRIMARY KEY, new INTEGER)", "take over trials");
    result.already_present = c.integer(
        "SELECT count(*) FROM other.trial WHERE uuid IN (SELECT uuid FROM main.trial)", "look at trials");
    result.unfinished = c.integer(
        "SELECT count(*) FROM other.trial WHERE status = 'running' AND uuid NOT IN (SELECT uuid FROM main.trial)",
        "look at trials");
    result.trials = changed(c,
                            "INSERT INTO temp.taken (old) SELECT id FROM other.trial WHERE status <> 'running' "
                            "AND uuid NOT IN (SELECT uuid FROM main.trial)",
                            "take over trials");
    take_cells(c, result);
    take_trials(c);
    c.prepare("INSERT INTO import (source, imported) VALUES (?, ?)", "note where trials came from")
        .run(fs::absolute(other).string(), utc_now());
    c.execute("INSERT INTO imported_trial SELECT new, (SELECT max(id) FROM import) FROM temp.taken",
              "note where trials came from");
    transaction.commit();
    return result;
}

}  // namespace gnnbench
