#include "held_copies.hpp"

#include <algorithm>

#include <gnnbench/training/sparse_blocks.hpp>
#include <gnnbench/usize.hpp>
#include <gnnbench/vertex_copies.hpp>

namespace gnnbench::dist {
namespace {

using Lists = std::vector<std::vector<std::int32_t>>;

/// Calls take(bin, j, place in list j) in the order of bins, then parts; returns the number before each bin and part.
template <class Take>
std::vector<std::int64_t> dealt(const Lists& lists, int bins, Take&& take) {
    std::vector<std::int64_t> starts{0};
    for (int bin = 0; bin < bins; ++bin)
        for (std::size_t j = 0; j < lists.size(); ++j) {
            std::int64_t count = 0;
            for (std::size_t i = usize(bin); i < lists[j].size(); i += usize(bins), ++count) take(j, i);
            starts.push_back(starts.back() + count);
        }
    return starts;
}

}  // namespace

HeldCopies::HeldCopies(const GraphView& graph, const IndexMap& index, Part part, const Algorithm& algorithm)
    : index_(index),
      part_(part),
      parts_(index.parts()),
      bins_(algorithm.bins),
      loops_at_copies_(algorithm.loops_at_copies),
      roots_(index.size(part)),
      positions_(index.vertices()) {
    Lists held(usize(parts_)), lent(usize(parts_));
    if (parts_ > 1) {
        const VertexCopies copies(graph, index, part);
        held = copies.held();
        lent = copies.lent();
    }
    for (Part j = 0; j < parts_; ++j)
        for (const std::int32_t local : held[usize(j)]) positions_.insert(index.offset(j) + local);
    positions_.count();
    place_.resize(usize(positions_.size()));
    held_ = dealt(held, bins_, [&](std::size_t j, std::size_t i) {
        const std::int64_t position = index.offset(static_cast<Part>(j)) + held[j][i];
        place_[usize(positions_.rank(position))] = static_cast<std::int32_t>(copied_.size());
        copied_.push_back(index.vertex_at(position));
    });
    lent_ = dealt(lent, bins_, [&](std::size_t j, std::size_t i) { lent_rows_.push_back(lent[j][i]); });
}

Run HeldCopies::run(const std::vector<std::int64_t>& starts, int bin, Part j, Part parts) const {
    const auto at = usize(std::int64_t{bin} * parts_ + j);
    return {starts[at], starts[at + usize(parts)] - starts[at]};
}

std::int64_t HeldCopies::most_held() const {
    std::int64_t most = 0;
    for (int bin = 0; bin < bins_; ++bin) most = std::max(most, held(bin).count);
    return most;
}

std::int64_t HeldCopies::most_lent() const {
    std::int64_t most = 0;
    for (int bin = 0; bin < bins_; ++bin) most = std::max(most, lent(bin).count);
    return most;
}

std::int64_t HeldCopies::row_of(std::int64_t position) const {
    const std::int64_t first = index_.offset(part_);
    if (position >= first && position < first + roots_) return position - first;
    return roots_ + place_[usize(positions_.rank(position))];
}

template <class Visit>
void HeldCopies::visit_entries(const Adjacency& a, const GraphView& graph, Share share, Visit&& visit) const {
    const auto parts = index_.part_of_entry();
    for (std::int64_t r = 0; r < rows(); ++r) {
        const bool root = r < roots_;
        const GlobalId v =
            root ? index_.global(part_, LocalId{static_cast<std::int32_t>(r)}) : copied_[usize(r - roots_)];
        std::int64_t e = graph.indptr[usize(value(v))];
        const std::int64_t end = graph.indptr[usize(value(v)) + 1];
        a.row(value(v), [&](std::int64_t column, double w) {
            // What is no entry of the graph is a diagonal.
            const bool stored = e < end && graph.indices[usize(e)] == column;
            const bool of_each_copy = !stored && loops_at_copies_;
            const bool mine = of_each_copy || (stored && !parts.empty() ? parts[usize(e)] == part_ : root);
            e += stored;
            if (mine && of_each_copy == (share == Share::of_each_copy))
                visit(r, row_of(index_.position(GlobalId{column})), w);
        });
    }
}

std::int64_t HeldCopies::count(const Adjacency& a, const GraphView& graph, Share share) const {
    std::int64_t count = 0;
    visit_entries(a, graph, share, [&](std::int64_t, std::int64_t, double) { ++count; });
    return count;
}

Csr HeldCopies::entries(const Adjacency& a, const GraphView& graph, Share share) const {
    const SetupTimer timer(a.cost());
    Csr m{.rows = rows(), .cols = rows(), .indptr = {}, .indices = {}, .values = {}};
    m.indptr.assign(usize(m.rows) + 1, 0);
    visit_entries(a, graph, share, [&](std::int64_t r, std::int64_t column, double w) {
        ++m.indptr[usize(r) + 1];
        m.indices.push_back(static_cast<std::int32_t>(column));
        m.values.push_back(w);
    });
    for (std::size_t r = 1; r < m.indptr.size(); ++r) m.indptr[r] += m.indptr[r - 1];
    sort_columns(m, a.threads());
    if (a.names_vertices()) {
        m.row_vertices = index_.owned(part_);
        m.row_vertices.insert(m.row_vertices.end(), copied_.begin(), copied_.end());
        m.col_vertices = m.row_vertices;
    }
    return m;
}

template <class Visit>
void HeldCopies::visit_lent_with_entries(const GraphView& graph, Visit&& visit) const {
    const auto parts = index_.part_of_entry();
    for (int bin = 0; bin < bins_; ++bin)
        for (Part j = 0; j < parts_; ++j)
            for (std::int64_t k = lent(bin, j).first; k < lent(bin, j).first + lent(bin, j).count; ++k) {
                const std::int32_t r = lent_rows_[usize(k)];
                const auto v = usize(value(index_.global(part_, LocalId{r})));
                const auto of_row =
                    parts.subspan(usize(graph.indptr[v]), usize(graph.indptr[v + 1] - graph.indptr[v]));
                if (std::ranges::find(of_row, j) != of_row.end()) visit(r, k);
            }
}

std::int64_t HeldCopies::merged(const GraphView& graph) const {
    std::int64_t count = 0;
    visit_lent_with_entries(graph, [&](std::int32_t, std::int64_t) { ++count; });
    return count;
}

Csr HeldCopies::merging(const Adjacency& a, const GraphView& graph) const {
    const SetupTimer timer(a.cost());
    Csr m{.rows = roots_, .cols = lent(), .indptr = {}, .indices = {}, .values = {}};
    m.indptr.assign(usize(m.rows) + 1, 0);
    visit_lent_with_entries(graph, [&](std::int32_t r, std::int64_t) { ++m.indptr[usize(r) + 1]; });
    for (std::size_t r = 1; r < m.indptr.size(); ++r) m.indptr[r] += m.indptr[r - 1];
    m.indices.resize(usize(m.indptr.back()));
    m.values.assign(m.indices.size(), 1);
    std::vector<std::int64_t> next(m.indptr.begin(), m.indptr.end() - 1);
    visit_lent_with_entries(graph, [&](std::int32_t r, std::int64_t k) {
        m.indices[usize(next[usize(r)]++)] = static_cast<std::int32_t>(k);
    });
    return m;
}

std::int64_t HeldCopies::nonzeros(const Adjacency& a, const GraphView& graph) const {
    return count(a, graph, Share::exchanged);
}
Csr HeldCopies::matrix(const Adjacency& a, const GraphView& graph) const {
    return entries(a, graph, Share::exchanged);
}
std::int64_t HeldCopies::loop_count(const Adjacency& a, const GraphView& graph) const {
    return loops_at_copies_ ? count(a, graph, Share::of_each_copy) : 0;
}
Csr HeldCopies::loops(const Adjacency& a, const GraphView& graph) const {
    return entries(a, graph, Share::of_each_copy);
}

}  // namespace gnnbench::dist
