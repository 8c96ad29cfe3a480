#include "record/sqlite.hpp"

#include <sqlite3.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::sqlite {
namespace {

/// How long a writer waits for the others.
constexpr int busy_ms = 60000;

const char* advice(int code) {
    switch (code & 0xff) {
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_AUTH:
            return "Make the file and its folder writable, or name another database with --database.";
        case SQLITE_CANTOPEN:
            return "Check that the folder exists and that you may write to it (SQLite keeps files beside the "
                   "database), or name another database with --database.";
        case SQLITE_FULL:
            return "Free space on that disk, or raise the limit on a file's size (ulimit -f), and run again: what "
                   "is recorded "
                   "so far is kept.";
        case SQLITE_IOERR:
            return "Check the disk (is it full?) and the limit on a file's size (ulimit -f), and run again: what "
                   "is recorded so "
                   "far is kept.";
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return "Another process has locked it for a minute; end that process, or wait, and run again.";
        case SQLITE_NOTADB:
        case SQLITE_CORRUPT:
            return "Move the file away, or name another database with --database.";
        default:
            return nullptr;
    }
}

}  // namespace

std::string in_quotes(std::string_view name) {
    std::string quoted = "\"";
    for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

std::string uri_of(const std::filesystem::path& path, std::string_view options) {
    std::string uri = "file:";
    for (const char c : std::filesystem::absolute(path).string()) {
        if (c == '?' || c == '#' || c == '%')
            uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        else
            uri += c;
    }
    return uri + std::string(options);
}

void fail(sqlite3* connection, int code, const char* doing) {
    const char* file = connection ? sqlite3_db_filename(connection, "main") : nullptr;
    const char* cause = connection ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
    const std::string where = fmt::format("the database {}", file && *file ? file : "(in memory)");
    const char* what_to_do = advice(code);
    // On a read-only connection, a refused write is the caller's fault, not the environment's.
    if (what_to_do && !(connection && (code & 0xff) == SQLITE_READONLY &&
                        sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, -1) == 0))
        throw EnvironmentError(fmt::format("cannot {} in {}: {}. {}", doing, where, cause, what_to_do));
    throw SpecError(fmt::format("cannot {} in {}: {}.", doing, where, cause));
}

Statement::Statement(sqlite3* connection, std::string_view sql, const char* doing) : doing_(doing) {
    sqlite3_stmt* raw = nullptr;
    const int code = sqlite3_prepare_v2(connection, sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
    if (code != SQLITE_OK) fail(connection, code, doing);
    handle_.reset(raw);
}

void Statement::Finalize::operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }

void Statement::check(int code) const {
    if (code != SQLITE_OK) fail(sqlite3_db_handle(handle_.get()), code, doing_);
}

bool Statement::step() {
    const int code = sqlite3_step(handle_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) {
        reset();
        return false;
    }
    fail(sqlite3_db_handle(handle_.get()), code, doing_);
}

// sqlite3_reset repeats the error of the last step, which step() has thrown already.
void Statement::reset() { sqlite3_reset(handle_.get()); }

