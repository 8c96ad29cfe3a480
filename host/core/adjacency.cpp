#include <gnnbench/adjacency.hpp>

#include <cmath>
#include <map>

#include <fmt/format.h>

namespace gnnbench {

Adjacency::Adjacency(const GraphView& graph, const ModelSpec& model)
    : graph_(graph),
      self_loops_(model.self_loops),
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

namespace {

/// Calls emit(block, row, column, value) for every entry of block row p, rows of a block ascending, columns of
/// a row ascending.
void visit_blocks(const Adjacency& a, const IndexMap& index, Part p, Direction d, auto&& emit) {
    if (d == Direction::forward) {
        for (const GlobalId v : index.owned(p))
            a.row(value(v), [&](std::int64_t j, double w) {
                const GlobalId column{j};
                emit(index.part_of(column), value(index.local(v)), value(index.local(column)), w);
            });
        return;
    }
    // Row j of Âᵀ is column j of Â: walk all rows and keep the entries of owned columns. Rows come in
    // ascending original id, which is ascending local id inside a part.
    for (std::int64_t v = 0; v < a.vertices(); ++v) {
        const GlobalId source{v};
        a.row(v, [&](std::int64_t j, double w) {
            const GlobalId owned{j};
            if (index.part_of(owned) == p)
                emit(index.part_of(source), value(index.local(owned)), value(index.local(source)), w);
        });
    }
}

}  // namespace

std::vector<Csr> block_row(const Adjacency& a, const IndexMap& index, Part p, Direction d) {
    std::vector<Csr> blocks(static_cast<std::size_t>(index.parts()));
    const std::int64_t rows = index.size(p);
    for (Part j = 0; j < index.parts(); ++j) {
        Csr& b = blocks[static_cast<std::size_t>(j)];
        b.rows = rows;
        b.cols = index.size(j);
        b.indptr.assign(static_cast<std::size_t>(rows) + 1, 0);
    }
    visit_blocks(a, index, p, d, [&](Part j, std::int32_t r, std::int32_t, double) {
        ++blocks[static_cast<std::size_t>(j)].indptr[static_cast<std::size_t>(r) + 1];
    });
    std::vector<std::vector<std::int64_t>> next;
    for (Csr& b : blocks) {
        for (std::size_t r = 1; r < b.indptr.size(); ++r) b.indptr[r] += b.indptr[r - 1];
        b.indices.resize(static_cast<std::size_t>(b.indptr.back()));
        b.values.resize(b.indices.size());
        next.emplace_back(b.indptr.begin(), b.indptr.end() - 1);
    }
    visit_blocks(a, index, p, d, [&](Part j, std::int32_t r, std::int32_t c, double w) {
        Csr& b = blocks[static_cast<std::size_t>(j)];
        const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(j)][static_cast<std::size_t>(r)]++);
        b.indices[at] = c;
        b.values[at] = w;
    });
    return blocks;
}

PreparedBlocks::PreparedBlocks(const Adjacency& a, const IndexMap& index, Part p, Kernel& kernel,
                               const HoldsBlock& holds) {
    const auto prepare_all = [&](Direction d) {
        std::vector<std::unique_ptr<PreparedMatrix>> prepared;
        std::vector<Csr> blocks = block_row(a, index, p, d);
        for (Part j = 0; j < index.parts(); ++j) {
            Csr& block = blocks[static_cast<std::size_t>(j)];
            prepared.push_back(holds(j) ? kernel.prepare(block) : nullptr);
            block = Csr();  // the kernel has its own form; give the memory back before the next one
        }
        return prepared;
    };
    forward_ = prepare_all(Direction::forward);
    if (!a.symmetric()) backward_ = prepare_all(Direction::backward);
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
