#include <gnnbench/training/adjacency.hpp>

#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include <gnnbench/training/sparse_blocks.hpp>

namespace gnnbench {

Adjacency::Diagonal Adjacency::diagonal_of(const ModelSpec& model) {
    if (model.kind == LayerKind::gin) return {true, 1 + model.epsilon, 1 + model.epsilon};
    return {model.self_loops, 1, 0};
}

Adjacency::Adjacency(const GraphView& graph, const ModelSpec& model)
    : graph_(graph),
      diagonal_(diagonal_of(model)),
      symmetric_(graph.symmetric && model.normalisation != Normalisation::mean) {
    const auto n = static_cast<std::size_t>(graph.vertices());
    std::vector<double> row_sum(n), column_sum(n);
    // Scales are still empty here, so row() visits the plain weights.
    for (std::size_t v = 0; v < n; ++v)
        row(static_cast<std::int64_t>(v), [&](std::int64_t j, double w) {
            row_sum[v] += w;
            column_sum[static_cast<std::size_t>(j)] += w;
            ++nonzeros_;
        });
    const auto scaled = [](std::vector<double> sums, auto&& f) {
        for (double& s : sums) s = s > 0 ? f(s) : 0;
        return sums;
    };
    if (model.normalisation == Normalisation::symmetric) {
        const auto inverse_root = [](double s) { return 1 / std::sqrt(s); };
        row_scale_ = scaled(std::move(row_sum), inverse_root);
        column_scale_ = scaled(std::move(column_sum), inverse_root);
    } else if (model.normalisation == Normalisation::mean) {
        row_scale_ = scaled(std::move(row_sum), [](double s) { return 1 / s; });
    }
}

std::vector<Csr> block_row(const Adjacency& a, const IndexMap& index, Part p, Direction d) {
    std::vector<Part> all(static_cast<std::size_t>(index.parts()));
    std::iota(all.begin(), all.end(), Part{0});
    return sparse_blocks(a, index, {.first = p, .count = 1}, all, d);
}

std::vector<Csr> block_column(const Adjacency& a, const IndexMap& index, Part p, Direction d) {
    // (A_ip)ᵀ is block (p, i) of Aᵀ.
    std::vector<Csr> blocks =
        block_row(a, index, p, d == Direction::forward ? Direction::backward : Direction::forward);
    for (Csr& block : blocks) block = transposed(block);
    return blocks;
}

Csr transposed(const Csr& a) {
    Csr t;
    t.rows = a.cols;
    t.cols = a.rows;
    t.indptr.assign(static_cast<std::size_t>(t.rows) + 1, 0);
    for (const std::int32_t c : a.indices) ++t.indptr[static_cast<std::size_t>(c) + 1];
    std::partial_sum(t.indptr.begin(), t.indptr.end(), t.indptr.begin());
    t.indices.resize(a.indices.size());
    t.values.resize(a.values.size());
    std::vector<std::int64_t> next(t.indptr.begin(), t.indptr.end() - 1);
    for (std::size_t r = 0; r < static_cast<std::size_t>(a.rows); ++r)
        for (auto e = static_cast<std::size_t>(a.indptr[r]); e < static_cast<std::size_t>(a.indptr[r + 1]); ++e) {
            const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(a.indices[e])]++);
            t.indices[to] = static_cast<std::int32_t>(r);
            t.values[to] = a.values[e];
        }
    return t;
}

PreparedBlocks::PreparedBlocks(const Adjacency& a, const IndexMap& index, Part p, Backend& backend,
                               const HoldsBlock& holds, BlockLine line, ProductDirections directions) {
    const auto transposes =
        directions == ProductDirections::both ? TransposedProducts::none : TransposedProducts::wanted;
    const auto prepare_all = [&](Direction d) {
        std::vector<std::unique_ptr<PreparedMatrix>> prepared;
        std::vector<Csr> blocks =
            line == BlockLine::row ? block_row(a, index, p, d) : block_column(a, index, p, d);
        for (Part j = 0; j < index.parts(); ++j) {
            Csr& block = blocks[static_cast<std::size_t>(j)];
            prepared.push_back(holds(j) ? backend.prepare(block, transposes) : nullptr);
            block = Csr();  // the back end has its own copy; free this one before the next block
        }
        return prepared;
    };
    forward_ = prepare_all(Direction::forward);
    if (directions == ProductDirections::both && !a.symmetric()) backward_ = prepare_all(Direction::backward);
}

std::string PreparedBlocks::formats() const {
    std::map<std::string, int> count;
    for (const auto* side : {&forward_, &backward_})
        for (const auto& block : *side)
            if (block && block->nonzeros > 0) ++count[block->format];
    std::string text;
    for (const auto& [format, blocks] : count)
        text += fmt::format("{}{} ({} block{})", text.empty() ? "" : ", ", format, blocks, blocks == 1 ? "" : "s");
    return text;
}

}  // namespace gnnbench
