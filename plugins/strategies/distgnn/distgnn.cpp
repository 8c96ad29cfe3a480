// DistGNN: partial aggregates of a vertex cut, summed at a root and sent back.
// V. Md, S. Misra, G. Ma, R. Mohanty, E. Georganas, A. Heinecke, D. Kalamkar, N. K. Ahmed, S. Avancha, "DistGNN: Scalable
// Distributed Training for Large-Scale Graph Neural Networks", SC 2021.
//
//   Â_i [n_i × n_i]   rank i's entries of Â; n_i vertices are row or column of one, or have their root there
//   P_v(i, t)         row v of Â_i H_i in epoch t: the partial aggregate of v's copy on rank i
//   Z_v(i, t)         what the layer goes on with
//
//   cd-0   Z_v(i, t) = Σ_j P_v(j, t) on every rank with a copy of v
//   0c     Z_v(i, t) = P_v(i, t)
//   cd-r   of vertices in bin t mod r:  root q   Z_v(q, t) = P_v(q, t) + Σ_{j≠q} P_v(j, t − r)
//                                       copy i   Z_v(i, t) = Z_v(q, t − r)
//          of the others, and where nothing has come yet: as 0c
//
//   degrees: known   Z_v(i, t) is divided by D_v(i, t), made of the copies' own degrees as it is of P: as if H were 1
#include <memory>

#include <fmt/format.h>

#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/problem.hpp>
#include <gnnbench/training/row_parallel.hpp>

#include "algorithm.hpp"
#include "exchanged_sums.hpp"
#include "held_copies.hpp"

namespace gnnbench {
namespace {

using dist::Algorithm;
using dist::HeldCopies;

/// Where what is said is of no number of ranks: more than one.
constexpr int any_ranks = 2;

class DistGnn final : public Strategy, public StatesHostMemory {
public:
    std::string approximation(const Params& params) const override {
        const Algorithm algorithm(params, any_ranks);
        const std::string of_gradients = algorithm.backward ? "" : "; gradients of copies are not summed",
                          of_degrees = algorithm.known_degrees ? "; degrees are those that a rank knows" : "";
        switch (algorithm.exchange) {
            case Algorithm::Exchange::never:
                return "partial aggregates and gradients of copies are never exchanged" + of_degrees;
            case Algorithm::Exchange::late:
                return fmt::format(
                    "partial aggregates of copies are exchanged in {} bins, an epoch each, and used {} epochs "
                    "later{}{}",
                    algorithm.bins, algorithm.bins, of_gradients, of_degrees);
            case Algorithm::Exchange::at_once:
                break;
        }
        return algorithm.backward ? "" : of_gradients.substr(2);
    }

    std::string why_unsupported(const Setting& s) const override {
        if (s.model.aggregate_input && Algorithm(s.params, any_ranks).exchange != Algorithm::Exchange::at_once)
            return "an input aggregated at set-up would be exact, which only cd-0 is";
        if (s.params.choice("degrees") == "known" && s.model.normalisation != Normalisation::mean)
            return fmt::format("degrees: known needs normalisation: mean, which divides a row by its degree; {}",
                               s.model.normalisation == Normalisation::none
                                   ? "normalisation: none divides by nothing"
                                   : "normalisation: symmetric scales columns, too, before anything is exchanged");
        return row_parallel_why_unsupported(
            s, s.model.attends() ? why_no_attention(Algorithm(s.params, any_ranks)) : "");
    }
    PartitionNeed partition_need(const Setting& s) const override {
        return {.parts = s.ranks, .vertex_cut = s.ranks > 1};
    }

    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t epoch) const override {
        const Algorithm algorithm(p.params, p.ranks);
        const HeldCopies copies(p.dataset.graph, p.index, rank, algorithm);
        const LayerPlan layers = plan(p);
        const LayerVolume product = [&](const LayerProduct& of) {
            // A walk over rows once more is over what this rank has.
            if (of.again) return Volume{};
            return dist::exchanged_sums_volume(copies, of.direction, algorithm, epoch,
                                               layers.layer(of.layer).copied(of.direction), element_bytes);
        };
        return {row_parallel_volume(layers, product, p.index.parts(), rank, element_bytes),
                algorithm.exchange == Algorithm::Exchange::late ? StatedVolume::Means::this_epoch
                                                                : StatedVolume::Means::every_epoch};
    }

    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const Algorithm algorithm(p.params, p.ranks);
        const HeldCopies copies(p.dataset.graph, p.index, rank, algorithm);
        const LayerPlan layers = plan(p);
        const auto product = [&](MemoryStatement& m, std::int64_t) {
            dist::state_exchanged_sums(m, copies, layers, algorithm);
        };
        return row_parallel_memory(layers, p, rank, product, element_bytes, copies.copies());
    }

