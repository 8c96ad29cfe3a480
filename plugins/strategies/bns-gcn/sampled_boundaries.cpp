#include <functional>
#include <numeric>

#include <gnnbench/usize.hpp>

#include "boundaries.hpp"
#include "sampled_columns.hpp"

namespace gnnbench::bns {
namespace {

/// 32-bit ids as rows of one 4-byte element.
MatrixView as_rows(const Array<std::int32_t>& ids, std::int64_t count) {
    return {ids.data(), count, 1, 1, DType::f32};
}

/// The most nonzeros that `columns` of these columns hold.
std::int64_t most_nonzeros(std::span<const std::int64_t> of_column, std::int64_t columns) {
    std::vector<std::int64_t> sorted(of_column.begin(), of_column.end());
    std::sort(sorted.begin(), sorted.end(), std::greater());
    return std::reduce(sorted.begin(), sorted.begin() + columns);
}

class SampledBoundaries final : public DistributedSpmm {
public:
    SampledBoundaries(const Adjacency& a, const IndexMap& index, Rank rank, const LayerPlan& plan, bool overlap,
                      Sampling sampling)
        : backend_(rank.backend),
          world_(rank.world),
          overlap_(overlap),
          rate_(sampling.rate),
          seed_(sampling.seed) {
        const Halo halo = make_halo(a, index, world_.rank(), Direction::forward, every_block);
        own_ = backend_.prepare(halo.own);
        if (!a.symmetric()) own_transposed_ = backend_.prepare(transposed(halo.own, a.threads()));
        std::vector<std::int64_t> of_column(usize(halo.remote.cols));  // nonzeros of each
        for (const std::int32_t c : halo.remote.indices) ++of_column[usize(c)];
        std::size_t column = 0;
        std::int64_t received = 0, sent = 0, nonzeros = 0;
        for (Part j = 0; j < index.parts(); ++j) {
            const auto n = usize(j);
            if (const auto& needed = halo.needed[n]; !needed.empty()) {
                in_.add(j, needed, rate_, backend_);
                received += in_.capacity.back();
                nonzeros +=
                    most_nonzeros(std::span(of_column).subspan(column, needed.size()), in_.capacity.back());
                column += needed.size();
            }
            if (const auto& rows = halo.sent[n]; !rows.empty()) {
                out_.add(j, rows, rate_, backend_);
                whole_.push_back(backend_.upload(std::span<const std::int32_t>(rows)));
                sent += out_.capacity.back();
            }
        }
        columns_ = std::make_unique<SampledColumns>(halo.own.rows, halo.remote, received, nonzeros, backend_);
        received_ = backend_.matrix(received, plan.widest_operand());
        sent_ = backend_.matrix(sent, plan.widest_operand());
        room_ = backend_.matrix(received, plan.widest_room());
        exchanges_ = agree_on_exchanges(rank.processes);
    }

    // [Alg 1, lines 4–6] sample U_ij from B_ij and send it to j
    void begin_epoch(std::int64_t epoch) override {
        sampling_ = true;
        in_.rows = in_.sampled;
        out_.rows = out_.sampled;
        choice_.clear();
        scales_.clear();
        std::int32_t before = 0;
        for (std::size_t j = 0; j < in_.peers.size(); ++j) {
            draw(j, epoch, before);
            before += static_cast<std::int32_t>(in_.owner_rows[j].size());
        }
        if (rate_.p > 0) {
            std::vector<RowMessage> sends, receives;
            for (std::size_t j = 0; j < in_.peers.size(); ++j)
                sends.push_back({in_.peers[j], as_rows(in_.ids[j], in_.rows[j])});
            for (std::size_t j = 0; j < out_.peers.size(); ++j)
                receives.push_back({out_.peers[j], as_rows(out_.ids[j], out_.rows[j])});
            world_.all_to_all_now(sends, receives, Content::metadata);
        }
        columns_->choose(choice_, scales_, true);
    }
    void begin_evaluation() override { sampling_ = false; }

    void multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& e) override {
        if (d == Direction::backward) return return_gradients(b, c);
        aggregate(b,
                  {[&](Stage) { backend_.spmm(*own_, b, c); },
                   [&](const CsrView& a, ConstMatrixView h_u, Stage) { backend_.spmm(a, h_u, c, {.beta = 1}); }});
        backend_.apply(e, c);
    }
    void accumulate(Direction d, BlockSum& sum) override {
        require(d == Direction::forward, "sums over boundaries are returned, backward");
        const MatrixView b = sum.operand();
        aggregate(b, {[&](Stage stage) { sum.add(*own_, b, stage); },
                      [&](const CsrView& a, ConstMatrixView b_u, Stage stage) {
                          sum.add(*backend_.refer(a), b_u, stage);
                      }});
    }

