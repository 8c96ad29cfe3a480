#pragma once
#include <string>
#include <string_view>

namespace gnnbench {

/// For text between tags and in quoted attributes.
std::string html_escaped(std::string_view text);

/// A page that needs nothing from anywhere: what `table_html` makes looks right on it, on paper and on a phone.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace gnnbench
