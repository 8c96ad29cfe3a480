// BNS-GCN: partition parallelism with random boundary-node sampling.
// C. Wan, Y. Li, A. Li, N. S. Kim, Y. Lin, "BNS-GCN: Efficient Full-Graph Training of Graph Convolutional Networks
// with Partition-Parallelism and Random Boundary Node Sampling", MLSys 2022, Algorithm 1.
//
//   Z_i = Â_ii H_i + Σ_j (b_ij / k_ij) Â_ij[:, U_ij] H_U      letters: boundaries.hpp
//
// Attention has the weights b_ij / k_ij on exponentials, in the sum above and in that below the line; a ratio of two
// unbiased sums is biased.
//
// U_ij is uniform among the samples of B_ij with k_ij rows, so the expectation of Z given H is ÂH. That of the loss'
// gradient is not its gradient: activations and the loss are not linear, and one sample serves forward and backward.
// p = 0 omits every boundary, which no weight compensates for; p = 1 omits nothing and is exact.
//
// Each layer returns gradients for the rows it received, so backward moves rows of the layer's input width.
#include <map>

#include <fmt/format.h>

#include <gnnbench/training/boundary_spmm.hpp>
#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/problem.hpp>
#include <gnnbench/usize.hpp>

#include "boundaries.hpp"

namespace gnnbench {
namespace {

using bns::SamplingRate;
using bns::SmallBoundaries;

SamplingRate sampling_rate(const Params& params) {
    const bool drops = params.choice("small_boundaries") == "drop";
    return {params.real("rate"), drops ? SmallBoundaries::drop : SmallBoundaries::keep_one};
}

/// The most nonzeros that this epoch's samples can have on `rank`: in each boundary, those of the columns with the
/// most.
std::int64_t most_sampled_nonzeros(const Adjacency& a, const IndexMap& index, Part rank,
                                   const SamplingRate& rate) {
    std::map<std::int64_t, std::int64_t> of_column;  // by original id, of columns that other parts own
    for (const GlobalId v : index.owned(rank))
        a.row(value(v), [&](std::int64_t column, double) {
            if (index.part_of(GlobalId{column}) != rank) ++of_column[column];
        });
    std::vector<std::vector<std::int64_t>> of_boundary(usize(index.parts()));
    for (const auto& [column, nonzeros] : of_column)
        of_boundary[usize(index.part_of(GlobalId{column}))].push_back(nonzeros);
    std::int64_t sum = 0;
    for (auto& counts : of_boundary) {
        std::sort(counts.rbegin(), counts.rend());
        for (std::int64_t c = 0; c < rate.capacity(std::ssize(counts)); ++c) sum += counts[usize(c)];
    }
    return sum;
}

class BnsGcn final : public Strategy, public StatesHostMemory {
public:
    std::string approximation(const Params& params) const override {
        const SamplingRate rate = sampling_rate(params);
        if (rate.p == 0) return "boundary nodes omitted: biased";
        if (rate.p == 1) return {};
        std::string text = fmt::format("boundary nodes sampled at rate {}", rate.p);
        if (rate.small == SmallBoundaries::drop) text += ", those of boundaries under 1/rate rows omitted: biased";
        return text;
    }
    std::string approximation_of(const ModelSpec& model, const Params& params) const override {
        const double p = sampling_rate(params).p;
        std::string text = approximation(params);
        if (model.attends() && p > 0 && p < 1) text += "; a softmax over a sample is biased";
        return text;
    }
    std::string why_unsupported(const Setting& s) const override { return row_parallel_why_unsupported(s); }

    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t /*epoch*/) const override {
        const BlockCounts counts(adjacency_of(p), p.index, rank);
        const SamplingRate rate = sampling_rate(p.params);
        const auto rows = [&](std::int64_t row_bytes, bool toward_owner) {
            Traffic t;
            for (Part j = 0; j < p.index.parts(); ++j) {
                if (j == rank) continue;
                std::int64_t sent = rate.sample_size(counts.nonzero_columns(j, rank));
                std::int64_t received = rate.sample_size(counts.nonzero_columns(rank, j));
                if (toward_owner) std::swap(sent, received);
                t += {sent * row_bytes, received * row_bytes, sent > 0};
            }
            return t;
        };
        const auto product = [&](Direction d, std::int64_t width) {
            return Volume{
                {{CommOp::all_to_all, Content::payload}, rows(width * element_bytes, d == Direction::backward)}};
        };
        Volume v = row_parallel_volume(plan(p), product, p.index.parts(), rank, element_bytes);
        if (rate.p < 1) v[{CommOp::all_to_all, Content::metadata}] += rows(sizeof(std::int32_t), true);
        return v;
    }

    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const Adjacency a = adjacency_of(p);
        const BlockCounts counts(a, p.index, rank);
        const SamplingRate rate = sampling_rate(p.params);
        const auto product = [&](MemoryStatement& m, std::int64_t widest) {
            std::int64_t received = 0, sent = 0, told = 0, whole = 0;
            for (Part j = 0; j < p.index.parts(); ++j) {
                if (j == rank) continue;
                const std::int64_t in = counts.nonzero_columns(rank, j), out = counts.nonzero_columns(j, rank);
                received += rate.p < 1 ? rate.capacity(in) : in;
                sent += rate.p < 1 ? rate.capacity(out) : out;
                told += rate.sample_size(in) + rate.sample_size(out);
                whole += out;
            }
            m.matrix(received, widest);
            m.matrix(sent, widest);
            m.matrix(received, plan(p).widest_room());
            m.list<std::int32_t>(whole);  // rows that others need
            if (rate.p == 1) return;
            m.list<std::int32_t>(told);  // samples of both sides
            // The sampled columns of this rank's blocks and their transpose.
            const std::int64_t nonzeros = most_sampled_nonzeros(a, p.index, rank, rate);
            m.list<std::int64_t>(p.index.size(rank) + 1 + received + 1);
            m.list<std::int32_t>(2 * nonzeros);
            m.matrix(2, nonzeros);
            if (p.model.attention_dropout > 0) m.list<std::int64_t>(p.index.size(rank) + received);  // vertices
        };
        return row_parallel_memory(plan(p), p, rank, product, element_bytes);
    }

