#pragma once
#include <memory>

#include <CLI/CLI.hpp>

#include "report/format.hpp"

namespace gnnbench {

/// Adds --format and, for short, --markdown, --csv and --json to a command that prints a table; text without them.
inline std::shared_ptr<OutputFormat> add_format_options(CLI::App& command) {
    auto format = std::make_shared<OutputFormat>(OutputFormat::text);
    command
        .add_option_function<std::string>(
            "--format", [format](const std::string& name) { *format = output_format(name); },
            "text (default), markdown, latex, html, csv or json")
        ->type_name("FORMAT");
    command.add_flag_callback("--markdown", [format] { *format = OutputFormat::markdown; }, "As Markdown");
    command.add_flag_callback("--csv", [format] { *format = OutputFormat::csv; }, "As CSV");
    command.add_flag_callback("--json", [format] { *format = OutputFormat::json; }, "As JSON");
    return format;
}

}  // namespace gnnbench
