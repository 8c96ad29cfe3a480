#pragma once
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace gnnbench {

// What an option's value may be, with messages as a person writes them: "expected a number between 0 and 1; found '3'".

CLI::Validator at_least(double least);
CLI::Validator above(double bound);
CLI::Validator above(double bound, double most);
CLI::Validator between(double least, double most);
/// "expected one of svg, png, pdf; found 'pgn'; did you mean 'png'?"
CLI::Validator one_of(std::vector<std::string> words);
/// The words of an option with that check; none of others.
std::vector<std::string> words_of(const CLI::Option& option);

}  // namespace gnnbench