    // The rows of U_ij once more, then what this rank adds up for them.
    void accumulate_returned(ReturnedSum& sum) override {
        const std::int64_t again = sum.again().cols, returned = sum.sums().cols;
        backend_.wait(StreamRole::compute, exchange(sum.again()));
        const CsrView a = columns_->backward();
        const auto rows = [&](const Matrix& m, std::int64_t width) { return m.view().reshaped(a.rows, width); };
        if (a.rows > 0)
            sum.sum_for({*backend_.refer(columns_->forward()), *backend_.refer(a)}, rows(received_, again),
                        rows(room_, sum.room_columns()), rows(received_, returned));
        sum.add_own({*own_, own_transposed()});
        const Event arrived = start_return(returned);
        backend_.wait(StreamRole::compute, arrived);
        add_returned(sum.sums());
    }

private:
    /// One side of all boundaries: what this rank receives, or what it owns and sends. All by peer.
    struct Side {
        std::vector<Part> peers;
        std::vector<std::vector<std::int32_t>> owner_rows;  ///< B as local ids of the owner; length b
        std::vector<std::int64_t> sampled, capacity, rows;  ///< k; rows of the buffer; rows in this exchange
        std::vector<Array<std::int32_t>> ids;               ///< U as local ids of the owner; length capacity

        void add(Part peer, const std::vector<std::int32_t>& boundary, const SamplingRate& rate,
                 Backend& backend) {
            peers.push_back(peer);
            owner_rows.push_back(boundary);
            sampled.push_back(rate.sample_size(std::ssize(boundary)));
            capacity.push_back(rate.capacity(std::ssize(boundary)));
            rows.push_back(0);
            ids.push_back(backend.upload(std::span<const std::int32_t>(boundary).first(usize(sampled.back()))));
        }
    };

    void draw(std::size_t j, std::int64_t epoch, std::int32_t before) {
        const std::vector<std::int32_t>& boundary = in_.owner_rows[j];
        const auto pair =
            static_cast<std::uint64_t>(world_.rank()) << 32 | static_cast<std::uint32_t>(in_.peers[j]);
        RandomStream stream(seed_ + 0x9E3779B97F4A7C15u * (pair + 1), Draw::sample,
                            static_cast<std::uint32_t>(epoch));
        places_.resize(boundary.size());
        std::iota(places_.begin(), places_.end(), 0);
        const auto keep = usize(in_.sampled[j]);
        for (std::size_t k = 0; k < keep; ++k)
            std::swap(places_[k], places_[k + stream.below(places_.size() - k)]);
        places_.resize(keep);
        std::sort(places_.begin(), places_.end());
        // A weight of b_ij / k_ij keeps the expectation of the sum over the boundary.
        scales_.insert(scales_.end(), keep, static_cast<double>(boundary.size()) / static_cast<double>(keep));
        for (std::int32_t& place : places_) {
            choice_.push_back(before + place);
            place = boundary[usize(place)];
        }
        backend_.upload_bytes(places_.data(), in_.ids[j].data(), keep * sizeof(std::int32_t));
    }

    /// How a sum takes the own block, and columns of boundaries with the rows received for them.
    struct Adds {
        std::function<void(Stage)> own;
        std::function<void(const CsrView&, ConstMatrixView, Stage)> received;
    };
    void aggregate(MatrixView h_i, const Adds& add) {
        if (sampling_)
            aggregate_sample(h_i, add);
        else
            aggregate_whole(h_i, add);
    }

    /// The sampled rows of the others' h.
    Event exchange(MatrixView h_i) {
        const auto sends = segments(out_.peers, out_.rows, sent_, h_i.cols);
        for (std::size_t j = 0; j < sends.size(); ++j)
            backend_.gather_rows(h_i, out_.ids[j].data(), sends[j].rows);
        return world_.all_to_all(sends, segments(in_.peers, in_.rows, received_, h_i.cols));
    }

    // [Alg 1, lines 7–11] Z_i = Â_ii H_i + Σ_j (b_ij / k_ij) Â_ij[:, U_ij] H_U
    void aggregate_sample(MatrixView h_i, const Adds& add) {
        const Event arrived = exchange(h_i);
        if (!overlap_) backend_.wait(StreamRole::compute, arrived);
        add.own({.first = true, .last = columns_->forward().cols == 0});
        if (overlap_) backend_.wait(StreamRole::compute, arrived);
        add_received(h_i.cols, add, true);
    }

    void add_received(std::int64_t width, const Adds& add, bool last) {
        const CsrView a = columns_->forward();
        if (a.cols > 0) add.received(a, received_.view().reshaped(a.cols, width), {.first = false, .last = last});
    }

