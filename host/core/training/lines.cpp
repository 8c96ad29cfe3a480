#include <gnnbench/training/lines.hpp>

#include <numeric>

namespace gnnbench {

Lines::Lines(const Adjacency& a, Direction d, std::vector<GlobalId> vertices)
    : a_(a), d_(d), vertices_(std::move(vertices)) {
    if (!a.reads(d)) {
        collect();
        return;
    }
    std::int64_t entries = 0;
    for (const GlobalId v : vertices_) entries += a.entries_of(d, value(v));
    if (entries > a.vertices()) scales_ = a.scales(d);
}

void Lines::collect() {
    std::vector<std::int32_t> line_of(usize(a_.vertices()), -1);
    for (std::size_t r = 0; r < vertices_.size(); ++r)
        line_of[usize(value(vertices_[r]))] = static_cast<std::int32_t>(r);
    start_.assign(vertices_.size() + 1, 0);
    for (std::int64_t v = 0; v < a_.vertices(); ++v)
        a_.pattern(Direction::forward, v, [&](std::int64_t j) {
            if (const std::int32_t r = line_of[usize(j)]; r >= 0) ++start_[usize(r) + 1];
        });
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    columns_.resize(usize(start_.back()));
    values_.resize(columns_.size());
    std::vector<std::int64_t> next(start_.begin(), start_.end() - 1);
    for (std::int64_t v = 0; v < a_.vertices(); ++v)
        a_.row(v, [&](std::int64_t j, double w) {
            const std::int32_t r = line_of[usize(j)];
            if (r < 0) return;
            const auto at = usize(next[usize(r)]++);
            columns_[at] = static_cast<std::int32_t>(v);
            values_[at] = w;
        });
}

}  // namespace gnnbench
