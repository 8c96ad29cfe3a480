#pragma once
#include <string_view>

namespace gnnbench {

/// How deep JSON from elsewhere may be nested. Ours is less than 10 deep; a parser's objects are printed and taken apart by
/// recursion, which some hundred thousand brackets would carry past the stack's end.
inline constexpr int deepest_json = 64;

/// Whether arrays and objects of `text` are nested deeper than `limit`. Counts brackets outside strings, so that it judges any
/// text, JSON or not, before a parser sees it.
bool nested_deeper(std::string_view text, int limit = deepest_json);

}  // namespace gnnbench
