#include "report/layout.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/usize.hpp>

#include "report/alike_remarks.hpp"
#include "report/format.hpp"
#include "report/remarks.hpp"

namespace gnnbench {
namespace {

/// Datasets in order of appearance; within one, by gpus, then partitioners and other keys in order of appearance.
void place_cells(ComparisonLayout& t, const ComparisonData& data) {
    const auto order_of = [](std::vector<std::string>& seen, const std::string& name) {
        const auto it = std::find(seen.begin(), seen.end(), name);
        if (it != seen.end()) return it - seen.begin();
        seen.push_back(name);
        return std::ssize(seen) - 1;
    };
    std::vector<std::string> datasets, partitioners, others;
    using Key = std::tuple<std::ptrdiff_t, int, std::ptrdiff_t, std::ptrdiff_t>;
    std::map<Key, ComparisonRow> rows;
    std::vector<std::pair<Key, std::ptrdiff_t>> places;
    for (const ComparisonCell& c : data.cells) {
        std::string other;
        for (const auto& value : c.others) other += value + '\n';
        const Key key{order_of(datasets, c.dataset), c.gpus, order_of(partitioners, c.partitioner),
                      order_of(others, other)};
        places.emplace_back(key, order_of(t.schemes, c.scheme));
        rows.try_emplace(key, ComparisonRow{c.dataset, c.partitioner, c.gpus, c.others, {}});
    }
    for (auto& [key, row] : rows) row.cells.resize(t.schemes.size());
    for (std::size_t i = 0; i < places.size(); ++i)
        rows[places[i].first].cells[usize(places[i].second)].cell = &data.cells[i];
    for (auto& [key, row] : rows) t.rows.push_back(std::move(row));
}

/// The fastest of a row is marked where its interval leaves no doubt.
void mark_fastest(ComparisonRow& row) {
    std::vector<PlacedCell*> timed;
    for (PlacedCell& p : row.cells)
        if (p.has_time()) timed.push_back(&p);
    if (timed.size() < 2) return;
    PlacedCell* first =
        *std::ranges::min_element(timed, {}, [](const PlacedCell* p) { return p->cell->epoch_s->median; });
    first->fastest = std::ranges::all_of(timed, [&](const PlacedCell* p) {
        return p == first || first->cell->epoch_s->surely_below(*p->cell->epoch_s);
    });
}

void compare(ComparisonLayout& t) {
    for (ComparisonRow& row : t.rows) {
        mark_fastest(row);
        for (PlacedCell& p : row.cells) {
            if (!p.has_time()) continue;
            p.efficiency = p.cell->efficiency;
            t.has_efficiency |= p.efficiency.has_value();
            if (!p.cell->speed_up) continue;
            p.speed_up = p.cell->speed_up->value;
            t.has_speed_up = true;
            (p.cell->speed_up->over_serial ? t.over_serial : t.over_itself) = true;
        }
    }
}

/// A column's speed-ups over different cells are no line: then each says what it is over.
void mark_bases(ComparisonLayout& t) {
    for (std::size_t s = 0; s < t.schemes.size(); ++s) {
        std::map<std::int64_t, std::string> bases;  // with the first of their names
        for (const ComparisonRow& row : t.rows)
            if (row.cells[s].speed_up)
                bases.emplace(row.cells[s].cell->speed_up->base_cell, row.cells[s].cell->speed_up->base);
        if (bases.size() < 2) continue;
        for (ComparisonRow& row : t.rows)
            if (PlacedCell& p = row.cells[s]; p.speed_up)
                p.speed_up_marks.push_back(t.notes.mark("× over " + bases.at(p.cell->speed_up->base_cell)));
    }
}

void add_remarks(ComparisonLayout& t) {
    std::map<const ComparisonCell*, std::vector<std::string>> remarks;
    AlikeRemarks alike;
    for (const ComparisonRow& row : t.rows)
        for (const PlacedCell& p : row.cells) {
            if (!p.cell) continue;
            remarks[p.cell] = remarks_on(*p.cell);
            for (const std::string& text : remarks[p.cell]) alike.add(text);
        }
    std::map<std::string, int> uses;
    int times = 0;
    for (const ComparisonRow& row : t.rows)
        for (const PlacedCell& p : row.cells) {
            if (!p.cell) continue;
            times += p.has_time();
            for (std::string& text : remarks[p.cell]) {
                text = alike.of(text);
                uses[text] += p.has_time();
            }
        }
    std::set<std::string> said;
    for (ComparisonRow& row : t.rows)
        for (PlacedCell& p : row.cells) {
            for (const std::string& text : remarks[p.cell]) {
                if (times < 2 || uses[text] != times)
                    p.marks.push_back(t.notes.mark(text));
                else if (said.insert(text).second)
                    t.everywhere.push_back(text);
            }
            std::sort(p.marks.begin(), p.marks.end(), [](const std::string& a, const std::string& b) {
                return std::pair(a.size(), a) < std::pair(b.size(), b);
            });
        }
}

void measure(ComparisonLayout& t) {
    std::set<SpreadMethod> methods;
    for (const ComparisonRow& row : t.rows)
        for (const PlacedCell& p : row.cells) {
            if (!p.has_time()) continue;
            const Estimate& e = *p.cell->epoch_s;
            if (e.shows_interval()) methods.insert(e.method);
            t.has_spread |= e.shows_interval();
            t.largest_s = std::max(t.largest_s, e.median);
            t.fewest_trials = t.fewest_trials == 0 ? e.trials : std::min(t.fewest_trials, e.trials);
            t.most_trials = std::max(t.most_trials, e.trials);
            const double bytes = p.cell->sent_bytes_per_epoch.value_or(0);
            t.has_volume |= bytes > 0;
            t.largest_bytes = std::max(t.largest_bytes, bytes);
            if (p.cell->test_score) t.score_metrics.insert(p.cell->score_metric);
        }
    t.methods.assign(methods.begin(), methods.end());
}

std::string from_to(std::int64_t from, std::int64_t to, const std::string& noun) {
    const std::string count = from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to);
    return count + " " + noun + (to == 1 ? "" : "s");
}

std::string spread_words(const std::vector<SpreadMethod>& methods) {
    std::string how;
    for (const SpreadMethod m : methods) {
        if (m == SpreadMethod::log_student_t) how = "Student's t of logarithms";
        if (m == SpreadMethod::order_statistics)
            how += how.empty() ? "order statistics" : "; order statistics from 6 trials";
    }
    return how.empty() ? "" : " (low–high: its 95% interval, " + how + ")";
}

/// Whose trials they are, how far a rerun is, and what else ran.
void describe_trials(std::vector<std::string>& lines, const ComparisonData& d) {
    if (d.borrowed > 0)
        lines.push_back(
            fmt::format("{} of {} trials are of other experiments ({}): where this one measured no trial of a "
                        "cell's number itself, the newest of another counts",
                        d.borrowed, d.trials, fmt::join(d.lenders, ", ")));
    if (d.awaiting_rerun > 0)
        lines.push_back(
            fmt::format("a rerun is unfinished: {} of {} trials are from before it; gnnbench run goes on with it",
                        d.awaiting_rerun, d.trials));
    if (d.noisy > 0)
        lines.push_back(fmt::format(
            "NOISY MACHINE: {} of {} measured trials began under a load average of up to {:.1f} on {} cores; "
            "their times are longer, and spread more, than alone",
            d.noisy, d.timed, d.highest_load, d.cores));
}

}  // namespace

