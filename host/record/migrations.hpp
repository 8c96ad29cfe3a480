#pragma once
#include <filesystem>
#include <span>

#include "record/sqlite.hpp"

namespace gnnbench {

/// One file of schemas/results/, compiled in. The schema version is the number of those applied.
struct Migration {
    const char* name;  ///< NNNN_name
    const char* sql;
};
std::span<const Migration> shipped_migrations();

/// While it lives, others are the shipped ones: for tests of what happens to an older database.
class OtherMigrations {
public:
    explicit OtherMigrations(std::span<const Migration> migrations);
    ~OtherMigrations();
    OtherMigrations(const OtherMigrations&) = delete;
    OtherMigrations& operator=(const OtherMigrations&) = delete;

private:
    std::span<const Migration> before_;
};

/// SQLite's online backup: a consistent copy while others may read and write.
void copy_database(const std::filesystem::path& from, const std::filesystem::path& to);

/// Migrates the database to the newest schema. A database with results is copied first, to
/// `<database>.backup-v<version>`. Throws EnvironmentError for a file of another program or a newer schema.
void migrate(sqlite::Connection& connection, std::span<const Migration> migrations = shipped_migrations());

/// Throws SpecError where there is no such file.
void require_database(const std::filesystem::path& database);

/// For reading what the newest schema has: an older database is brought up to date first, as by migrate(). Throws
/// EnvironmentError where that is needed and the database cannot be written.
sqlite::Connection open_to_read(const std::filesystem::path& database);

}  // namespace gnnbench
