#include "exchanged_sums.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/usize.hpp>

#include "attended_copies.hpp"
#include "copy_exchange.hpp"
#include "known_degrees.hpp"
#include "late_rows.hpp"

namespace gnnbench::dist {
namespace {

constexpr std::array directions = {Direction::forward, Direction::backward};

/// Whether partial sums of this direction are exchanged in training.
bool exchanges(const Algorithm& algorithm, Direction d) {
    return algorithm.exchange != Algorithm::Exchange::never && (d == Direction::forward || algorithm.backward);
}
bool late(const Algorithm& algorithm, Direction d) {
    return algorithm.exchange == Algorithm::Exchange::late && exchanges(algorithm, d);
}

bool attends(const LayerPlan& plan) { return plan.spec(0).attention.has_value(); }
/// Columns of the widest rows that are exchanged at once.
std::int64_t widest_exchanged(const LayerPlan& plan) {
    return attends(plan) ? AttendedCopies::widest(plan) : plan.widest_operand();
}

int bin_of(const Algorithm& algorithm, std::int64_t epoch) { return static_cast<int>(epoch % algorithm.bins); }
/// Of late exchanges: partial sums of the epoch's bin have come to the roots, sums to the copies.
bool roots_have_sums(const Algorithm& algorithm, std::int64_t epoch) { return epoch >= algorithm.bins; }
bool copies_have_sums(const Algorithm& algorithm, std::int64_t epoch) {
    return epoch >= 2 * std::int64_t{algorithm.bins};
}

/// Both ways of one layer and direction: partial sums to the roots, and the roots' sums back.
struct BothWays {
    /// `all_bins`: those of every bin may be under way at the same time.
    BothWays(Backend& backend, const HeldCopies& copies, bool all_bins, std::int64_t width)
        : to_roots(backend, all_bins ? copies.copies() : copies.most_held(), copies.lent(), width),
          to_copies(backend, all_bins ? copies.lent() : copies.most_lent(), copies.copies(), width) {}
    static void state_memory(MemoryStatement& m, const HeldCopies& copies, bool all_bins, std::int64_t width) {
        LateRows::state_memory(m, all_bins ? copies.copies() : copies.most_held(), copies.lent(), width);
        LateRows::state_memory(m, all_bins ? copies.lent() : copies.most_lent(), copies.copies(), width);
    }
    void finish(int bin) {
        to_roots.finish(bin);
        to_copies.finish(bin);
    }
    void finish() {
        to_roots.finish();
        to_copies.finish();
    }

    LateRows to_roots, to_copies;
};

class ExchangedSums final : public DistributedSpmm {
public:
    ExchangedSums(const Problem& problem, const Adjacency& a, std::shared_ptr<const HeldCopies> copies, Rank rank,
                  const LayerPlan& plan, const Algorithm& algorithm)
        : copies_(std::move(copies)),
          algorithm_(algorithm),
          backend_(rank.backend),
          world_(rank.world),
          exchange_(backend_, world_, *copies_, widest_exchanged(plan)) {
        if (algorithm.known_degrees) require_no_negative_weight(problem.dataset.graph);
        const RowSums own = prepare(a, problem.dataset.graph);
        if (algorithm.runs_on) aside_.emplace(world_.aside());
        if (attends(plan)) {
            if (copies_->parts() > 1)
                attended_.emplace(backend_, exchange_, *copies_, a, problem.dataset.graph, plan);
        } else if (algorithm.backward || algorithm.known_degrees) {
            sums_ = backend_.matrix(copies_->rows(), plan.widest_operand());
        }
        if (algorithm.known_degrees) learn_degrees(own);
        for (const auto& layer : plan.layers) {
            model_layers_.push_back(layer->spec().model_layer);
            for (const Direction d : directions)
                if (late(algorithm, d))
                    late_[usize(d)].emplace_back(backend_, *copies_, algorithm.runs_on, layer->width(d));
        }
        for (auto& used : used_) used.resize(model_layers_.size());
    }

