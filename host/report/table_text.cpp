#include <algorithm>

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/table.hpp"
#include "report/table_forms.hpp"
#include "report/units.hpp"

namespace gnnbench {
namespace {

using Lines = std::vector<std::string>;

/// Between the columns of two schemes.
constexpr std::string_view rule = " | ";

struct Style {
    Unit time, bytes;
    bool speed_up;
};

/// The columns under one scheme: a title, their heads, and one line for each row, all of one width.
struct Group {
    std::string title, heads;
    Lines cells;
    std::size_t width = 0;

    /// Brings all lines to one width.
    void finish(std::size_t room) {
        title = shortened(title, room);
        width = std::max(display_width(title), display_width(heads));
        for (const auto& cell : cells) width = std::max(width, display_width(cell));
        title = pad_right(title, width);
        heads = pad_right(heads, width);
        for (auto& cell : cells) cell = pad_right(cell, width);
    }
};

/// One column of a group; right-aligned numbers under a head.
struct Column {
    std::string head;
    Lines fields;
    bool left = false;

    std::size_t width() const {
        std::size_t w = display_width(head);
        for (const auto& field : fields) w = std::max(w, display_width(field));
        return w;
    }
    bool empty() const {
        return std::all_of(fields.begin(), fields.end(), [](const auto& f) { return f.empty(); });
    }
    std::string padded(const std::string& text) const {
        return left ? pad_right(text, width()) : pad_left(text, width());
    }
};

struct GroupColumns {
    Column time, spread{"", {}, true}, marks{"", {}, true}, speed_up{"×", {}}, volume;
    bool moves_bytes = false;
};

GroupColumns columns_of(const ComparisonLayout& t, std::size_t scheme, const Style& style) {
    GroupColumns c;
    c.time.head = style.time.name;
    c.volume.head = style.bytes.name;
    for (const ComparisonRow& row : t.rows) {
        const PlacedCell& p = row.cells[scheme];
        std::string time, spread, marks, speed_up, volume;
        if (p.has_time()) {
            const Estimate& e = *p.cell->epoch_s;
            const double value = e.median / style.time.size;
            const double bytes = p.cell->sent_bytes_per_epoch.value_or(0);
            time = three_digits(value);
            if (e.method != SpreadMethod::none)
                spread = "±" + fixed(e.half_width() / style.time.size, decimals_of(value));
            marks = (p.fastest ? "*" : "") + p.letters();
            if (p.speed_up) speed_up = ratio(*p.speed_up);
            if (p.cell->sent_bytes_per_epoch) volume = in_unit(bytes, style.bytes);
            c.moves_bytes |= bytes > 0;
        }
        c.time.fields.push_back(time);
        c.spread.fields.push_back(spread);
        c.marks.fields.push_back(marks);
        c.speed_up.fields.push_back(speed_up);
        c.volume.fields.push_back(volume);
    }
    return c;
}

/// Time, spread and marks with one blank between, the others with two. A status word takes the room of all.
Group times_of(const ComparisonLayout& t, std::size_t scheme, const Style& style) {
    const GroupColumns c = columns_of(t, scheme, style);
    const auto line = [&](const std::string& time, const std::string& spread, const std::string& marks,
                          const std::string& speed_up, const std::string& volume) {
        std::string text = c.time.padded(time);
        if (!c.spread.empty()) text += " " + c.spread.padded(spread);
        if (!c.marks.empty()) text += " " + c.marks.padded(marks);
        if (style.speed_up) text += "  " + c.speed_up.padded(speed_up);
        if (c.moves_bytes) text += "  " + c.volume.padded(volume);
        return text;
    };
    Group g;
    g.title = t.schemes[scheme];
    g.heads = line(c.time.head, "", "", c.speed_up.head, c.volume.head);
    for (std::size_t r = 0; r < t.rows.size(); ++r) {
        const PlacedCell& p = t.rows[r].cells[scheme];
        const std::string letters = p.letters();
        if (p.has_time())
            g.cells.push_back(line(c.time.fields[r], c.spread.fields[r], c.marks.fields[r], c.speed_up.fields[r],
                                   c.volume.fields[r]));
        else
            g.cells.push_back(p.status_word() + (letters.empty() ? "" : " " + letters));
    }
    return g;
}

Group accuracies_of(const ComparisonLayout& t, std::size_t scheme) {
    Group g{t.schemes[scheme], "%", {}};
    for (const ComparisonRow& row : t.rows) {
        const PlacedCell& p = row.cells[scheme];
        g.cells.push_back(p.has_time() && p.cell->test_accuracy ? fixed(100 * *p.cell->test_accuracy, 1) : "");
    }
    return g;
}

/// The columns that say which row it is, as a group of its own.
Group row_keys(const ComparisonData& data, const ComparisonLayout& t) {
    std::vector<Column> columns{{"gpus", {}}, {"partitioner", {}, true}};
    for (const auto& key : data.other_keys) columns.push_back({key, {}, true});
    for (const ComparisonRow& row : t.rows) {
        columns[0].fields.push_back(fmt::format("{}", row.gpus));
        columns[1].fields.push_back(shortened(row.partitioner, 24));
        for (std::size_t k = 0; k < row.others.size(); ++k)
            columns[2 + k].fields.push_back(shortened(row.others[k], 16));
    }
    Group g;
    g.cells.resize(t.rows.size());
    for (const Column& c : columns) {
        g.heads += (g.heads.empty() ? "" : "  ") + c.padded(c.head);
        for (std::size_t r = 0; r < t.rows.size(); ++r)
            g.cells[r] += (g.cells[r].empty() ? "" : "  ") + c.padded(c.fields[r]);
    }
    g.finish(table_width);
    return g;
}

void add_line(std::string& out, std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
}

/// Row keys beside as many groups as fit; the others in blocks below.
std::string blocks(const ComparisonLayout& t, const Group& keys, std::vector<Group> groups) {
    for (Group& g : groups) g.finish(table_width - keys.width - rule.size());
    const bool many_datasets = t.rows.front().dataset != t.rows.back().dataset;
    std::string out;
    for (std::size_t first = 0, last; first < groups.size(); first = last) {
        std::size_t width = keys.width;
        for (last = first; last < groups.size(); ++last) {
            if (last > first && width + rule.size() + groups[last].width > table_width) break;
            width += rule.size() + groups[last].width;
        }
        const auto line = [&](const std::string& start, const auto& part_of) {
            std::string text = pad_right(start, keys.width);
            for (std::size_t g = first; g < last; ++g) text += std::string(rule) + part_of(groups[g]);
            add_line(out, std::move(text));
        };
        out += "\n";
        line("", [](const Group& g) { return g.title; });
        line(keys.heads, [](const Group& g) { return g.heads; });
        for (std::size_t r = 0; r < t.rows.size(); ++r) {
            if (many_datasets && (r == 0 || t.rows[r].dataset != t.rows[r - 1].dataset))
                add_line(out, "dataset " + t.rows[r].dataset);
            line(keys.cells[r], [r](const Group& g) { return g.cells[r]; });
        }
    }
    return out;
}

std::string legend(const ComparisonLayout& t, const Style& style) {
    std::string text = fmt::format("columns: {} per epoch", style.time.name);
    for (const ComparisonRow& row : t.rows)
        if (std::any_of(row.cells.begin(), row.cells.end(), [](const PlacedCell& p) { return p.fastest; })) {
            text += ", the fastest in each row with *";
            break;
        }
    if (style.speed_up) text += "; × speed-up " + baseline_words(t);
    if (t.has_volume) text += fmt::format("; {} payload sent per epoch by all ranks", style.bytes.name);
    return text;
}

}  // namespace

std::string comparison_text(const ComparisonData& data, const ComparisonLayout& t) {
    std::string out;
    for (const std::string& line : heading(data, t)) out += wrapped(line, table_width, 2);
    if (t.rows.empty()) return out + "the experiment has no cells\n";
    const Style style{time_unit(t.largest_s), byte_unit(t.largest_bytes), t.has_speed_up};
    if (t.most_trials > 0) out += wrapped(legend(t, style), table_width, 2);
    if (t.rows.front().dataset == t.rows.back().dataset) out += "dataset " + t.rows.front().dataset + "\n";

    const Group keys = row_keys(data, t);
    std::vector<Group> times, accuracies;
    for (std::size_t s = 0; s < t.schemes.size(); ++s) {
        times.push_back(times_of(t, s, style));
        accuracies.push_back(accuracies_of(t, s));
    }
    out += blocks(t, keys, std::move(times));
    if (t.has_accuracy)
        out += "\ntest accuracy, median of trials\n" + blocks(t, keys, std::move(accuracies)).substr(1);
    const auto notes = t.notes.notes();
    if (!notes.empty()) out += "\n";
    for (const auto& note : notes) out += wrapped(note.mark + "  " + note.text, table_width, 3);
    return out;
}

}  // namespace gnnbench
