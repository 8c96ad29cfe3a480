#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace gnnbench {

/// For text between tags and in quoted attributes. Control characters, which HTML does not allow, are left out.
std::string html_escaped(std::string_view text);

/// A file of report/page, such as "page" or "report_body": `{{name}}` becomes the value given for it, as it is.
/// Throws LogicError if there is no such file, or if one of its placeholders gets no value.
std::string filled_page(std::string_view file,
                        std::initializer_list<std::pair<std::string_view, std::string_view>> values);

/// A self-contained page with a style sheet for `table_html`'s tables, on paper and on a phone.
/// `further_style`: a style sheet of report/page, beside the one for tables.
std::string html_page(std::string_view title, std::string_view body, std::string_view further_style = "");

}  // namespace gnnbench
