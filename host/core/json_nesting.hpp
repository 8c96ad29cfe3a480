#pragma once
#include <string_view>

namespace gnnbench {

/// How deep JSON from elsewhere may be nested. Ours is less than 10 deep; parsed objects are printed and destroyed by
/// recursion, which overflows the stack at some hundred thousand brackets.
inline constexpr int deepest_json = 64;

/// Whether arrays and objects of `text` are nested deeper than `limit`. Counts brackets outside strings, so it works
/// on any text, JSON or not, before a parser sees it.
bool nested_deeper(std::string_view text, int limit = deepest_json);

}  // namespace gnnbench
