#include <gnnbench/training/lines.hpp>

#include <numeric>

#include <gnnbench/training/sparsity.hpp>

namespace gnnbench {

std::vector<ColumnRange> columns_of(const IndexMap& index, std::span<const Part> parts) {
    if (!index.identity()) return {{0, index.vertices()}};
    std::vector<ColumnRange> runs;
    for (const Part p : parts)
        if (index.size(p) > 0) runs.push_back({index.offset(p), index.offset(p + 1)});
    return runs;
}

Lines::Lines(const Adjacency& a, Direction d, std::vector<GlobalId> vertices, Entries entries)
    : Lines(a, d, std::move(vertices), entries, std::vector<ColumnRange>{{0, a.vertices()}}) {}

Lines::Lines(const Adjacency& a, Direction d, std::vector<GlobalId> vertices, Entries entries,
             std::span<const ColumnRange> columns)
    : a_(a), d_(d), vertices_(std::move(vertices)) {
    require_entries(a.shared(), "this setting of the strategy");
    const SetupTimer timer(a.cost());
    if (!a.reads(d)) {
        collect(entries);
        return;
    }
    from_ = a.tiles_of(d, columns);
    if (entries == Entries::columns) return;
    std::int64_t count = 0;
    for (const GlobalId v : vertices_) count += a.entries_of(d, value(v), from_);
    const ColumnRange scaled = a.columns_of(d, from_);
    if (count > scaled.end - scaled.first)
        scales_ = a.scales(d, scaled);
    else if (a.scales_columns(d))
        few_scales_ = a.scales(d, columns_of_lines());
}

PositionSet Lines::columns_of_lines() const {
    PositionSet found(a_.vertices());
#pragma omp parallel for num_threads(a_.threads()) if (a_.threads() > 1) schedule(static)
    for (std::int64_t r = 0; r < size(); ++r) pattern(r, [&](GlobalId column) { found.insert(value(column)); });
    found.count();
    return found;
}

void Lines::collect(Entries entries) {
    std::vector<std::int32_t> line_of(usize(a_.vertices()), -1);
    for (std::size_t r = 0; r < vertices_.size(); ++r)
        line_of[usize(value(vertices_[r]))] = static_cast<std::int32_t>(r);
    start_.assign(vertices_.size() + 1, 0);
    for (std::int64_t v = 0; v < a_.vertices(); ++v)
        a_.pattern(Direction::forward, v, {}, [&](std::int64_t j) {
            if (const std::int32_t r = line_of[usize(j)]; r >= 0) ++start_[usize(r) + 1];
        });
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    columns_.resize(usize(start_.back()));
    std::vector<std::int64_t> next(start_.begin(), start_.end() - 1);
    // Where row v's entry (v, j) goes; −1: column j is not wanted.
    const auto place = [&](std::int64_t v, std::int64_t j) -> std::int64_t {
        const std::int32_t r = line_of[usize(j)];
        if (r < 0) return -1;
        const std::int64_t at = next[usize(r)]++;
        columns_[usize(at)] = static_cast<std::int32_t>(v);
        return at;
    };
    if (entries == Entries::columns) {
        for (std::int64_t v = 0; v < a_.vertices(); ++v)
            a_.pattern(Direction::forward, v, {}, [&](std::int64_t j) { place(v, j); });
        return;
    }
    values_.resize(columns_.size());
    for (std::int64_t v = 0; v < a_.vertices(); ++v)
        a_.row(v, [&](std::int64_t j, double w) {
            if (const std::int64_t at = place(v, j); at >= 0) values_[usize(at)] = w;
        });
}

}  // namespace gnnbench
