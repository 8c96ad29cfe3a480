#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "launch/declaration.hpp"

namespace gnnbench {

/// What placeholders stand for. `{options}` alone in an entry becomes all its words; an unknown name has no entry.
using Values = std::map<std::string, std::vector<std::string>, std::less<>>;

/// A placeholder in a text: {name}, or {name|what stands there where the name has no value}. {env.NAME} is a variable of
/// this process. Other braces stay as they are.
struct Placeholder {
    std::size_t at = 0, length = 0;
    std::string name, fallback;
    bool has_fallback = false;
};
std::vector<Placeholder> placeholders_in(std::string_view text);

/// The words of a command. An entry with a placeholder that has neither value nor fallback is left out, and so is an
/// empty word that a placeholder made.
std::vector<std::string> filled(const WordsTemplate& words, const Values& values);
/// One text; placeholders without a value become nothing.
std::string filled_text(const std::string& text, const Values& values);
/// Whether any of the words has this placeholder.
bool mentions(const WordsTemplate& words, std::string_view name);

}  // namespace gnnbench