    void begin_epoch(std::int64_t epoch) override {
        training_ = true;
        epoch_ = epoch;
        bin_ = bin_of(algorithm_, epoch);
        if (known_ && algorithm_.exchange == Algorithm::Exchange::late)
            known_->use(roots_have_sums(algorithm_, epoch) ? bin_ : KnownDegrees::own,
                        copies_have_sums(algorithm_, epoch) ? bin_ : KnownDegrees::own);
    }
    void begin_evaluation() override { training_ = false; }
    void begin_layer(int l) override { layer_ = usize(l); }
    bool runs_on() const override { return algorithm_.runs_on; }
    void finish() override {
        for (auto& layers : late_)
            for (BothWays& rows : layers) rows.finish();
    }

    // Z_i ← Σ over the copies of a vertex of what their ranks' entries add to it
    void multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& e) override {
        if (d == Direction::backward) return return_gradients(b, c);
        const MatrixView sums = divides() ? sums_.view().reshaped(c.rows, c.cols) : c;
        backend_.spmm(*matrix_, b, sums);
        sum_copies(d, sums);
        if (loops_) backend_.spmm(*loops_, b, sums, {.beta = 1});
        if (divides()) known_->divide(sums, c);
        backend_.apply(e, c);
    }

    // Forward, a row's sum over the entries of this rank, then of all; backward, what these entries add to the gradients of rows.
    void accumulate(Direction d, BlockSum& sum) override {
        const bool shares = d == Direction::forward && !sum.again() && exchanges_now(d);
        sum.add(d == Direction::forward ? *matrix_ : *transposed_, sum.operand(),
                {.first = true, .last = !shares});
        if (shares) sum.merge_copies(*attended_);
    }
    ConstMatrixView summed_gradients(ConstMatrixView g) override {
        return exchanges_now(Direction::backward) ? attended_->summed(g) : g;
    }

    std::vector<RowAges> row_ages() const override {
        std::vector<RowAges> ages;
        const std::int64_t rows = copies_->copies() + copies_->lent();
        for (const Direction d : directions)
            for (std::size_t l = 0; l < late_[usize(d)].size(); ++l) {
                if (late_[usize(d)][l].to_roots.arrived().cols == 0) continue;
                const std::int64_t used = used_[usize(d)][l];
                ages.push_back(
                    {.layer = model_layers_[l],
                     .kind = d == Direction::forward ? RowAges::Kind::features : RowAges::Kind::gradients,
                     .rows = rows,
                     .absent = rows - used,
                     .sum_epochs = used * algorithm_.bins,
                     .most_epochs = used > 0 ? algorithm_.bins : 0});
            }
        return ages;
    }
    std::string notes() const override {
        return fmt::format("matrix: {}\ncopies: {} of {} rows", matrix_->format, copies_->copies(),
                           copies_->rows());
    }

private:
    /// Of each row, where there are values: what its entries add up to, and what its copy's own does.
    struct RowSums {
        std::vector<double> entries, loops;
    };
    RowSums prepare(const Adjacency& a, const GraphView& graph) {
        const std::int64_t n = copies_->rows(), loops = copies_->loop_count(a, graph);
        RowSums sums{.entries = std::vector<double>(usize(n)), .loops = std::vector<double>(usize(n))};
        if (!backend_.holds_values()) {
            const SparseSize size{n, n, copies_->nonzeros(a, graph)};
            matrix_ = backend_.prepare(size);
            transposed_ = backend_.prepare(size);
            if (loops > 0) loops_ = backend_.prepare(SparseSize{n, n, loops});
            return sums;
        }
        const Csr entries = copies_->matrix(a, graph);
        matrix_ = backend_.prepare_as_sized(entries);
        transposed_ = backend_.prepare_as_sized(transposed(entries, a.threads()));
        sums.entries = row_sums(entries);
        if (loops == 0) return sums;
        const Csr diagonal = copies_->loops(a, graph);
        loops_ = backend_.prepare_as_sized(diagonal);
        sums.loops = row_sums(diagonal);
        return sums;
    }

