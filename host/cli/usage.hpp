#pragma once
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace gnnbench {

/// The command that the words name, as far as they name one: "dataset", then "list". The program itself where the first
/// word is none.
const CLI::App& command_of(const CLI::App& app, const std::vector<std::string>& words);

/// A command as it is typed: "gnnbench dataset list".
std::string typed_name(const CLI::App& command);

/// Refuses a command or option that does not exist, naming the nearest one or where it belongs, by a SpecError:
/// "gnnbench run has no option --epochs; epochs is a key of the experiment: use --set epochs=5". `words`: the command
/// line without the program.
void check_words(const CLI::App& app, const std::vector<std::string>& words);

/// CLI11's message about a command line, in our words.
std::string usage_message(const CLI::App& app, const std::vector<std::string>& words,
                          const CLI::ParseError& error);

}  // namespace gnnbench
