#include "pipelined_boundaries.hpp"

#include <array>
#include <optional>
#include <vector>

#include <gnnbench/training/boundary_spmm.hpp>
#include <gnnbench/usize.hpp>

#include "stale_rows.hpp"

namespace gnnbench::pipe {
namespace {

constexpr std::array directions = {Direction::forward, Direction::backward};

/// Rows that leave a rank and arrive at it: of features those that it sends and needs, of gradients the reverse.
struct Rows {
    std::int64_t leaving, arriving;
};
Rows rows_of(Direction d, const HaloRoom& rows) {
    if (d == Direction::forward) return {rows.sent_rows, rows.needed_rows};
    return {rows.needed_rows, rows.sent_rows};
}

class PipelinedBoundaries final : public BoundarySpmm {
public:
    PipelinedBoundaries(const Adjacency& a, const IndexMap& index, Rank rank, const LayerPlan& plan,
                        const Smoothing& smoothing, bool runs_on)
        : BoundarySpmm(a, index, rank, plan, false) {
        if (runs_on) aside_.emplace(world().aside());
        for (const auto& layer : plan.layers) {
            model_layers_.push_back(layer->spec().model_layer);
            for (const Direction d : directions) {
                const auto [leaving, arriving] = rows_of(d, boundaries().rows());
                of_[usize(d)].emplace_back(backend(), leaving, arriving, layer->width(d),
                                           d == Direction::forward ? smoothing.features : smoothing.gradients);
            }
        }
    }

    void begin_epoch(std::int64_t) override { pipelines_ = true; }
    void begin_evaluation() override { pipelines_ = false; }
    void begin_layer(int l) override { layer_ = usize(l); }
    void multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& e) override {
        if (!pipelines_ || d == Direction::forward) return BoundarySpmm::multiply(d, b, c, e);
        return_gradients(b, c);
    }
    void accumulate(Direction d, BlockSum& z_i) override {
        if (!pipelines_) return BoundarySpmm::accumulate(d, z_i);
        require(d == Direction::forward, "sums over boundaries are returned, backward");
        aggregate(z_i);
    }
    void accumulate_returned(ReturnedSum& dh_i) override {
        require(pipelines_, "only training returns gradients");
        // The rows that this epoch computes with are still here.
        MatrixView h_b = of_[usize(Direction::forward)][layer_].used();
        return_gradients(
            [&](MatrixView leaving) {
                dh_i.sum_for({remote(Direction::forward), remote(Direction::backward)}, h_b,
                             room(dh_i.room_columns()), leaving);
            },
            [&] { dh_i.add_own({own(Direction::forward), own(Direction::backward)}); }, dh_i.sums());
    }
    void finish() override {
        for (auto& layers : of_)
            for (StaleRows& rows : layers) rows.finish();
    }
    bool runs_on() const override { return aside_.has_value(); }

    std::vector<RowAges> row_ages() const override {
        std::vector<RowAges> ages;
        for (const Direction d : directions)
            for (std::size_t l = 0; l < model_layers_.size(); ++l) {
                const StaleRows& r = of_[usize(d)][l];
                if (r.used().cols() == 0) continue;
                const std::int64_t rows = r.used().rows(), absent = r.absent() ? rows : 0;
                ages.push_back(
                    {.layer = model_layers_[l],
                     .kind = d == Direction::forward ? RowAges::Kind::features : RowAges::Kind::gradients,
                     .rows = rows,
                     .absent = absent,
                     .sum_epochs = rows - absent,
                     .most_epochs = rows > absent ? 1 : 0});
            }
        return ages;
    }

private:
    // Z_i ← Â_ii H_i + Â_iB H̃_B(t − 1), while this epoch's boundary rows of H_i are sent for the next.
    void aggregate(BlockSum& z_i) {
        const MatrixView h_i = z_i.operand();
        StaleRows& features = of_[usize(Direction::forward)][layer_];
        features.take();
        const auto sends = boundaries().pack(h_i, features.leaving());
        const auto receives = boundaries().needed_messages(features.arriving(), h_i.cols);
        features.started(channel().all_to_all(sends, receives));
        z_i.add(own(Direction::forward), h_i, {.first = true, .last = false});
        z_i.add(remote(Direction::forward), features.used(), {.first = false, .last = true});
    }

    // dH_i ← Â_iiᵀ V_i + what others returned in epoch t − 1, while this epoch's Â_iBᵀ V_i is returned for the next.
    void return_gradients(MatrixView v_i, MatrixView dh_i) {
        return_gradients([&](MatrixView leaving) { backend().spmm(remote(Direction::backward), v_i, leaving); },
                         [&] { backend().spmm(own(Direction::backward), v_i, dh_i); }, dh_i);
    }
    /// `of_others` makes what leaves for the owners of boundary rows, `of_own` dH_i of this part's own rows.
    template <class OfOthers, class OfOwn>
    void return_gradients(const OfOthers& of_others, const OfOwn& of_own, MatrixView dh_i) {
        StaleRows& gradients = of_[usize(Direction::backward)][layer_];
        gradients.take();
        of_others(gradients.leaving());
        const auto sends = boundaries().needed_messages(gradients.leaving(), dh_i.cols);
        const auto receives = boundaries().sent_messages(gradients.arriving(), dh_i.cols);
        gradients.started(channel().all_to_all(sends, receives));
        of_own();
        boundaries().add_returned(gradients.used(), dh_i);
    }

    Communicator& channel() { return aside_ ? *aside_ : world(); }

    std::optional<Communicator> aside_;  ///< if transfers run on
    bool pipelines_ = false;
    std::size_t layer_ = 0;
    std::vector<int> model_layers_;  ///< by layer of the plan
    std::array<std::vector<StaleRows>, 2>
        of_;  ///< by direction and layer; a layer without a product has no columns
};

}  // namespace

std::unique_ptr<DistributedSpmm> make_pipelined_boundaries(const Adjacency& a, const IndexMap& index, Rank rank,
                                                           const LayerPlan& plan, const Smoothing& smoothing,
                                                           bool runs_on) {
    return std::make_unique<PipelinedBoundaries>(a, index, rank, plan, smoothing, runs_on);
}

void state_stale_rows(MemoryStatement& m, const HaloRoom& rows, const LayerPlan& plan) {
    for (const auto& layer : plan.layers)
        for (const Direction d : directions) {
            const auto [leaving, arriving] = rows_of(d, rows);
            StaleRows::state_memory(m, leaving, arriving, layer->width(d));
        }
}

}  // namespace gnnbench::pipe