std::string PlacedCell::letters() const {
    std::string all;
    for (const std::string& mark : marks) all += (all.empty() || mark.size() == 1 ? "" : ",") + mark;
    return all;
}

std::string PlacedCell::status_word() const { return cell ? gnnbench::status_word(*cell) : ""; }

ComparisonLayout make_layout(const ComparisonData& data) {
    ComparisonLayout t;
    place_cells(t, data);
    compare(t);
    add_remarks(t);
    mark_bases(t);
    measure(t);
    return t;
}

std::vector<std::string> heading(const ComparisonData& d, const ComparisonLayout& t) {
    std::vector<std::string> lines;
    if (t.most_trials == 0) {
        lines.push_back(d.experiment + ": nothing measured yet");
    } else {
        lines.push_back(fmt::format("{}: time of an epoch, {}{}", d.experiment,
                                    t.most_trials == 1
                                        ? "one trial each"
                                        : "median of " + from_to(t.fewest_trials, t.most_trials, "trial"),
                                    spread_words(t.methods)));
    }
    const bool predicted = !d.cells.empty() && std::ranges::all_of(d.cells, [](const ComparisonCell& c) {
        return !c.simulated.empty();
    });
    std::string setting = predicted && !d.machine.empty() ? "computed on " + d.machine : d.machine;
    const auto add = [&](const std::string& part) { setting += (setting.empty() ? "" : "; ") + part; };
    if (!d.kernels.empty()) add("kernel " + d.kernels);
    add(from_to(d.fewest_threads, d.most_threads, "thread") + " per rank");
    if (d.epochs > 0) add(fmt::format("{} after {} for warm-up", from_to(d.epochs, d.epochs, "epoch"), d.warmup));
    lines.push_back(setting);
    if (d.other_machines > 0)
        lines.push_back(fmt::format("trials of {} are not shown",
                                    from_to(d.other_machines, d.other_machines, "other machine")));
    describe_trials(lines, d);
    std::string everywhere;
    for (const std::string& remark : t.everywhere)
        everywhere += (everywhere.empty() ? "all times: " : "; ") + remark;
    if (!everywhere.empty()) lines.push_back(everywhere);
    return lines;
}

}  // namespace gnnbench