    // [Alg 1, line 14] dH_j gets (b_ij / k_ij) (Â_ij[:, U_ij])ᵀ V_i from every i that received its rows
    void return_gradients(MatrixView v_i, MatrixView dh_i) {
        require(sampling_, "gradients are returned for an epoch's sample");
        const PreparedMatrix& own = own_transposed();
        if (!overlap_) backend_.spmm(own, v_i, dh_i);
        const CsrView a = columns_->backward();
        if (a.rows > 0) backend_.spmm(a, v_i, received_.view().reshaped(a.rows, v_i.cols));
        const Event arrived = start_return(v_i.cols);
        if (overlap_) backend_.spmm(own, v_i, dh_i);
        backend_.wait(StreamRole::compute, arrived);
        add_returned(dh_i);
    }
    const PreparedMatrix& own_transposed() const { return own_transposed_ ? *own_transposed_ : *own_; }
    /// From where rows were received to where they were sent from.
    Event start_return(std::int64_t width) {
        return world_.all_to_all(segments(in_.peers, in_.rows, received_, width),
                                 segments(out_.peers, out_.rows, sent_, width));
    }
    void add_returned(MatrixView c) {
        const auto returned = segments(out_.peers, out_.rows, sent_, c.cols);
        for (std::size_t j = 0; j < returned.size(); ++j)
            backend_.scatter_add_rows(returned[j].rows, out_.ids[j].data(), c);
    }

    /// Z_i = Â_ii H_i + Σ_j Â_ij H_B, in chunks of as many rows of each boundary as the buffers hold.
    void aggregate_whole(MatrixView h_i, const Adds& add) {
        std::int64_t with_rows = 0;  // exchanges
        for (std::size_t j = 0; j < in_.peers.size(); ++j) with_rows = std::max(with_rows, exchanges_of(j));
        add.own({.first = true, .last = with_rows == 0});
        for (std::int64_t x = 0; x < exchanges_; ++x) {
            choose_run(x);
            for (std::size_t j = 0; j < out_.peers.size(); ++j) out_.rows[j] = run_length(out_, j, x);
            const auto sends = segments(out_.peers, out_.rows, sent_, h_i.cols);
            for (std::size_t j = 0; j < sends.size(); ++j)
                if (out_.rows[j] > 0)
                    backend_.gather_rows(h_i, whole_[j].data() + x * out_.capacity[j], sends[j].rows);
            world_.all_to_all_now(sends, segments(in_.peers, in_.rows, received_, h_i.cols));
            add_received(h_i.cols, add, x + 1 == with_rows);
        }
    }

    /// Rows of boundary j in exchange x.
    static std::int64_t run_length(const Side& side, std::size_t j, std::int64_t x) {
        return std::clamp<std::int64_t>(std::ssize(side.owner_rows[j]) - x * side.capacity[j], 0,
                                        side.capacity[j]);
    }

    void choose_run(std::int64_t x) {
        choice_.clear();
        std::int64_t before = 0;
        for (std::size_t j = 0; j < in_.peers.size(); ++j) {
            in_.rows[j] = run_length(in_, j, x);
            for (std::int64_t r = 0; r < in_.rows[j]; ++r)
                choice_.push_back(static_cast<std::int32_t>(before + x * in_.capacity[j] + r));
            before += std::ssize(in_.owner_rows[j]);
        }
        scales_.assign(choice_.size(), 1);
        columns_->choose(choice_, scales_, false);
    }

    /// The number of exchanges that the largest boundary needs, over all ranks.
    std::int64_t agree_on_exchanges(const ProcessGroup& processes) const {
        std::int64_t most = 0;
        for (std::size_t j = 0; j < in_.peers.size(); ++j) most = std::max(most, exchanges_of(j));
        return static_cast<std::int64_t>(processes.maximum({static_cast<double>(most)})[0]);
    }
    /// In how many exchanges boundary j arrives whole.
    std::int64_t exchanges_of(std::size_t j) const {
        return (std::ssize(in_.owner_rows[j]) + in_.capacity[j] - 1) / in_.capacity[j];
    }

    Backend& backend_;
    Communicator& world_;
    bool overlap_;
    SamplingRate rate_;
    std::uint64_t seed_;
    bool sampling_ = false;
    std::int64_t exchanges_ = 0;  ///< of a whole aggregation
    std::unique_ptr<PreparedMatrix> own_, own_transposed_;
    Side in_, out_;
    std::vector<Array<std::int32_t>> whole_;  ///< B_ji as local ids, by peer of out_
    std::unique_ptr<SampledColumns> columns_;
    Matrix received_, sent_;
    Matrix room_;                                ///< where sums of received rows are made before they are returned
    std::vector<std::int32_t> places_, choice_;  ///< of a boundary; of all of them side by side
    std::vector<double> scales_;                 ///< by choice
};

}  // namespace

std::unique_ptr<DistributedSpmm> make_sampled_boundaries(const Adjacency& a, const IndexMap& index, Rank rank,
                                                         const LayerPlan& plan, bool overlap, Sampling sampling) {
    return std::make_unique<SampledBoundaries>(a, index, rank, plan, overlap, sampling);
}

}  // namespace gnnbench::bns
