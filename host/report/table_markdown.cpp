#include <fmt/format.h>

#include "report/format.hpp"
#include "report/table_forms.hpp"
#include "report/units.hpp"

namespace gnnbench {
namespace {

std::string show(const PlacedCell& p, const ComparisonLayout& t) {
    std::string text;
    if (p.has_time()) {
        const Unit time = time_unit(t.largest_s), bytes = byte_unit(t.largest_bytes);
        const Estimate& e = *p.cell->epoch_s;
        const double value = e.median / time.size;
        text = three_digits(value);
        if (e.method != SpreadMethod::none) text += " ±" + fixed(e.half_width() / time.size, decimals_of(value));
        text += fmt::format(" {}", time.name);
        if (p.fastest) text = "**" + text + "**";
        if (p.speed_up) text += " · " + ratio(*p.speed_up) + "×";
        if (t.has_volume && p.cell->sent_bytes_per_epoch)
            text += fmt::format(" · {} {}", in_unit(*p.cell->sent_bytes_per_epoch, bytes), bytes.name);
        if (p.cell->test_accuracy) text += " · " + fixed(100 * *p.cell->test_accuracy, 1) + "%";
    } else {
        text = p.status_word();
    }
    const std::string letters = p.letters();
    if (!letters.empty()) text += (text.empty() ? "<sup>" : " <sup>") + letters + "</sup>";
    return text;
}

}  // namespace

std::string comparison_markdown(const ComparisonData& data, const ComparisonLayout& t) {
    std::string out;
    for (const std::string& line : heading(data, t)) out += markdown_escaped(line) + "  \n";
    if (t.rows.empty()) return out + "the experiment has no cells\n";
    std::string legend = "a cell: time per epoch";
    if (t.has_speed_up) legend += " · speed-up " + baseline_words(t);
    if (t.has_volume) legend += " · payload sent per epoch, all ranks";
    if (t.has_accuracy) legend += " · test accuracy";
    if (t.most_trials > 0) out += legend + "; bold: fastest in its row\n";
    out += "\n";

    std::vector<std::string> heads{"dataset", "gpus", "partitioner"}, rules{"---", "---:", "---"};
    for (const auto& key : data.other_keys) heads.push_back(markdown_escaped(key)), rules.emplace_back("---");
    for (const auto& scheme : t.schemes) heads.push_back(markdown_escaped(scheme)), rules.emplace_back("---");
    out += markdown_line(heads) + markdown_line(rules);
    for (const ComparisonRow& row : t.rows) {
        std::vector<std::string> line{markdown_escaped(row.dataset), fmt::format("{}", row.gpus),
                                      markdown_escaped(row.partitioner)};
        for (const auto& value : row.others) line.push_back(markdown_escaped(value));
        for (const PlacedCell& p : row.cells) line.push_back(show(p, t));
        out += markdown_line(line);
    }
    if (!t.notes.notes().empty()) out += "\n";
    for (const auto& note : t.notes.notes())
        out += "<sup>" + note.mark + "</sup> " + markdown_escaped(note.text) + "  \n";
    return out;
}

}  // namespace gnnbench
