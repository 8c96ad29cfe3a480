#include <array>
#include <utility>

#include <fmt/format.h>

#include "report/table_render.hpp"

namespace gnnbench {
namespace {

/// Characters that pdflatex with UTF-8 input needs escaped.
constexpr std::array<std::pair<std::string_view, std::string_view>, 27> symbols{{
    {"--", "-{}-"},      {"×", "$\\times$"},     {"±", "$\\pm$"},     {"÷", "$\\div$"},
    {"·", "$\\cdot$"},   {"µ", "\\textmu{}"},    {"≤", "$\\leq$"},    {"≥", "$\\geq$"},
    {"≈", "$\\approx$"}, {"→", "$\\to$"},        {"−", "$-$"},        {"…", "\\ldots{}"},
    {"–", "--"},         {"—", "---"},           {"λ", "$\\lambda$"}, {"½", "\\textonehalf{}"},
    {"²", "$^2$"},       {"∛", "$\\sqrt[3]{}$"}, {"√", "$\\surd$"},   {"⌊", "$\\lfloor$"},
    {"⌋", "$\\rfloor$"}, {"§", "\\S{}"},         {"“", "``"},         {"”", "''"},
    {"’", "'"},          {"Σ", "$\\Sigma$"},     {"⋅", "$\\cdot$"},
}};

std::string escaped(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        bool found = false;
        for (const auto& [from, to] : symbols)
            if (text.substr(at).starts_with(from)) {
                out += to;
                at += from.size();
                found = true;
                break;
            }
        if (found) continue;
        const char c = text[at++];
        switch (c) {
            case '&':
            case '%':
            case '$':
            case '#':
            case '_':
            case '{':
            case '}':
                out += '\\', out += c;
                break;
            case '~':
                out += "\\textasciitilde{}";
                break;
            case '^':
                out += "\\textasciicircum{}";
                break;
            case '\\':
                out += "\\textbackslash{}";
                break;
            case '<':
                out += "\\textless{}";
                break;
            case '>':
                out += "\\textgreater{}";
                break;
            case '|':
                out += "\\textbar{}";
                break;
            case '"':
                out += "\\textquotedbl{}";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string field_text(const Table::Field& f) {
    std::string text = escaped(f.text);
    if (!f.spread.empty()) text += "\\,{\\footnotesize " + escaped(f.spread) + "}";
    if (f.best) text = "\\textbf{" + text + "}";
    const std::string letters = f.letters();
    if (!letters.empty()) text += "\\textsuperscript{" + letters + "}";
    return text;
}

std::size_t width_of(const Table& t) {
    std::size_t columns = t.keys.size();
    for (const Table::Group& g : t.groups) columns += g.parts.size();
    return columns;
}

std::string head_lines(const Table& t) {
    std::string titles, rules, heads;
    std::size_t column = t.keys.size();
    for (std::size_t k = 0; k < t.keys.size(); ++k) {
        titles += k > 0 ? " & " : "";
        heads += (k > 0 ? " & " : "") + escaped(t.keys[k].head);
    }
    for (const Table::Group& g : t.groups) {
        const std::size_t n = g.parts.size();
        titles += n == 1 ? " & " + escaped(g.title)
                         : fmt::format(" & \\multicolumn{{{}}}{{c}}{{{}}}", n, escaped(g.title));
        rules += fmt::format("\\cmidrule(lr){{{}-{}}}", column + 1, column + n);
        column += n;
        for (const Table::Part& part : g.parts) heads += " & " + escaped(part.head);
    }
    if (t.groups.empty()) return heads + " \\\\\n";
    return titles + " \\\\\n" + rules + "\n" + heads + " \\\\\n";
}

std::string row_line(const Table& t, const Table::Row& row) {
    std::string line;
    for (std::size_t k = 0; k < row.keys.size(); ++k) line += (k > 0 ? " & " : "") + escaped(row.keys[k]);
    for (std::size_t g = 0; g < t.groups.size(); ++g)
        for (std::size_t p = 0; p < t.groups[g].parts.size(); ++p)
            line += " & " + (p < row.cells[g].fields.size() ? field_text(row.cells[g].fields[p]) : "");
    return line + " \\\\\n";
}

std::string label_of(const std::string& name) {
    std::string label = "tab:";
    for (const char c : name) label += c == '/' || c == ' ' ? '-' : c;
    return label;
}

}  // namespace

std::string table_latex(const Table& t) {
    std::string out = "% Needs \\usepackage{booktabs,graphicx,textcomp}\n\\begin{table}\n\\centering\n";
    std::string caption;
    for (const std::string& line : t.heading) caption += (caption.empty() ? "" : ". ") + escaped(line);
    out += "\\caption{" + caption + "}\n\\label{" + escaped(label_of(t.name)) + "}\n";
    if (t.rows.empty()) return out + escaped(t.nothing) + "\n\\end{table}\n";

    std::string columns;
    for (const Table::Key& key : t.keys) columns += key.left ? 'l' : 'r';
    for (const Table::Group& g : t.groups) columns += std::string(g.parts.size(), 'r');
    const std::size_t width = width_of(t);
    if (width > 9) out += "\\resizebox{\\linewidth}{!}{%\n";
    out += "\\begin{tabular}{" + columns + "}\n\\toprule\n" + head_lines(t) + "\\midrule\n";
    for (std::size_t r = 0; r < t.rows.size(); ++r) {
        if (t.begins_section(r))
            out +=
                fmt::format("\\multicolumn{{{}}}{{l}}{{\\emph{{{}}}}} \\\\\n", width, escaped(t.rows[r].section));
        out += row_line(t, t.rows[r]);
    }
    out += "\\bottomrule\n\\end{tabular}";
    out += width > 9 ? "}\n" : "\n";
    if (!t.legend.empty()) out += "\\\\[2pt]\\footnotesize " + escaped(legend_in_bold(t)) + "\n";
    for (const auto& note : t.notes)
        out += "\\\\\\footnotesize \\textsuperscript{" + note.mark + "} " + escaped(note.text) + "\n";
    return out + "\\end{table}\n";
}

}  // namespace gnnbench
