#pragma once
/// SQLite handles as move-only types; every call is checked where it is made. Only record/ uses them.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "record/query.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace gnnbench::sqlite {

/// Quoted as an SQL name, whatever it contains: a database may come from a stranger.
std::string in_quotes(std::string_view name);

/// A file's URI, with SQLite's options behind it: "?mode=ro".
std::string uri_of(const std::filesystem::path& path, std::string_view options);

enum class Type { null, integer, real, text };

/// One prepared statement. Parameters are bound in order, from 1; columns are read from 0.
class Statement {
public:
    /// `doing` completes "cannot … in <file>": "store an epoch".
    Statement(sqlite3* connection, std::string_view sql, const char* doing);

    /// Binds all parameters and runs to the end; for statements without rows.
    template <class... Values>
    void run(const Values&... values) {
        bind(values...);
        while (step()) {
        }
    }
    /// Binds all parameters; rows follow from step().
    template <class... Values>
    void bind(const Values&... values) {
        reset();
        int i = 0;
        (bind_one(++i, values), ...);
    }
    /// Binds parameter i, counted from 1; the others keep what they have.
    void bind_value(int i, const SqlValue& v);
    /// True while there is a row to read; the statement is reset after the last.
    bool step();
    /// Must be called if step() is not called until it returns false; otherwise the read transaction stays open.
    void reset();

    int columns() const;
    std::string column_name(int c) const;
    Type type(int c) const;
    bool is_null(int c) const { return type(c) == Type::null; }
    std::int64_t integer(int c) const;
    double real(int c) const;
    std::string text(int c) const;
    SqlValue value(int c) const;
    std::optional<double> maybe_real(int c) const;
    std::optional<std::int64_t> maybe_integer(int c) const;

private:
    struct Finalize {
        void operator()(sqlite3_stmt* s) const;
    };
    void bind_one(int i, std::nullptr_t);
    void bind_one(int i, double v);
    void bind_one(int i, std::string_view v);
    void bind_integer(int i, std::int64_t v);
    template <class T>
        requires std::is_integral_v<T>
    void bind_one(int i, T v) {
        bind_integer(i, static_cast<std::int64_t>(v));
    }
    void bind_one(int i, const std::string& v) { bind_one(i, std::string_view(v)); }
    void bind_one(int i, const char* v) { bind_one(i, std::string_view(v)); }
    template <class T>
    void bind_one(int i, const std::optional<T>& v) {
        if (v)
            bind_one(i, *v);
        else
            bind_one(i, nullptr);
    }
    void check(int code) const;

    std::unique_ptr<sqlite3_stmt, Finalize> handle_;
    const char* doing_;
};

enum class Access {
    read_write,  ///< created if it does not exist
    read_only    ///< SQLite refuses every write, ATTACH included
};

class Connection {
public:
    Connection(const std::filesystem::path& path, Access access);
    /// A private in-memory database that ends with the connection.
    static Connection in_memory();

    void execute(const std::string& sql, const char* doing);
    Statement prepare(std::string_view sql, const char* doing) const { return {handle_.get(), sql, doing}; }
    /// First column of the first row.
    std::int64_t integer(std::string_view sql, const char* doing) const;
    /// Rows that the last statement changed.
    std::int64_t changes() const;
    const std::filesystem::path& path() const { return path_; }
    sqlite3* handle() const { return handle_.get(); }

private:
    Connection() = default;
    struct Close {
        void operator()(sqlite3* c) const;
    };
    void open(const std::string& uri, Access access);
    std::filesystem::path path_;
    std::unique_ptr<sqlite3, Close> handle_;
};

/// BEGIN IMMEDIATE: waits its turn to write; rolled back unless committed.
class Transaction {
public:
    explicit Transaction(Connection& connection);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

private:
    Connection* connection_;
    bool open_ = true;
};

/// Throws the error type for `code`: EnvironmentError if the file or the disk is at fault, SpecError
/// if the SQL is.
[[noreturn]] void fail(sqlite3* connection, int code, const char* doing);

}  // namespace gnnbench::sqlite
