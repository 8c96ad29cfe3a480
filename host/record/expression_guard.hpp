#pragma once
#include <chrono>
#include <set>
#include <string>
#include <string_view>

struct sqlite3;

namespace gnnbench {

/// Why `text` cannot be a single SQL expression: it closes a parenthesis or a quote that it did not open, leaves one
/// open, ends the statement, or refers to a bound value. Empty if it can; SQLite then checks the rest.
std::string why_no_expression(std::string_view text);

/// While it lives, ends statements on a connection that exceed a time limit. One at a time for each connection.
class TimeLimit {
public:
    /// `seconds` ≤ 0: none.
    TimeLimit(sqlite3* connection, double seconds);
    TimeLimit(const TimeLimit&) = delete;
    ~TimeLimit();
    bool passed() const { return passed_; }

private:
    sqlite3* connection_;
    std::chrono::steady_clock::time_point end_;
    bool passed_ = false;
};

/// While it lives, statements on a connection may read the named tables and call functions other than printf, and
/// nothing else: no subquery, no second SELECT, no other table. An experiment may come from a stranger.
class ExpressionGuard {
public:
    ExpressionGuard(sqlite3* connection, std::set<std::string> tables);
    ExpressionGuard(const ExpressionGuard&) = delete;
    ~ExpressionGuard();
    /// What was refused last; empty: nothing.
    const std::string& refused() const { return refused_; }

private:
    static int authorize(void* self, int action, const char* first, const char* second, const char*, const char*);

    sqlite3* connection_;
    std::set<std::string> tables_;
    int selects_ = 0;
    std::string refused_;
};

}  // namespace gnnbench
