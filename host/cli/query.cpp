#include <iostream>

#include "cli/formats.hpp"
#include "cli/options.hpp"
#include "report/rows.hpp"

namespace gnnbench {

void add_query(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand("query", "Ask the results database in SQL; nothing can be changed");
    auto sql = std::make_shared<std::string>();
    command->add_option("sql", *sql, "\"SELECT … FROM …\"; what there is: \"SELECT name, sql FROM sqlite_schema\"")
        ->required();
    const auto format = add_format_options(*command);
    command->callback([&options, &action, sql, format] {
        action = [&options, sql, format] {
            std::cout << render_rows(query(options.database, *sql), *format);
            return exit_ok;
        };
    });
}

}  // namespace gnnbench