    // Sampled columns are kept as they were cut, which is no more than both prepared forms of all.
    void state_host_memory(HostStatement& m, const Problem& p, int rank) const override {
        state_owned_rows(m, p, rank);
        state_halo_cuts(m, p, rank, Direction::forward, every_block, true);
    }

    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        const SamplingRate rate = sampling_rate(p.params);
        const bool overlap = p.params.boolean("overlap");
        const auto make = [&](const Adjacency& a, std::int64_t) -> std::unique_ptr<DistributedSpmm> {
            if (rate.p < 1)
                return bns::make_sampled_boundaries(a, p.index, rank, plan(p), overlap, {rate, p.train.seed});
            return std::make_unique<BoundarySpmm>(a, p.index, rank, plan(p), overlap);  // U = B
        };
        return make_row_parallel_trainer(p, rank, plan(p), make);
    }

private:
    /// Received rows are aggregated, then transformed; their gradients go back in the input's width.
    LayerPlan plan(const Problem& p) const { return same_order_plan(p, aggregate_first_kept, returned_attention); }
};

constexpr ParamDecl parameters[] = {
    {"rate", ParamType::real, "1", 0.0, 1.0, nullptr,
     "p: the share of each boundary that is sampled in an epoch, at least one row; 1 is exact, 0 leaves out all"},
    {"overlap", ParamType::boolean, "false", 0, 0, nullptr,
     "multiply by the own block while boundaries are exchanged, which the paper and its released code do not"},
    {"small_boundaries", ParamType::choice, "keep_one", 0, 0, "keep_one|drop",
     "what is sampled of a boundary of fewer than 1/rate rows. keep_one: one row in each epoch; drop: none in "
     "any, "
     "which biases the aggregates, as in the released code"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::BnsGcn, "bns-gcn", "3.1.0",
                "BNS-GCN: partition parallelism with boundary-node sampling (Wan et al., MLSys 2022)",
                gnnbench::parameters)
