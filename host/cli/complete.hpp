#pragma once
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace gnnbench {

/// A line for each word that may stand where the last of `words` stands, and begins as that does; ":files" where file
/// names may. `words`: the command line without the program; the last is the one being typed, perhaps empty. What every
/// shell's completion script calls, as `gnnbench __complete WORDS`. Never fails: what cannot be read is left out.
std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words);
/// Whether words may be offered for the option's values, as its type or its check says.
bool has_completion(const CLI::Option& option);

void print_completions(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace gnnbench