    /// Of a bin: what a root knows when the bin's copies have come, and a copy when its root's sum has.
    void learn_degrees(const RowSums& own) {
        const auto with_loops = [&](std::vector<double> sums) {
            for (std::size_t r = 0; r < sums.size(); ++r) sums[r] += own.loops[r];
            return sums;
        };
        known_.emplace(backend_, *copies_, with_loops(own.entries));
        if (algorithm_.exchange != Algorithm::Exchange::late) return;
        const MatrixView sums = sums_.view().reshaped(copies_->rows(), 1);
        for (int bin = 0; bin < copies_->bins(); ++bin) {
            backend_.upload(std::span<const double>(own.entries), sums);
            exchange_.add_at_roots(bin, sums);
            exchange_.take_from_roots(bin, sums);
            known_->add_bin(with_loops(backend_.download(sums).values));
        }
    }
    bool divides() const { return training_ && known_; }
    bool exchanges_now(Direction d) const {
        return copies_->parts() > 1 && (!training_ || exchanges(algorithm_, d));
    }

    // A copy's gradient is that of its root's sum, which all copies read: U_i ← Â_iᵀ Σ over copies of G, each divided by the
    // degree that its own row was. What a copy adds to itself returns its own.
    void return_gradients(MatrixView g, MatrixView u) {
        const bool sums_copies = training_ ? exchanges(algorithm_, Direction::backward) : algorithm_.backward;
        if (!sums_copies && !divides()) {
            backend_.spmm(*transposed_, g, u);
            if (loops_) backend_.spmm(*loops_, g, u, {.beta = 1});
            return;
        }
        const MatrixView sums = sums_.view().reshaped(g.rows, g.cols);  // the layer still needs each copy's own
        if (divides())
            known_->divide(g, sums);
        else
            backend_.copy(g, sums);
        if (loops_) backend_.spmm(*loops_, sums, u);
        sum_copies(Direction::backward, sums);
        backend_.spmm(*transposed_, sums, u, {.beta = loops_ ? 1.0 : 0.0});
    }

    void sum_copies(Direction d, MatrixView sums) {
        if (!exchanges_now(d)) return;
        if (training_ && late(algorithm_, d)) return sum_late(d, sums);
        // A root's sum is whole when all of its copies have come, which may be in different bins.
        for (int bin = 0; bin < copies_->bins(); ++bin) exchange_.add_at_roots(bin, sums);
        for (int bin = 0; bin < copies_->bins(); ++bin) exchange_.take_from_roots(bin, sums);
    }

    // Of this epoch's bin: a root adds what copies sent r epochs ago, a copy takes what its root sent then; both are sent for
    // use in r epochs. Other bins have what this rank's entries add up to.
    void sum_late(Direction d, MatrixView sums) {
        BothWays& rows = late_[usize(d)][layer_];
        rows.finish(bin_);
        const Run held = copies_->held(bin_), lent = copies_->lent(bin_);
        const MatrixView partial = leaving(rows.to_roots, held), copied = exchange_.copies_of(sums, bin_);
        const MatrixView from_copies = rows.to_roots.arrived().rows_from(lent.first, lent.count);
        const MatrixView from_roots = rows.to_copies.arrived().rows_from(held.first, held.count);
        const bool add = roots_have_sums(algorithm_, epoch_), take = copies_have_sums(algorithm_, epoch_);
        backend_.copy(copied, partial);
        if (add) exchange_.add(bin_, from_copies, sums);
        rows.to_roots.started(bin_, exchange_.start_collecting(channel(), bin_, partial, from_copies));
        if (take) backend_.copy(from_roots, copied);
        if (add) {
            const MatrixView sent = leaving(rows.to_copies, lent);
            exchange_.gather(bin_, sums, sent);
            rows.to_copies.started(bin_, exchange_.start_giving_back(channel(), bin_, sent, from_roots));
        }
        used_[usize(d)][layer_] = (add ? lent.count : 0) + (take ? held.count : 0);
    }

