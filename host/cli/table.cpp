#include <filesystem>
#include <iostream>

#include <gnnbench/error.hpp>

#include "cli/formats.hpp"
#include "cli/options.hpp"
#include "cli/prepare.hpp"
#include "record/query.hpp"
#include "report/table.hpp"

namespace gnnbench {

namespace {

std::string measured_last(const std::filesystem::path& database) {
    const QueryResult found = query(database,
                                    "SELECT e.name FROM trial t JOIN experiment e ON e.id = t.experiment_id "
                                    "ORDER BY t.id DESC LIMIT 1");
    if (found.rows.empty())
        throw SpecError("'" + database.string() + "' holds no trials yet; gnnbench run makes some");
    return std::get<std::string>(found.rows[0][0]);
}

}  // namespace

std::string experiment_name(const std::string& given, const GlobalOptions& options) {
    if (given.empty()) return measured_last(options.database);
    if (!std::filesystem::is_regular_file(given)) return given;
    return load({.file = given, .overrides = {}}, Catalog::at(options.data_dir), InstalledPlugins()).name;
}

void add_table(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand("table", "Print an experiment's comparison");
    auto experiment = std::make_shared<std::string>();
    command->add_option("experiment", *experiment, "Its name or its file (default: the one measured last)");
    const auto format = add_format_options(*command);
    command->callback([&options, &action, experiment, format] {
        action = [&options, experiment, format] {
            const ComparisonData data = read_comparison(options.database, experiment_name(*experiment, options));
            std::cout << render_comparison(data, *format);
            return exit_ok;
        };
    });
}

}  // namespace gnnbench
