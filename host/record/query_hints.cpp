#include "record/query_hints.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include <gnnbench/error.hpp>

#include "record/query.hpp"
#include "record/sql_functions.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {
namespace {

constexpr std::array averages{"avg", "sum", "total", "median", "percentile", "stddev"};
/// Views and tables with rows of verifications, and those that have none, whose rows choose among the others'.
constexpr std::array of_any_trial{"trials",     "epochs",      "phases",    "volumes", "spans",
                                  "setups",     "trial",       "epoch",     "span",    "rank_epoch",
                                  "rank_phase", "rank_volume", "trial_rank"};
constexpr std::array of_measured_trials{"latest", "counted_trials", "cell_times", "speed_ups", "compared_trials"};

/// What a statement itself asks for, apart from what views ask for in turn.
class Asked {
public:
    explicit Asked(const sqlite::Connection& connection) : connection_(connection.handle()) {
        auto q = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'", "list views");
        while (q.step()) views_.insert(q.text(0));
        sqlite3_set_authorizer(connection_, note, this);
    }
    ~Asked() { sqlite3_set_authorizer(connection_, nullptr, nullptr); }
    Asked(const Asked&) = delete;

    bool calls_any(std::span<const char* const> names) const { return any(functions_, names); }
    bool reads_any(std::span<const char* const> names) const { return any(tables_, names); }
    bool reads_column(const char* name) const { return columns_.contains(name); }

private:
    static bool any(const std::set<std::string>& in, std::span<const char* const> names) {
        return std::ranges::any_of(names, [&](const char* name) { return in.contains(name); });
    }
    static std::string lower(const char* text) {
        std::string name = text ? text : "";
        for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        return name;
    }
    static int note(void* self, int action, const char* first, const char* second, const char*,
                    const char* within) {
        auto* asked = static_cast<Asked*>(self);
        if (within && asked->views_.contains(within)) return SQLITE_OK;  // else a name that the statement gives
        if (action == SQLITE_FUNCTION) asked->functions_.insert(lower(second));
        if (action == SQLITE_READ) asked->tables_.insert(lower(first)), asked->columns_.insert(lower(second));
        return SQLITE_OK;
    }

    sqlite3* connection_;
    std::set<std::string> views_, functions_, tables_, columns_;
};

}  // namespace

bool averages_verifications(const std::filesystem::path& database, const std::string& sql) {
    try {
        const sqlite::Connection connection(database, sqlite::Access::read_only);
        sqlite::add_statistics(connection.handle());
        const Asked asked(connection);
        connection.prepare(sql, "look at the query");
        if (!asked.calls_any(averages) || asked.reads_column("purpose") || asked.reads_any(of_measured_trials) ||
            !asked.reads_any(of_any_trial))
            return false;
        return connection.integer("SELECT EXISTS (SELECT 1 FROM trial WHERE purpose <> 'measure')",
                                  "look for verifications") != 0;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace gnnbench
