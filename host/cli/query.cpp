#include <iostream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "cli/formats.hpp"
#include "cli/options.hpp"
#include "cli/ranges.hpp"
#include "record/schema.hpp"
#include "report/rows.hpp"

namespace gnnbench {

namespace {

struct QueryWish {
    std::string text;  ///< SQL, or a named query's argument
    std::string name;
    bool list = false, schema = false;
    double timeout_s = 0;
};

QueryResult all_named() {
    QueryResult list{{"name", "argument", "answers"}, {}};
    for (const NamedQuery& q : named_queries()) list.rows.push_back({q.name, q.argument, q.summary});
    return list;
}

QueryResult answer(const QueryWish& wish, const GlobalOptions& options) {
    if (wish.list) return all_named();
    if (wish.schema) return schema(wish.text);
    if (wish.name.empty()) {
        if (wish.text.empty())
            throw SpecError("expected an SQL statement, --named NAME, --list or --schema; found none of them");
        return query(options.database, wish.text, {}, wish.timeout_s);
    }
    const NamedQuery named = named_query(wish.name);
    if (named.argument.empty() != wish.text.empty())
        throw SpecError(named.argument.empty()
                            ? fmt::format("the query '{}' takes no argument; found '{}'", named.name, wish.text)
                            : fmt::format("the query '{}' takes an argument: {}", named.name, named.argument));
    std::vector<SqlValue> arguments;
    if (!wish.text.empty()) arguments.emplace_back(wish.text);
    return query(options.database, named.sql, arguments, wish.timeout_s);
}

}  // namespace

void add_query(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand("query", "Query the results database in SQL, read-only");
    auto wish = std::make_shared<QueryWish>();
    command->add_option("sql", wish->text,
                        "\"SELECT … FROM …\". With --named its argument, with --schema a view or table");
    command->add_option("--named", wish->name, "A query that ships with the program; --list lists them")
        ->type_name("NAME");
    command->add_flag("--list", wish->list, "The named queries");
    command->add_option("--timeout", wish->timeout_s, "End the query after this many seconds (default: no limit)")
        ->type_name("SECONDS")
        ->check(above(0));
    command->add_flag("--schema", wish->schema, "The views and tables that there are, with their columns");
    const auto format = add_format_options(*command);
    command->callback([&options, &action, wish, format] {
        action = [&options, wish, format] {
            std::cout << render_rows(answer(*wish, options), *format);
            return exit_ok;
        };
    });
}

}  // namespace gnnbench
