#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gnnbench {

/// What the named groups of one match took; a group that took part without text is there, and empty.
using Match = std::map<std::string, std::string, std::less<>>;

/// Every match of a regular expression (Perl's syntax; ^ and $ stand at lines, "." is no line's end). Throws SpecError for an
/// expression that is none, EnvironmentError where matching takes too long.
std::vector<Match> matches_of(const std::string& pattern, const std::string& text);
bool is_found(const std::string& pattern, const std::string& text);
/// The whole line in which the first match begins; empty: there is none.
std::string line_found(const std::string& pattern, const std::string& text);
/// The text without what the pattern matches at its beginning.
std::string without_prefix(const std::string& pattern, const std::string& text);

/// Names of the groups of a pattern: "id" of "(?<id>[0-9]+)".
std::vector<std::string> group_names(std::string_view pattern);
/// Why a text is no pattern; empty: it is one.
std::string why_no_pattern(const std::string& pattern);

}  // namespace gnnbench
