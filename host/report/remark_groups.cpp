#include "report/remark_groups.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gnnbench {
namespace {

using Grid = std::vector<std::vector<bool>>;  // [row][column]
using Indices = std::vector<std::size_t>;

int count(const Grid& grid) {
    int n = 0;
    for (const auto& row : grid) n += static_cast<int>(std::ranges::count(row, true));
    return n;
}

/// A set of places as whole rows, whole columns, and single places.
struct Cover {
    Indices rows, columns;
    Grid rest;
    int names() const { return static_cast<int>(rows.size() + columns.size()); }
};

class Grouping {
public:
    Grouping(const std::vector<RemarkedLine>& rows, const std::vector<RemarkedLine>& columns, std::string row_head,
             std::string whose)
        : rows_(rows), columns_(columns), row_head_(std::move(row_head)), whose_(std::move(whose)) {}

    /// "columns 4, 8", "GPUs 4, 8 and columns SA, BNS-GCN"; `universe`: all places.
    std::string named(const Cover& c, const Grid& universe) const {
        std::string text;
        if (!c.rows.empty())
            text = row_head_ + (row_head_.empty() ? "" : " ") + names(rows_, c.rows, used(universe, true));
        if (!c.columns.empty())
            text += fmt::format("{}column{} {}", text.empty() ? "" : " and ", c.columns.size() == 1 ? "" : "s",
                                names(columns_, c.columns, used(universe, false)));
        return text;
    }

    /// "Cora: 2, 4; Reddit: 8", or their number if there are too many to name.
    std::string listed(const Grid& places, const Grid& universe) const {
        std::string text;
        for (std::size_t i = 0; i < places.size(); ++i) {
            std::string of_row;
            for (std::size_t c = 0; c < places[i].size(); ++c)
                if (places[i][c]) of_row += (of_row.empty() ? "" : ", ") + full_name(columns_[c]);
            if (!of_row.empty()) text += (text.empty() ? "" : "; ") + full_name(rows_[i]) + ": " + of_row;
        }
        if (text.size() <= 160) return text;
        return fmt::format("{} of {} numbers", count(places), count(universe));
    }

    const std::string& whose() const { return whose_; }

private:
    static std::string full_name(const RemarkedLine& line) {
        return line.section.empty() ? line.label : line.section + " " + line.label;
    }

    /// Rows or columns with any place.
    static Indices used(const Grid& universe, bool rows) {
        Indices all;
        const std::size_t n = rows ? universe.size() : universe.front().size();
        for (std::size_t i = 0; i < n; ++i) {
            const bool any = rows ? std::ranges::count(universe[i], true) > 0
                                  : std::ranges::any_of(universe, [i](const auto& row) { return row[i]; });
            if (any) all.push_back(i);
        }
        return all;
    }

    /// A section's name stands for all its lines that are in use, two at least.
    static std::string names(const std::vector<RemarkedLine>& lines, const Indices& chosen, const Indices& used) {
        std::vector<std::string> all;
        const auto in = [](const Indices& list, std::size_t i) { return std::ranges::count(list, i) > 0; };
        for (const std::size_t i : chosen) {
            const std::string& section = lines[i].section;
            const auto members =
                std::ranges::count_if(used, [&](std::size_t j) { return lines[j].section == section; });
            const bool whole = !section.empty() && members >= 2 && std::ranges::all_of(used, [&](std::size_t j) {
                return lines[j].section != section || in(chosen, j);
            });
            const std::string name = whole ? section : full_name(lines[i]);
            if (std::ranges::count(all, name) == 0) all.push_back(name);
        }
        return fmt::format("{}", fmt::join(all, ", "));
    }

    const std::vector<RemarkedLine>& rows_;
    const std::vector<RemarkedLine>& columns_;
    std::string row_head_, whose_;
};

/// Rows (or columns) with all their places, at least two, in `set`.
Indices whole_lines(const Grid& set, const Grid& universe, bool rows) {
    Indices all;
    const std::size_t outer = rows ? set.size() : set.front().size(),
                      inner = rows ? set.front().size() : set.size();
    for (std::size_t o = 0; o < outer; ++o) {
        int there = 0, in_set = 0;
        for (std::size_t i = 0; i < inner; ++i) {
            there += rows ? universe[o][i] : universe[i][o];
            in_set += rows ? set[o][i] && universe[o][i] : set[i][o] && universe[i][o];
        }
        if (there >= 2 && there == in_set) all.push_back(o);
    }
    return all;
}

Cover covered(const Grid& set, const Grid& universe, bool with_rows, bool with_columns) {
    Cover c{with_rows ? whole_lines(set, universe, true) : Indices(),
            with_columns ? whole_lines(set, universe, false) : Indices(), set};
    for (const std::size_t row : c.rows) c.rest[row].assign(c.rest[row].size(), false);
    for (const std::size_t column : c.columns)
        for (auto& row : c.rest) row[column] = false;
    return c;
}

/// By columns, by rows or by both: the cover with the fewest single places, then with the fewest names.
Cover best_cover(const Grid& set, const Grid& universe) {
    Cover best = covered(set, universe, false, true);
    for (const Cover& other : {covered(set, universe, true, false), covered(set, universe, true, true)})
        if (std::pair(count(other.rest), other.names()) < std::pair(count(best.rest), best.names())) best = other;
    return best;
}

Grid minus(Grid a, const Grid& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t c = 0; c < a[i].size(); ++c) a[i][c] = a[i][c] && !b[i][c];
    return a;
}

