#include "record/migrations.hpp"

#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "core/draft_file.hpp"

namespace gnnbench {
namespace {

constexpr Migration shipped_in_order[] = {
#include "embedded_migrations.inc"
};
std::span<const Migration> in_use = shipped_in_order;

/// "gnnb": the application id by which `file` and gnnbench recognise a database; and that of gnnbench 0.1, whose eighteen
/// migrations ended before the first of today's.
constexpr std::int64_t application_id = 0x676e6e62, application_id_0_1 = 0x474e4e42;

std::int64_t version_of(const sqlite::Connection& c) {
    return c.integer("PRAGMA user_version", "read the schema version");
}

void check_ours(const sqlite::Connection& c, std::int64_t version, std::int64_t newest) {
    const std::int64_t tables = c.integer("SELECT count(*) FROM sqlite_schema", "read");
    const std::int64_t id = c.integer("PRAGMA application_id", "read");
    if (tables > 0 && id == application_id_0_1)
        throw EnvironmentError(fmt::format(
            "{} holds results of gnnbench 0.1, which this version does not read. Keep that version for "
            "them, and name another database with --database.",
            c.path().string()));
    if (tables > 0 && id != application_id)
        throw EnvironmentError(
            fmt::format("{} is an SQLite database of another program, not of gnnbench. Name "
                        "another database with --database.",
                        c.path().string()));
    if (version > newest)
        throw EnvironmentError(
            fmt::format("the database {} has schema version {}, written by a newer gnnbench; this one knows "
                        "versions up to {}. "
                        "Use the newer gnnbench, or name another database with --database.",
                        c.path().string(), version, newest));
}

/// SQLite's online backup: a consistent copy while others may read. It has its name once it is complete, and the
/// database's mode. The caller holds the write lock, so drafts that are there are of killed migrations.
void back_up(sqlite::Connection& from, std::int64_t version) {
    const std::string first = fmt::format("{}.backup-v{}", from.path().string(), version);
    std::filesystem::path path = first;
    for (int n = 2; std::filesystem::exists(path); ++n) {
        remove_left_drafts(path);
        path = fmt::format("{}-{}", first, n);
    }
    remove_left_drafts(path);
    DraftFile draft(path, from.path());
    copy_database(from.path(), draft.path());
    draft.publish();
}

}  // namespace

void copy_database(const std::filesystem::path& from, const std::filesystem::path& to) {
    // A connection of its own reads what was committed, though another may hold the write lock.
    sqlite::Connection source(from, sqlite::Access::read_only);
    sqlite::Connection copy(to, sqlite::Access::read_write);
    struct Finish {
        void operator()(sqlite3_backup* b) const { sqlite3_backup_finish(b); }
    };
    const char* doing = "copy a database of an older schema";
    std::unique_ptr<sqlite3_backup, Finish> backup(
        sqlite3_backup_init(copy.handle(), "main", source.handle(), "main"));
    if (!backup) sqlite::fail(copy.handle(), sqlite3_errcode(copy.handle()), doing);
    const int code = sqlite3_backup_step(backup.get(), -1);
    if (code != SQLITE_DONE) sqlite::fail(copy.handle(), code, doing);
}

std::span<const Migration> shipped_migrations() { return in_use; }

OtherMigrations::OtherMigrations(std::span<const Migration> migrations)
    : before_(std::exchange(in_use, migrations)) {}
OtherMigrations::~OtherMigrations() { in_use = before_; }

void migrate(sqlite::Connection& connection, std::span<const Migration> migrations) {
    const auto newest = static_cast<std::int64_t>(migrations.size());
    std::int64_t version = version_of(connection);
    check_ours(connection, version, newest);
    if (version == newest) return;
    sqlite::Transaction transaction(connection);
    version = version_of(connection);  // another process may have migrated it first
    check_ours(connection, version, newest);
    if (version == newest) return;
    if (version > 0) back_up(connection, version);
    for (; version < newest; ++version) {
        const Migration& next = migrations[usize(version)];
        connection.execute(next.sql, fmt::format("apply the migration {}", next.name).c_str());
    }
    connection.execute(
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application_id, version),
        "write the schema version");
    transaction.commit();
}

void require_database(const std::filesystem::path& database) {
    std::error_code error;
    if (!std::filesystem::exists(database, error))
        throw SpecError(
            fmt::format("there is no database {}. `gnnbench run` creates it; name another with --database.",
                        database.string()));
}

sqlite::Connection open_to_read(const std::filesystem::path& database) {
    require_database(database);
    sqlite::Connection c(database, sqlite::Access::read_only);
    const std::int64_t version = version_of(c), newest = std::ssize(in_use);
    check_ours(c, version, newest);
    if (version == newest) return c;
    sqlite::Connection older(database, sqlite::Access::read_write);
    older.execute("PRAGMA foreign_keys = ON", "set up the connection");
    migrate(older);
    return {database, sqlite::Access::read_only};
}

}  // namespace gnnbench
