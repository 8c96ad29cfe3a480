#include <iostream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "cli/experiment_options.hpp"
#include "cli/formats.hpp"
#include "cli/options.hpp"
#include "cli/ranges.hpp"
#include "record/choice.hpp"
#include "record/query_hints.hpp"
#include "record/schema.hpp"
#include "report/rows.hpp"

namespace gnnbench {

namespace {

struct QueryRequest {
    std::string text;  ///< SQL, or a named query's argument
    std::string name, where;
    bool list = false, schema = false;
    double timeout_s = 0;
};

QueryResult all_named() {
    QueryResult list{{"name", "argument", "answers"}, {}};
    for (const NamedQuery& q : named_queries()) list.rows.push_back({q.name, q.argument, q.summary});
    return list;
}

QueryResult answer(const QueryRequest& request, const GlobalOptions& options) {
    if (request.list) return all_named();
    if (request.schema) return schema(request.text);
    if (request.name.empty()) {
        if (request.text.empty())
            throw SpecError("expected an SQL statement, --named NAME, --list or --schema; found none of them");
        QueryResult found = query(options.database, request.text, {}, request.timeout_s, request.where);
        if (averages_verifications(options.database, request.text))
            std::cerr << "gnnbench: hint: rows of verifications are among those averaged; WHERE purpose = "
                         "'measure' leaves "
                         "them out\n";
        return found;
    }
    const NamedQuery named = named_query(request.name);
    if (named.argument.empty() != request.text.empty())
        throw SpecError(named.argument.empty()
                            ? fmt::format("the query '{}' takes no argument; found '{}'", named.name, request.text)
                            : fmt::format("the query '{}' takes an argument: {}", named.name, named.argument));
    std::vector<SqlValue> arguments;
    if (named.argument.starts_with("TRIAL"))
        arguments.emplace_back(whole_uuid(options.database, request.text));
    else if (!request.text.empty())
        arguments.emplace_back(request.text);
    return query(options.database, named.sql, arguments, request.timeout_s, request.where);
}

}  // namespace

void add_query(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand("query", "Query the results database in SQL, read-only");
    auto request = std::make_shared<QueryRequest>();
    command
        ->add_option("sql", request->text,
                     "\"SELECT … FROM …\". With --named its argument, with --schema a view or table")
        ->type_name("SQL");
    command->add_option("--named", request->name, "A query that ships with the program; --list lists them")
        ->type_name("QUERY");
    add_where_option(*command, request->where);
    command->add_flag("--list", request->list, "The named queries");
    command
        ->add_option("--timeout", request->timeout_s, "End the query after this many seconds (default: no limit)")
        ->type_name("SECONDS")
        ->check(above(0));
    command->add_flag("--schema", request->schema, "The views and tables that there are, with their columns");
    const auto format = add_format_options(*command);
    command->callback([&options, &action, request, format] {
        action = [&options, request, format] {
            std::cout << render_rows(answer(*request, options), *format);
            return exit_ok;
        };
    });
}

}  // namespace gnnbench
