#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

#include "record/query.hpp"

namespace gnnbench {
namespace {

struct ShippedQuery {
    const char* name;
    const char* sql;
};
constexpr ShippedQuery shipped[] = {
#include "embedded_queries.inc"
};

/// The text after `mark` on the line that begins with it; empty where there is none.
std::string comment(const std::string& sql, const std::string& mark) {
    const std::size_t at = sql.starts_with(mark) ? 0 : sql.find("\n" + mark);
    if (at == std::string::npos) return {};
    const std::size_t begin = sql.find(mark, at) + mark.size();
    return sql.substr(begin, sql.find('\n', begin) - begin);
}

}  // namespace

std::vector<NamedQuery> named_queries() {
    std::vector<NamedQuery> all;
    for (const ShippedQuery& q : shipped)
        all.push_back({q.name, comment(q.sql, "-- "), comment(q.sql, "-- argument: "), q.sql});
    return all;
}

NamedQuery named_query(const std::string& name) {
    std::vector<std::string> names;
    for (NamedQuery& q : named_queries()) {
        if (q.name == name) return q;
        names.push_back(q.name);
    }
    throw SpecError(fmt::format("there is no named query '{}'; there are: {}{}", name, fmt::join(names, ", "),
                                did_you_mean(name, names)));
}

}  // namespace gnnbench
