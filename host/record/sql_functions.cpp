#include "record/sql_functions.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

#include "record/sqlite.hpp"

namespace gnnbench::sqlite {
namespace {

enum class Statistic { median, percentile, stddev };
constexpr std::array statistics{Statistic::median, Statistic::percentile, Statistic::stddev};

const char* name_of(Statistic s) {
    switch (s) {
        case Statistic::median:
            return "median";
        case Statistic::percentile:
            return "percentile";
        case Statistic::stddev:
            return "stddev";
    }
    return "";
}

Statistic statistic_of(sqlite3_context* context) { return *static_cast<Statistic*>(sqlite3_user_data(context)); }

/// The numbers of a group or a window, in no order.
struct Numbers {
    std::vector<double> values;
    std::optional<double> percent;
};

/// The numbers of SQLite's current group. SQLite owns the pointer to them, and finish() what it points to. nullptr: out
/// of memory or, without `make`, no row yet.
Numbers* numbers_of(sqlite3_context* context, bool make) {
    auto** held = static_cast<Numbers**>(sqlite3_aggregate_context(context, make ? sizeof(Numbers*) : 0));
    if (!held) return nullptr;
    if (!*held && make) *held = new (std::nothrow) Numbers;
    return *held;
}

void refuse(sqlite3_context* context, sqlite3_value* value, const char* what) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    const std::string message = fmt::format("{}(): expected {}; found {}", name_of(statistic_of(context)), what,
                                            text ? "'" + std::string(text).substr(0, 40) + "'" : "NULL");
    sqlite3_result_error(context, message.c_str(), -1);
}

bool is_number(sqlite3_value* value) {
    const int type = sqlite3_value_numeric_type(value);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/// One percentage for all rows.
bool takes_percent(sqlite3_context* context, Numbers& numbers, sqlite3_value* given) {
    const double percent = sqlite3_value_double(given);
    if (!is_number(given) || !(percent >= 0 && percent <= 100))
        return refuse(context, given, "a percentage from 0 to 100"), false;
    if (numbers.percent && *numbers.percent != percent)
        return refuse(context, given, "the same percentage in every row"), false;
    numbers.percent = percent;
    return true;
}

void step(sqlite3_context* context, int count, sqlite3_value** given) {
    Numbers* numbers = numbers_of(context, true);
    if (!numbers) return sqlite3_result_error_nomem(context);
    if (count > 1 && !takes_percent(context, *numbers, given[1])) return;
    if (sqlite3_value_type(given[0]) == SQLITE_NULL) return;
    if (!is_number(given[0])) return refuse(context, given[0], "numbers");
    try {
        numbers->values.push_back(sqlite3_value_double(given[0]));
    } catch (const std::bad_alloc&) {
        sqlite3_result_error_nomem(context);
    }
}

/// A row leaves the window.
void leave(sqlite3_context* context, int, sqlite3_value** given) {
    Numbers* numbers = numbers_of(context, false);
    if (!numbers || sqlite3_value_type(given[0]) == SQLITE_NULL) return;
    const auto found = std::ranges::find(numbers->values, sqlite3_value_double(given[0]));
    if (found == numbers->values.end()) return;
    *found = numbers->values.back();
    numbers->values.pop_back();
}

/// Between the two nearest of at least one number.
double quantile(std::span<double> values, double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::ptrdiff_t>(std::floor(place));
    std::nth_element(values.begin(), values.begin() + low, values.end());
    const double below = values[usize(low)], part = place - std::floor(place);
    if (part == 0) return below;
    const double above = *std::min_element(values.begin() + low + 1, values.end());
    return below + part * (above - below);
}

double standard_deviation(std::span<const double> values) {
    double mean = 0, squares = 0;
    for (const double v : values) mean += v / static_cast<double>(values.size());
    for (const double v : values) squares += (v - mean) * (v - mean);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

void answer(sqlite3_context* context) {
    Numbers* numbers = numbers_of(context, false);
    const Statistic statistic = statistic_of(context);
    if (!numbers || numbers->values.size() < (statistic == Statistic::stddev ? 2u : 1u))
        return sqlite3_result_null(context);
    if (statistic == Statistic::stddev) return sqlite3_result_double(context, standard_deviation(numbers->values));
    const double share = statistic == Statistic::median ? 0.5 : numbers->percent.value_or(50) / 100;
    sqlite3_result_double(context, quantile(numbers->values, share));
}

void finish(sqlite3_context* context) {
    answer(context);
    if (auto** held = static_cast<Numbers**>(sqlite3_aggregate_context(context, 0))) {
        delete *held;  // NOLINT(cppcoreguidelines-owning-memory): C keeps it between the rows
        *held = nullptr;
    }
}

}  // namespace

void add_statistics(sqlite3* connection) {
    for (const Statistic& s : statistics) {
        const int code = sqlite3_create_window_function(
            connection, name_of(s), s == Statistic::percentile ? 2 : 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
            const_cast<Statistic*>(&s), step, finish, answer, leave, nullptr);  // NOLINT: it is only read
        if (code != SQLITE_OK) fail(connection, code, "add the functions of statistics");
    }
}

}  // namespace gnnbench::sqlite
