#include "report/html.hpp"

namespace gnnbench {
namespace {

constexpr std::string_view style = R"(
:root { color-scheme: light dark; }
body { font: 16px/1.45 system-ui, sans-serif; margin: 1rem auto; max-width: 72rem; padding: 0 1rem; }
figure { margin: 0 0 2rem; }
figcaption p { margin: 0 0 .25rem; }
figcaption p:first-child { font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .75rem 0; }
thead tr:last-child th { border-bottom: 1px solid; font-weight: 400; }
thead tr:first-child th[colspan] { border-left: 1px solid #8888; }
th, td { padding: .15rem .6rem; text-align: right; white-space: nowrap; vertical-align: baseline; }
th.key, th.section, td.word { text-align: left; }
tbody th { font-weight: 400; }
tbody th.section { font-weight: 600; padding-top: .5rem; }
thead tr:first-child th { text-align: left; }
sup { line-height: 0; margin-left: .1em; }
dl.notes { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .75rem; font-size: .875rem; }
dl.notes dd { margin: 0; }
)";

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
                out += c;
        }
    }
    return out;
}

std::string html_page(std::string_view title, std::string_view body) {
    std::string page =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
    page += html_escaped(title);
    page += "</title>\n<style>";
    page += style;
    page += "</style>\n</head>\n<body>\n";
    page += body;
    return page + "</body>\n</html>\n";
}

}  // namespace gnnbench
