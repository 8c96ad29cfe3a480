#include "record/expression_guard.hpp"

#include <algorithm>

#include <sqlite3.h>

#include <fmt/format.h>

namespace gnnbench {
namespace {

/// The end of the quoted text or comment that begins at `at`: one past its last character; npos if it is not closed.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
    const char close = text[at] == '[' ? ']' : text[at];
    for (std::size_t i = at + 1; i < text.size(); ++i) {
        if (text[i] != close) continue;
        if (close == ']' || i + 1 == text.size() || text[i + 1] != close) return i + 1;
        ++i;  // a doubled quote stands for one
    }
    return std::string_view::npos;
}

std::size_t end_of_comment(std::string_view text, std::size_t at) {
    if (text[at] == '-') return std::min(text.find('\n', at), text.size());
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? end : end + 2;
}

}  // namespace

std::string why_no_expression(std::string_view text) {
    if (text.find_first_not_of(" \t\r\n") == text.npos) return "it is empty";
    int open = 0;
    for (std::size_t i = 0; i < text.size();) {
        const std::string_view two = text.substr(i, 2);
        const bool comment = two == "--" || two == "/*";
        if (comment || std::string_view("'\"`[").find(text[i]) != std::string_view::npos) {
            const std::size_t end = comment ? end_of_comment(text, i) : end_of_quoted(text, i);
            if (end == text.npos)
                return fmt::format("the {} at its character {} has no end", comment ? "comment" : "quote", i + 1);
            i = end;
            continue;
        }
        switch (text[i]) {
            case '(':
                ++open;
                break;
            case ')':
                if (--open < 0)
                    return fmt::format("it ends early, with a ')' at its character {} that nothing opened", i + 1);
                break;
            case ';':
            case '\0':
                return fmt::format("it ends early, at its character {}", i + 1);
            case '?':
            case ':':
            case '@':
            case '$':
            case '#':
                return fmt::format("'{}' at its character {} belongs to no expression", text[i], i + 1);
            default:
                break;
        }
        ++i;
    }
    return open > 0 ? "a '(' is not closed" : "";
}

TimeLimit::TimeLimit(sqlite3* connection, double seconds) : connection_(connection) {
    if (!(seconds > 0)) return;
    // A century is effectively for ever, and fits the clock.
    const std::chrono::duration<double> limit(std::min(seconds, 3e9));
    end_ =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(limit);
    constexpr int instructions = 10000;  // SQLite's, between two checks of the clock: well under a millisecond
    sqlite3_progress_handler(
        connection_, instructions,
        [](void* self) {
            auto* running = static_cast<TimeLimit*>(self);
            running->passed_ = running->passed_ || std::chrono::steady_clock::now() > running->end_;
            return running->passed_ ? 1 : 0;
        },
        this);
}

TimeLimit::~TimeLimit() { sqlite3_progress_handler(connection_, 0, nullptr, nullptr); }

ExpressionGuard::ExpressionGuard(sqlite3* connection, std::set<std::string> tables)
    : connection_(connection), tables_(std::move(tables)) {
    sqlite3_set_authorizer(connection_, authorize, this);
}

ExpressionGuard::~ExpressionGuard() { sqlite3_set_authorizer(connection_, nullptr, nullptr); }

int ExpressionGuard::authorize(void* self, int action, const char* first, const char* second, const char*,
                               const char*) {
    auto* guard = static_cast<ExpressionGuard*>(self);
    switch (action) {
        case SQLITE_SELECT:
            if (++guard->selects_ == 1) return SQLITE_OK;
            guard->refused_ = "a query inside it is refused; it may use the fields of one cell";
            return SQLITE_DENY;
        case SQLITE_READ:
            if (first && guard->tables_.contains(first)) return SQLITE_OK;
            guard->refused_ =
                fmt::format("it reads the table '{}'; it may use the fields of one cell", first ? first : "");
            return SQLITE_DENY;
        case SQLITE_FUNCTION:
            // %.*c counts to its precision, two thousand million, whatever the longest text may be: ten seconds in a single
            // call, which no time limit interrupts.
            if (second && (sqlite3_stricmp(second, "printf") == 0 || sqlite3_stricmp(second, "format") == 0)) {
                guard->refused_ = fmt::format("it calls {}(), which an expression over cells may not", second);
                return SQLITE_DENY;
            }
            return SQLITE_OK;
        default:
            guard->refused_ = "it does more than compare the fields of one cell";
            return SQLITE_DENY;
    }
}

}  // namespace gnnbench
