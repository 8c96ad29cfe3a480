#include "report/tuning_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "record/query.hpp"
#include "report/rows.hpp"
#include "report/table_render.hpp"
#include "report/units.hpp"

namespace gnnbench {
namespace {

std::string time_text(double seconds) {
    const Unit unit = time_unit(seconds);
    return fmt::format("{} {}", three_digits(seconds / unit.size), unit.name);
}

std::string bytes_text(double bytes) {
    const Unit unit = byte_unit(bytes);
    return fmt::format("{} {}", three_digits(bytes / unit.size), unit.name);
}

bool is_better(const TunedCell& a, const TunedCell& b) {
    const bool a_ok = a.status == "ok", b_ok = b.status == "ok";
    if (a_ok != b_ok) return a_ok;
    return a_ok && a.epoch_s < b.epoch_s;
}

/// The cells by dataset and setting, each list by predicted time.
std::vector<std::vector<TunedCell>> ranked(const std::vector<TunedCell>& cells) {
    std::map<std::pair<std::string, std::string>, std::vector<TunedCell>> rivals;
    for (const TunedCell& cell : cells) rivals[{cell.dataset, cell.others}].push_back(cell);
    std::vector<std::vector<TunedCell>> lists;
    for (auto& [setting, list] : rivals) {
        std::ranges::stable_sort(list, is_better);
        lists.push_back(std::move(list));
    }
    return lists;
}

SqlRow line_of(const TunedCell& c, std::size_t place, const TunedCell& best) {
    if (c.status != "ok") return {"", c.scheme, c.partitioner, c.status, "", "", "", "", "", "", "", ""};
    const TimeParts& p = c.parts;
    return {std::to_string(place),
            c.scheme,
            c.partitioner,
            time_text(c.epoch_s),
            ratio(c.epoch_s / best.epoch_s),
            time_text(p.spmm_s),
            time_text(p.gemm_s),
            time_text(p.communication_s),
            time_text(p.rest_s),
            ratio(p.spmm_imbalance),
            bytes_text(c.sent_bytes_per_rank),
            bytes_text(c.peak_memory_bytes)};
}

/// What the best of each other scheme loses against the best of all.
std::string reasons(const std::vector<TunedCell>& cells) {
    std::string text;
    std::set<std::string> seen{cells.front().scheme_name};
    for (const TunedCell& c : cells)
        if (c.status == "ok" && seen.insert(c.scheme_name).second)
            text += wrapped(fmt::format("{} with {} takes {} × as long: {}", c.scheme, c.partitioner,
                                        ratio(c.epoch_s / cells.front().epoch_s),
                                        difference_text(c.parts, cells.front().parts)),
                            table_width(), 2);
    return text;
}

std::string for_people(const Tuning& tuning, std::size_t top, OutputFormat format) {
    std::string text;
    for (const std::vector<TunedCell>& cells : ranked(tuning.cells)) {
        const TunedCell& best = cells.front();
        QueryResult table{{"", "scheme", "partitioner", "epoch", "÷ best", "SpMM", "GEMM", "communication", "rest",
                           "SpMM max ÷ mean", "sent/rank", "memory/rank"},
                          {}};
        const std::size_t shown = top == 0 ? cells.size() : std::min(top, cells.size());
        for (std::size_t i = 0; i < shown; ++i) table.rows.push_back(line_of(cells[i], i + 1, best));
        text += wrapped(
            fmt::format("{}{}{} on {} GPUs of {}, SIMULATED: the time of an epoch; means over ranks of its parts, "
                        "communication as far as nothing hides it",
                        best.dataset, best.others.empty() ? "" : ", ", best.others, tuning.gpus, tuning.machine),
            table_width());
        text += '\n' + render_rows(table, format);
        if (shown < cells.size()) text += fmt::format("and {} more (--top 0 shows all)\n", cells.size() - shown);
        if (best.status == "ok")
            if (const std::string why = reasons(cells); !why.empty())
                text += fmt::format("\nagainst {} with {}:\n", best.scheme, best.partitioner) + why;
        text += '\n';
    }
    if (!tuning.not_predicted.empty()) text += "not predicted:\n";
    for (const std::string& one : tuning.not_predicted) text += wrapped(one, table_width(), 2);
    return text;
}

std::string for_programs(const Tuning& tuning, OutputFormat format) {
    QueryResult table{
        {"dataset", "others", "gpus", "machine", "place", "scheme", "partitioner", "status", "epoch_s", "spmm_s",
         "gemm_s", "communication_s", "rest_s", "spmm_imbalance", "sent_bytes_per_rank", "peak_memory_bytes"},
        {}};
    for (const std::vector<TunedCell>& cells : ranked(tuning.cells)) {
        std::int64_t place = 0;
        for (const TunedCell& c : cells) {
            const bool ok = c.status == "ok";
            const auto number = [&](double x) { return ok ? SqlValue(x) : SqlValue(); };
            table.rows.push_back({c.dataset, c.others, std::int64_t{tuning.gpus}, tuning.machine,
                                  ok ? SqlValue(++place) : SqlValue(), c.scheme, c.partitioner, c.status,
                                  number(c.epoch_s), number(c.parts.spmm_s), number(c.parts.gemm_s),
                                  number(c.parts.communication_s), number(c.parts.rest_s),
                                  number(c.parts.spmm_imbalance), number(c.sent_bytes_per_rank),
                                  number(c.peak_memory_bytes)});
        }
    }
    return render_rows(table, format);
}

}  // namespace

std::string difference_text(const TimeParts& other, const TimeParts& best) {
    std::array<std::pair<const char*, double>, 4> parts{
        {{"communication", other.communication_s - best.communication_s},
         {"SpMM", other.spmm_s - best.spmm_s},
         {"GEMM", other.gemm_s - best.gemm_s},
         {"rest", other.rest_s - best.rest_s}}};
    const auto size = [](const auto& part) { return std::abs(part.second); };
    std::ranges::stable_sort(parts, std::ranges::greater(), size);
    std::string text;
    for (const auto& part : parts) {
        if (size(part) == 0 || size(part) < size(parts.front()) / 20) break;
        text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", part.first, part.second > 0 ? "+" : "−",
                            time_text(size(part)));
    }
    return text.empty() ? "no difference" : text;
}

std::string render_tuning(const Tuning& tuning, std::size_t top, OutputFormat format) {
    if (format == OutputFormat::csv || format == OutputFormat::json) return for_programs(tuning, format);
    return for_people(tuning, top, format);
}

}  // namespace gnnbench