/// The places of a remark, and all places that it could have.
struct PlacedRemark {
    std::string text;
    Grid set, universe;
};

std::vector<PlacedRemark> placed_remarks(const std::vector<std::vector<RemarkedPlace>>& places) {
    const Grid none(places.size(), std::vector<bool>(places.empty() ? 0 : places.front().size(), false));
    std::vector<PlacedRemark> all;
    for (std::size_t i = 0; i < places.size(); ++i)
        for (std::size_t c = 0; c < places[i].size(); ++c)
            for (const std::string& text : places[i][c].remarks) {
                auto found = std::ranges::find(all, text, &PlacedRemark::text);
                if (found == all.end()) found = all.insert(all.end(), {text, none, none});
                found->set[i][c] = true;
            }
    for (PlacedRemark& s : all) {
        bool of_words = false;
        for (std::size_t i = 0; i < places.size(); ++i)
            for (std::size_t c = 0; c < places[i].size(); ++c) of_words |= s.set[i][c] && !places[i][c].has_number;
        for (std::size_t i = 0; i < places.size(); ++i)
            for (std::size_t c = 0; c < places[i].size(); ++c)
                s.universe[i][c] = places[i][c].has_number || (of_words && places[i][c].has_word) || s.set[i][c];
    }
    return all;
}

}  // namespace

RemarkGroups grouped_remarks(const std::vector<std::vector<RemarkedPlace>>& places,
                             const std::vector<RemarkedLine>& rows, const std::vector<RemarkedLine>& columns,
                             const std::string& row_head, const std::string& whose) {
    RemarkGroups groups;
    groups.marks.assign(rows.size(), std::vector<std::vector<std::string>>(columns.size()));
    if (places.empty() || columns.empty()) return groups;
    const Grouping names(rows, columns, row_head, whose);
    std::vector<std::string> everywhere, lines;
    std::vector<PlacedRemark> left;
    for (const PlacedRemark& s : placed_remarks(places)) {
        const Grid outside = minus(s.universe, s.set);
        const int those = count(s.set), others = count(outside);
        if (others == 0 && those >= 2) {
            everywhere.push_back(s.text);
            continue;
        }
        Cover in = best_cover(s.set, s.universe), out = best_cover(outside, s.universe);
        // "all but" if that is shorter and covers the set exactly.
        if (others > 0 && those > others && count(out.rest) == 0 &&
            (count(in.rest) > 0 ||
             names.named(out, s.universe).size() + 15 < names.named(in, s.universe).size())) {
            lines.push_back(fmt::format("all of {} but {}: {}", whose, names.named(out, s.universe), s.text));
            continue;
        }
        if (in.names() > 0)
            lines.push_back(
                fmt::format("{}{}: {}", whose == "ours" ? "" : whose + ", ", names.named(in, s.universe), s.text));
        if (count(in.rest) > 0) left.push_back({s.text, in.rest, s.universe});
    }
    // Remarks with the most marks become lines until few marks are left.
    const auto marks = [&] {
        int n = 0;
        for (const PlacedRemark& s : left) n += count(s.set);
        return n;
    };
    while (marks() > most_marks) {
        const auto most = std::ranges::max_element(left, {}, [](const PlacedRemark& s) { return count(s.set); });
        if (count(most->set) < 2) break;
        lines.push_back(fmt::format("{}{}: {}", whose == "ours" ? "" : whose + ", ",
                                    names.listed(most->set, most->universe), most->text));
        left.erase(most);
    }
    for (const PlacedRemark& s : left)
        for (std::size_t i = 0; i < s.set.size(); ++i)
            for (std::size_t c = 0; c < s.set[i].size(); ++c)
                if (s.set[i][c]) groups.marks[i][c].push_back(s.text);
    if (!everywhere.empty())
        groups.lines.push_back(fmt::format("all of {}: {}", whose, fmt::join(everywhere, "; ")));
    groups.lines.insert(groups.lines.end(), lines.begin(), lines.end());
    return groups;
}

}  // namespace gnnbench
