#include "report/table.hpp"

#include "report/table_forms.hpp"

namespace gnnbench {

std::string render_comparison(const ComparisonData& data, OutputFormat format) {
    const ComparisonLayout layout = lay_out(data);
    switch (format) {
        case OutputFormat::text:
            return comparison_text(data, layout);
        case OutputFormat::markdown:
            return comparison_markdown(data, layout);
        case OutputFormat::csv:
            return comparison_csv(data, layout);
        case OutputFormat::json:
            return comparison_json(data, layout);
    }
    return "";
}

std::string baseline_words(const ComparisonLayout& t) {
    if (t.over_serial && t.over_itself)
        return "over serial on 1 gpu (where it was not measured, over the same scheme on its fewest gpus)";
    return t.over_serial ? "over serial on 1 gpu" : "over the same scheme on its fewest gpus";
}

}  // namespace gnnbench
