#include "report/html.hpp"

#include <gnnbench/error.hpp>

namespace gnnbench {
namespace {

struct PageFile {
    std::string_view name, text;
};
constexpr PageFile page_files[] = {
#include "embedded_page.inc"
};

std::string_view page_file(std::string_view name) {
    for (const PageFile& file : page_files)
        if (file.name == name) return file.text;
    throw LogicError("there is no page file '" + std::string(name) + "'");
}

}  // namespace

std::string html_escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') out += c;
        }
    }
    return out;
}

std::string filled_page(std::string_view file,
                        std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
    const std::string_view text = page_file(file);
    std::string out;
    std::size_t at = 0;
    for (std::size_t open = text.find("{{"); open != std::string_view::npos; open = text.find("{{", at)) {
        const std::size_t close = text.find("}}", open);
        const std::string_view name = text.substr(open + 2, close - open - 2);
        const auto* value = values.begin();
        while (value != values.end() && value->first != name) ++value;
        if (value == values.end())
            throw LogicError("the page file '" + std::string(file) + "' has a place for '" + std::string(name) +
                             "', which nothing fills");
        out += text.substr(at, open - at);
        out += value->second;
        at = close + 2;
    }
    return out += text.substr(at);
}

std::string html_page(std::string_view title, std::string_view body, std::string_view further_style) {
    std::string style(page_file("tables"));
    if (!further_style.empty()) style += page_file(further_style);
    return filled_page("page", {{"title", html_escaped(title)}, {"style", style}, {"body", body}});
}

}  // namespace gnnbench
