#include "record/archive.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gnnbench/error.hpp>

#include "core/existing_folder.hpp"
#include "record/database.hpp"
#include "record/migrations.hpp"
#include "record/query.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {

namespace {

namespace fs = std::filesystem;

/// Tables of what processes are about to do, and of where trials came from.
constexpr const char* left_out =
    "DELETE FROM claim; DELETE FROM rerun; DELETE FROM imported_trial; DELETE FROM import";

constexpr const char* of_cells =
    "DELETE FROM trial WHERE status = 'running' OR NOT (cell_id IN (SELECT id FROM temp.kept) OR "
    "(purpose = 'verify' AND verification_key IN (SELECT verification_key FROM cell WHERE id IN "
    "(SELECT id FROM temp.kept))));"
    "DELETE FROM cell WHERE id NOT IN (SELECT id FROM temp.kept) AND id NOT IN (SELECT cell_id FROM trial);"
    "DELETE FROM experiment_cell WHERE cell_id NOT IN (SELECT id FROM temp.kept);"
    "DELETE FROM experiment WHERE id NOT IN (SELECT experiment_id FROM trial) "
    "AND id NOT IN (SELECT experiment_id FROM experiment_cell);"
    "DELETE FROM machine WHERE id NOT IN (SELECT machine_id FROM trial)";

double real_of(const SqlValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(&value);
    return real ? *real : 0;
}
std::string column_text(const SqlValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text ? *text : "";
}

}  // namespace

void write_archive(const fs::path& database, std::span<const std::string> cell_digests, const ArchivedFiles& files,
                   const fs::path& archive) {
    std::error_code error;
    if (fs::exists(archive, error))
        throw SpecError(
            fmt::format("--archive: {} is already there; give another name, or remove it", archive.string()));
    require_folder_of(archive, "--archive");
    // Complete under its own name, or not there.
    const fs::path draft = archive.string() + ".part";
    fs::remove(draft, error);
    try {
        copy_database(database, draft);
        {
            sqlite::Connection c(draft, sqlite::Access::read_write);
            c.execute("PRAGMA foreign_keys = ON; CREATE TEMP TABLE kept (id INTEGER PRIMARY KEY)",
                      "make an archive");
            auto keep = c.prepare("INSERT INTO temp.kept SELECT id FROM cell WHERE digest = ?", "choose cells");
            for (const std::string& digest : cell_digests) keep.run(digest);
            c.execute(left_out, "leave out what is no result");
            c.execute(of_cells, "leave out other cells");
            c.execute("CREATE TABLE archived (name TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT", "add files");
            auto add = c.prepare("INSERT INTO archived VALUES (?, ?)", "add a file");
            for (const auto& [name, content] : files) add.run(name, content);
        }
        sqlite::Connection c(draft, sqlite::Access::read_write);
        c.execute("PRAGMA journal_mode = DELETE; VACUUM", "write an archive");
    } catch (...) {
        fs::remove(draft, error);
        throw;
    }
    fs::rename(draft, archive);
}

ArchivedFiles archived_files(const fs::path& archive) {
    std::error_code error;
    const char* what = "expected an archive of `gnnbench export --archive`";
    if (!fs::is_regular_file(archive, error))
        throw SpecError(fmt::format("{}; there is no file {}", what, archive.string()));
    ArchivedFiles files;
    try {
        sqlite::Connection c(archive, sqlite::Access::read_only);
        if (c.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'archived'", "read an archive") != 1)
            throw SpecError(fmt::format("{}; {} is a results database: import it with `gnnbench results import`",
                                        what, archive.string()));
        auto rows = c.prepare("SELECT name, content FROM archived", "read an archive");
        while (rows.step()) files[rows.text(0)] = rows.text(1);
    } catch (const EnvironmentError& problem) {
        throw SpecError(fmt::format("{}; {} is none: {}", what, archive.string(), problem.what()));
    }
    return files;
}

std::map<std::string, CellOutcome> outcomes_on(const fs::path& database, const std::string& machine_fingerprint) {
    const std::vector<SqlValue> machine{machine_fingerprint};
    const QueryResult rows = query(
        database,
        "SELECT c.digest, sum(t.status = 'ok'), sum(t.status <> 'ok'), "
        "max(CASE WHEN t.status <> 'ok' THEN t.status END), median(CASE WHEN t.status = 'ok' THEN t.epoch_s END), "
        "median(CASE WHEN t.status = 'ok' THEN t.sent_bytes_per_epoch END), "
        "median(CASE WHEN t.status = 'ok' THEN t.final_loss END) "
        "FROM trial t JOIN cell c ON c.id = t.cell_id JOIN machine m ON m.id = t.machine_id "
        "WHERE t.purpose = 'measure' AND m.fingerprint = ?1 AND t.id IN (SELECT trial_id FROM counted_trials) "
        "GROUP BY c.digest",
        machine);
    std::map<std::string, CellOutcome> all;
    for (const SqlRow& r : rows.rows)
        all[column_text(r[0])] = {.ok = static_cast<std::int64_t>(real_of(r[1])),
                                  .other = static_cast<std::int64_t>(real_of(r[2])),
                                  .status = column_text(r[3]),
                                  .epoch_s = real_of(r[4]),
                                  .sent_bytes_per_epoch = real_of(r[5]),
                                  .final_loss = real_of(r[6]),
                                  .has_loss = !std::holds_alternative<std::monostate>(r[6])};
    return all;
}

std::optional<MeasuredOn> find_measured_on(const fs::path& database, std::span<const std::string> cell_digests,
                                           const std::string& fingerprint) {
    const std::vector<SqlValue> cells{
        nlohmann::json(std::vector<std::string>(cell_digests.begin(), cell_digests.end())).dump(), fingerprint};
    const QueryResult rows =
        query(database,
              "SELECT m.fingerprint, m.description, t.provenance, coalesce(t.device, ''), max(t.id), count(*) "
              "FROM trial t "
              "JOIN machine m ON m.id = t.machine_id JOIN cell c ON c.id = t.cell_id "
              "WHERE t.purpose = 'measure' AND t.status = 'ok' AND c.digest IN (SELECT value FROM json_each(?1)) "
              "AND (?2 = '' OR m.fingerprint = ?2) GROUP BY m.id ORDER BY count(*) DESC, max(t.id) DESC LIMIT 1",
              cells);
    if (rows.rows.empty()) return std::nullopt;
    const SqlRow& r = rows.rows.front();
    return MeasuredOn{column_text(r[0]), column_text(r[1]), column_text(r[2]), column_text(r[3])};
}

MeasuredOn measured_on(const fs::path& database, std::span<const std::string> cell_digests) {
    if (auto measured = find_measured_on(database, cell_digests, "")) return *std::move(measured);
    throw SpecError("there is no trial of this experiment that is ok; `gnnbench run` it first");
}

}  // namespace gnnbench