    void state_host_memory(HostStatement& m, const Problem& p, int rank) const override {
        const Algorithm algorithm(p.params, p.ranks);
        const HeldCopies copies(p.dataset.graph, p.index, rank, algorithm);
        const Adjacency a = adjacency_of(p);
        state_owned_rows(m, p, rank);
        m.take(host_bytes::owned_id * copies.copies());
        m.reads_features(copies.copied_vertices(), p.dataset.feature_count);
        m.reads_labels(copies.copied_vertices());
        m.reads_entries();
        const std::int64_t nonzeros = copies.nonzeros(a, p.dataset.graph),
                           kept = host_bytes::position_set(a.vertices()) +
                                  host_bytes::listed_row * (copies.copies() + copies.lent()),
                           cut = host_bytes::cut(copies.rows(), nonzeros),
                           sums = algorithm.known_degrees ? host_bytes::scale * copies.rows() : 0;
        m.take(kept + cut);
        m.prepares(copies.rows(), copies.rows(), nonzeros);
        m.take(cut);
        m.prepares(copies.rows(), copies.rows(), nonzeros);
        m.take(sums);
        m.let_go(2 * cut + sums);
        if (const std::int64_t loops = copies.loop_count(a, p.dataset.graph); loops > 0) {
            const std::int64_t diagonal = host_bytes::cut(copies.rows(), loops);
            m.take(diagonal);
            m.prepares(copies.rows(), copies.rows(), loops);
            m.let_go(diagonal);
        }
        if (p.model.attends() && p.ranks > 1) {
            const std::int64_t merged = copies.merged(p.dataset.graph),
                               merging = host_bytes::cut(copies.roots(), merged);
            m.take(merging);
            m.prepares(copies.roots(), copies.lent(), merged);
            m.let_go(merging);
            m.prepares(copies.rows(), 0, 0);
        }
    }

    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        const Algorithm algorithm(p.params, p.ranks);
        const auto copies =
            std::make_shared<const HeldCopies>(p.dataset.graph, p.index, rank.world.rank(), algorithm);
        RowLayout layout{.part = rank.world.rank(),
                         .group = {std::shared_ptr<void>(), &rank.world},
                         .copies = copies->copied_vertices()};
        return make_row_parallel_trainer(
            p, rank, std::move(layout), plan(p), [&](const Adjacency& a, std::int64_t) {
                return dist::make_exchanged_sums(p, a, copies, rank, plan(p), algorithm);
            });
    }

private:
    static std::string why_no_attention(const Algorithm& algorithm) {
        if (algorithm.exchange == Algorithm::Exchange::late)
            return "cd-r adds up parts of a row of different epochs, whose weights no softmax has made; cd-0 and "
                   "0c attend";
        if (algorithm.loops_at_copies)
            return "self_loops: copies adds a copy's own row after the exchange, and a softmax weights it with "
                   "the others; "
                   "self_loops: root attends";
        if (algorithm.exchange == Algorithm::Exchange::at_once && !algorithm.backward)
            return "backward: local leaves gradients at copies, where what scores need of the whole row is not; "
                   "backward: "
                   "summed attends";
        return {};
    }
    /// As autograd in the released code: partial aggregates have the width of a layer's input, and so have their gradients.
    LayerPlan plan(const Problem& p) const { return same_order_plan(p, aggregate_first_kept); }
};

constexpr ParamDecl parameters[] = {
    {"algorithm", ParamType::choice, "cd-0", 0, 0, "cd-0|cd-r|0c",
     "when copies of a vertex exchange partial aggregates: at once, which is exact; in bins, one an epoch, for "
     "use "
     "`delay` epochs later; never"},
    {"delay", ParamType::integer, "5", 1, 1000, nullptr, "r of cd-r: how many bins, and how many epochs late"},
    {"transfers", ParamType::choice, "end_with_epoch", 0, 0, "end_with_epoch|run_on",
     "of cd-r: an epoch waits for its own transfers at its end; or the one that uses them does, as released: "
     "epochs "
     "then follow one another without a pause"},
    {"backward", ParamType::choice, "summed", 0, 0, "summed|local",
     "gradients of copies: summed as partial aggregates are, or left where they are, as in the released code"},
    {"degrees", ParamType::choice, "whole", 0, 0, "whole|known",
     "what normalisation: mean divides by: degrees of the whole graph, or those that a rank knows, as in the "
     "released code"},
    {"self_loops", ParamType::choice, "root", 0, 0, "root|copies",
     "whose diagonals of Â are that the graph has not: the root's, as other entries; or every copy's own, added "
     "after "
     "the exchange, as in the released code's aggregator gcn"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::DistGnn, "distgnn", "1.0.0",
                "DistGNN: partial aggregates of a vertex cut, summed at once, late or never (Md et al., SC 2021)",
                gnnbench::parameters)
