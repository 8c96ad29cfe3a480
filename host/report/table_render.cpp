#include "report/table_render.hpp"

#include "core/printable.hpp"
#include "report/html.hpp"

namespace gnnbench {

std::string render(const Table& table, OutputFormat format) {
    switch (format) {
        case OutputFormat::text:
            return printable(table_text(table));
        case OutputFormat::markdown:
            return table_markdown(table);
        case OutputFormat::csv:
            return table_csv(table);
        case OutputFormat::json:
            return table_json(table);
        case OutputFormat::latex:
            return table_latex(table);
        case OutputFormat::html:
            return html_page(table.heading.empty() ? table.name : table.heading.front(), table_html(table));
    }
    return "";
}

}  // namespace gnnbench
