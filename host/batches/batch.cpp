#include <gnnbench/batches/batch.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include <gnnbench/error.hpp>
#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// Â as it is, rows and columns in local ids.
Csr whole_matrix(const Adjacency& a) {
    Csr m;
    m.rows = m.cols = a.vertices();
    m.indptr.reserve(usize(m.rows) + 1);
    m.indices.reserve(usize(a.nonzeros()));
    m.values.reserve(usize(a.nonzeros()));
    for (std::int64_t v = 0; v < m.rows; ++v) {
        a.row(v, [&](std::int64_t j, double value) {
            m.indices.push_back(static_cast<std::int32_t>(j));
            m.values.push_back(value);
        });
        m.indptr.push_back(m.nonzeros());
    }
    return m;
}

void enhance_diagonal(Csr& m, double lambda) {
    for (std::int64_t v = 0; v < m.rows; ++v)
        for (auto e = usize(m.indptr[usize(v)]); e < usize(m.indptr[usize(v) + 1]); ++e)
            if (m.indices[e] == v) m.values[e] *= 1 + lambda;
}

std::int64_t most_edges(const GraphView& graph, std::int64_t count) {
    std::vector<std::int64_t> degrees;
    for (std::int64_t v = 0; v < graph.vertices(); ++v)
        degrees.push_back(graph.indptr[usize(v) + 1] - graph.indptr[usize(v)]);
    return most_entries(std::move(degrees), count, count);
}

}  // namespace

std::string batches_why_unsupported(const Setting& s) {
    if (s.model.aggregate_input)
        return "aggregate_input needs layer 0's neighbours to stay the same, and every batch has its own";
    if (s.model.sparse_features)
        return "sparse_features needs layer 0's input to stay the same, and every batch gathers its own rows of X";
    return {};
}

std::int64_t most_entries(std::vector<std::int64_t> degrees, std::int64_t count, std::int64_t columns) {
    for (std::int64_t& d : degrees) d = std::min(d, columns);
    const auto end = degrees.begin() + std::min<std::int64_t>(count, std::ssize(degrees));
    std::partial_sort(degrees.begin(), end, degrees.end(), std::greater<>());
    return std::accumulate(degrees.begin(), end, std::int64_t{0});
}

namespace {

/// What ranks of one process count once.
struct MostNonzeros {
    std::shared_ptr<const std::int64_t> count;
};

std::int64_t counted_most_nonzeros(const GraphView& graph, const BatchSource& source) {
    if (source.fixed_sets() == 0) return most_edges(graph, source.most_vertices()) + source.most_vertices();
    // One epoch has every fixed set.
    std::vector<std::int64_t> set_of(usize(graph.vertices()), -1), nonzeros(usize(source.fixed_sets()));
    for (std::int64_t item = 0; item < source.fixed_sets(); ++item) {
        const std::int64_t set = source.fixed_set(item);
        for (const GlobalId v : source.vertices(item)) set_of[usize(value(v))] = set;
    }
    for (std::size_t v = 0; v < set_of.size(); ++v) {
        if (set_of[v] < 0) continue;
        std::int64_t& of_set = nonzeros[usize(set_of[v])];
        ++of_set;  // the diagonal
        for (auto e = usize(graph.indptr[v]); e < usize(graph.indptr[v + 1]); ++e)
            of_set += set_of[usize(graph.indices[e])] == set_of[v] ? 1 : 0;
    }
    return *std::ranges::max_element(nonzeros);
}

}  // namespace

std::int64_t most_batch_nonzeros(const Problem& p, const BatchSource& source) {
    return *made_once(p.shared ? &p.shared->of<MostNonzeros>().count : nullptr,
                      [&] { return counted_most_nonzeros(p.dataset.graph, source); });
}

/// What ranks of one process have in common.
struct BatchMaker::FixedSets {
    std::shared_ptr<const std::vector<FixedSet>> all;
};

BatchMaker::BatchMaker(const Problem& problem, const BatchSource& source, const BatchSettings& settings)
    : data_(problem.dataset),
      model_(problem.model),
      settings_(settings),
      source_(source),
      subgraphs_(problem.dataset.graph) {
    fixed_ = made_once(problem.shared ? &problem.shared->of<FixedSets>().all : nullptr, [&] {
        std::vector<FixedSet> sets(usize(source.fixed_sets()));
        for (std::int64_t item = 0; item < source.fixed_sets(); ++item)
            sets[usize(source.fixed_set(item))] = normalised(subgraphs_.induced(source.vertices(item)));
        return sets;
    });
}

BatchMaker::FixedSet BatchMaker::normalised(Subgraph subgraph) const {
    auto matrices = std::make_shared<BatchMatrices>();
    const Adjacency adjacency(subgraph.view(), model_);
    if (const std::string why = why_weights_unusable(adjacency, subgraph.vertices); !why.empty())
        throw Unsupported(why);
    matrices->forward = whole_matrix(adjacency);
    if (settings_.diagonal_enhancement != 0) enhance_diagonal(matrices->forward, settings_.diagonal_enhancement);
    if (!adjacency.symmetric()) matrices->backward = transposed(matrices->forward);
    return {std::move(subgraph.vertices), std::move(matrices)};
}

BatchMaker::FixedSet BatchMaker::set_of(std::int64_t item) {
    if (const std::int64_t set = source_.fixed_set(item); set >= 0) return (*fixed_)[usize(set)];
    return normalised(subgraphs_.induced(source_.vertices(item)));
}

std::unique_ptr<Batch> BatchMaker::make(std::int64_t item) {
    FixedSet set = set_of(item);
    auto batch = std::make_unique<Batch>();
    batch->item = item;
    batch->vertices =
        gather_vertices(data_, model_, std::move(set.vertices), source_.seeds(item), settings_.features);
    batch->matrices = std::move(set.matrices);
    batch->samples = std::ranges::count(batch->vertices.split, Split::train);
    return batch;
}

}  // namespace gnnbench