    Communicator& channel() { return aside_ ? *aside_ : world_; }
    /// Where the rows of a bin leave: a place of their own, or the same as those of other bins.
    MatrixView leaving(const LateRows& rows, Run run) const {
        return rows.leaving().rows_from(algorithm_.runs_on ? run.first : 0, run.count);
    }

    std::shared_ptr<const HeldCopies> copies_;
    Algorithm algorithm_;
    Backend& backend_;
    Communicator& world_;
    std::optional<Communicator> aside_;                            ///< if transfers run on
    std::unique_ptr<PreparedMatrix> matrix_, transposed_, loops_;  ///< loops_: if copies have their own
    CopyExchange exchange_;
    std::optional<AttendedCopies> attended_;  ///< if layers attend
    Matrix sums_;  ///< over copies: of gradients, and before they are divided, if layers do not
    std::optional<KnownDegrees> known_;
    std::vector<int> model_layers_;                  ///< by layer of the plan
    std::array<std::vector<BothWays>, 2> late_;      ///< by direction and layer
    std::array<std::vector<std::int64_t>, 2> used_;  ///< rows of others that the last epoch's products used
    bool training_ = false;
    std::int64_t epoch_ = 0;
    int bin_ = 0;
    std::size_t layer_ = 0;
};

/// One all-to-all of a bin's rows.
Traffic traffic(const HeldCopies& copies, int bin, bool to_roots, std::int64_t row_bytes) {
    Traffic t;
    for (Part j = 0; j < copies.parts(); ++j) {
        std::int64_t sent = copies.held(bin, j).count, received = copies.lent(bin, j).count;
        if (!to_roots) std::swap(sent, received);
        t += {sent * row_bytes, received * row_bytes, sent > 0};
    }
    return t;
}

}  // namespace

std::unique_ptr<DistributedSpmm> make_exchanged_sums(const Problem& problem, const Adjacency& a,
                                                     std::shared_ptr<const HeldCopies> copies, Rank rank,
                                                     const LayerPlan& plan, const Algorithm& algorithm) {
    return std::make_unique<ExchangedSums>(problem, a, std::move(copies), rank, plan, algorithm);
}

void state_exchanged_sums(MemoryStatement& m, const HeldCopies& copies, const LayerPlan& plan,
                          const Algorithm& algorithm) {
    CopyExchange::state_memory(m, copies, widest_exchanged(plan));
    if (attends(plan)) {
        if (copies.parts() > 1) AttendedCopies::state_memory(m, copies, plan);
        return;
    }
    if (algorithm.backward || algorithm.known_degrees) m.matrix(copies.rows(), plan.widest_operand());
    if (algorithm.known_degrees) KnownDegrees::state_memory(m, copies, algorithm);
    for (const auto& layer : plan.layers)
        for (const Direction d : directions)
            if (late(algorithm, d)) BothWays::state_memory(m, copies, algorithm.runs_on, layer->width(d));
}

Volume exchanged_sums_volume(const HeldCopies& copies, Direction d, const Algorithm& algorithm, std::int64_t epoch,
                             const CopiedColumns& columns, std::int64_t element_bytes) {
    Volume v;
    if (!exchanges(algorithm, d)) return v;
    const int bin = bin_of(algorithm, epoch);
    Traffic t = traffic(copies, bin, true, columns.to_roots * element_bytes);
    if (!late(algorithm, d) || roots_have_sums(algorithm, epoch))
        t += traffic(copies, bin, false, columns.to_copies * element_bytes);
    if (t != Traffic{}) v[{CommOp::all_to_all, Content::payload}] = t;
    return v;
}

}  // namespace gnnbench::dist
