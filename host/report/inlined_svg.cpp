#include <string_view>

#include "report/html.hpp"
#include "report/report_parts.hpp"

namespace gnnbench {
namespace {

void replace_all(std::string& text, std::string_view from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

}  // namespace

std::string inlined_svg(const std::string& svg, const std::string& id, const std::string& label) {
    const std::size_t begin = svg.find("<svg");
    if (begin == std::string::npos) return "";
    std::string out = svg.substr(begin);
    // Several drawings share a page, and each numbers its ids from 1, so ids get a prefix.
    for (const char quote : {'"', '\''}) {
        const std::string q(1, quote);
        replace_all(out, " id=" + q, " id=" + q + id + "-");
        replace_all(out, "href=" + q + "#", "href=" + q + "#" + id + "-");
    }
    replace_all(out, "url(#", "url(#" + id + "-");
    const std::string named = " role=\"img\" aria-label=\"" + html_escaped(label) + "\"";
    return out.insert(4, named);
}

}  // namespace gnnbench