void Statement::bind_one(int i, std::nullptr_t) { check(sqlite3_bind_null(handle_.get(), i)); }
void Statement::bind_one(int i, double v) { check(sqlite3_bind_double(handle_.get(), i, v)); }
void Statement::bind_one(int i, std::string_view v) {
    check(
        sqlite3_bind_text64(handle_.get(), i, v.data() ? v.data() : "", v.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}
void Statement::bind_integer(int i, std::int64_t v) { check(sqlite3_bind_int64(handle_.get(), i, v)); }

void Statement::bind_value(int i, const SqlValue& v) {
    if (const auto* integer = std::get_if<std::int64_t>(&v))
        bind_integer(i, *integer);
    else if (const auto* real = std::get_if<double>(&v))
        bind_one(i, *real);
    else if (const auto* text = std::get_if<std::string>(&v))
        bind_one(i, std::string_view(*text));
    else
        bind_one(i, nullptr);
}

int Statement::columns() const { return sqlite3_column_count(handle_.get()); }
std::string Statement::column_name(int c) const { return sqlite3_column_name(handle_.get(), c); }
Type Statement::type(int c) const {
    switch (sqlite3_column_type(handle_.get(), c)) {
        case SQLITE_NULL:
            return Type::null;
        case SQLITE_INTEGER:
            return Type::integer;
        case SQLITE_FLOAT:
            return Type::real;
        default:
            return Type::text;
    }
}
std::int64_t Statement::integer(int c) const { return sqlite3_column_int64(handle_.get(), c); }
double Statement::real(int c) const { return sqlite3_column_double(handle_.get(), c); }
std::string Statement::text(int c) const {
    const void* bytes = sqlite3_column_blob(handle_.get(), c);
    const int size = sqlite3_column_bytes(handle_.get(), c);
    return bytes ? std::string(static_cast<const char*>(bytes), usize(size)) : std::string();
}
SqlValue Statement::value(int c) const {
    switch (type(c)) {
        case Type::null:
            return std::monostate{};
        case Type::integer:
            return integer(c);
        case Type::real:
            return real(c);
        case Type::text:
            return text(c);
    }
    return std::monostate{};
}
std::optional<double> Statement::maybe_real(int c) const {
    return is_null(c) ? std::nullopt : std::optional(real(c));
}
std::optional<std::int64_t> Statement::maybe_integer(int c) const {
    return is_null(c) ? std::nullopt : std::optional(integer(c));
}

Connection::Connection(const std::filesystem::path& path, Access access) : path_(path) {
    open(uri_of(path, ""), access);
    if (access == Access::read_write) return;
    // In a read-only folder SQLite cannot create its own files; if no writer has left
    // any beside the database, it can be read as it is.
    sqlite3_stmt* raw = nullptr;
    const int code = sqlite3_prepare_v2(handle_.get(), "SELECT count(*) FROM sqlite_schema", -1, &raw, nullptr);
    sqlite3_finalize(raw);
    std::error_code none;
    const std::filesystem::path log = path.string() + "-wal";
    const bool written_beside = std::filesystem::exists(log, none) && std::filesystem::file_size(log, none) > 0;
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_NOTADB && !written_beside)
        open(uri_of(path, "?immutable=1"), access);
    else if (code != SQLITE_OK)
        fail(handle_.get(), code, "read");
    sqlite3_limit(handle_.get(), SQLITE_LIMIT_ATTACHED,
                  0);  // no other database can be attached to it
    execute("PRAGMA query_only = ON", "forbid writing");
}

Connection Connection::in_memory() {
    Connection c;
    c.path_ = ":memory:";
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    c.handle_.reset(raw);
    if (code != SQLITE_OK) fail(raw, code, "make a database");
    sqlite3_limit(raw, SQLITE_LIMIT_ATTACHED, 0);
    return c;
}

void Connection::open(const std::string& uri, Access access) {
    const int flags = SQLITE_OPEN_URI | (access == Access::read_write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                                      : SQLITE_OPEN_READONLY);
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(uri.c_str(), &raw, flags, nullptr);
    handle_.reset(raw);
    if (code != SQLITE_OK) {
        const char* cause = raw ? sqlite3_errmsg(raw) : sqlite3_errstr(code);
        const char* what_to_do = advice(code);
        throw EnvironmentError(fmt::format("cannot open the database {}: {}. {}", path_.string(), cause,
                                           what_to_do ? what_to_do : ""));
    }
    if (access == Access::read_write && sqlite3_db_readonly(raw, "main") == 1)
        throw EnvironmentError(fmt::format("cannot write to the database {}: the file is read-only. {}",
                                           path_.string(), advice(SQLITE_READONLY)));
    sqlite3_extended_result_codes(raw, 1);
    sqlite3_busy_timeout(raw, busy_ms);
}

void Connection::Close::operator()(sqlite3* c) const { sqlite3_close_v2(c); }

void Connection::execute(const std::string& sql, const char* doing) {
    const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(handle_.get(), code, doing);
}

std::int64_t Connection::integer(std::string_view sql, const char* doing) const {
    Statement s = prepare(sql, doing);
    return s.step() ? s.integer(0) : 0;
}

std::int64_t Connection::changes() const { return sqlite3_changes64(handle_.get()); }

Transaction::Transaction(Connection& connection) : connection_(&connection) {
    connection_->execute("BEGIN IMMEDIATE", "begin to write");
}

Transaction::~Transaction() {
    // After some errors SQLite has already rolled back; a second rollback then only reports that.
    if (open_) sqlite3_exec(connection_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
    connection_->execute("COMMIT", "commit what was written");
    open_ = false;
}

}  // namespace gnnbench::sqlite
