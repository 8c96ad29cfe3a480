// BNS-GCN: partition parallelism with random boundary-node sampling.
// C. Wan, Y. Li, A. Li, N. S. Kim, Y. Lin, "BNS-GCN: Efficient Full-Graph Training of Graph Convolutional Networks
// with Partition-Parallelism and Random Boundary Node Sampling", MLSys 2022, Algorithm 1.
//
//   B_ij   boundary: rows of part j that part i needs, b_ij = |B_ij|
//   U_ij   this epoch's sample of B_ij, ⌊p·b_ij⌋ rows, drawn by part i and told to part j
//   Â_ij   block of Â without its empty columns [n_i × b_ij]
//   H_U    rows U_ij of H_j; scaled by b_ij / ⌊p·b_ij⌋, the sum's expectation is the whole boundary's
//
// p = 1 leaves nothing out and is exact. Each layer returns gradients for the rows it received, so backward moves
// rows of the layer's input width.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <gnnbench/halo.hpp>
#include <gnnbench/row_parallel.hpp>

namespace gnnbench {
namespace {

std::int64_t sample_size(double p, std::int64_t boundary) {
    return static_cast<std::int64_t>(std::floor(p * static_cast<double>(boundary)));
}

/// One side of one boundary. `places` are rows of the compact block on the receiving side, of H_j on the owner's.
struct Boundary {
    Part peer = 0;
    std::vector<std::int32_t> owner_rows;  ///< B_ij as local ids of the owner; length b_ij
    Array<std::int32_t> all, chosen;       ///< places of B_ij, of U_ij
    Array<std::int32_t> ids;               ///< receiving side: U_ij as the owner's local ids, to be told
    std::unique_ptr<PreparedMatrix> block, block_transposed;  ///< receiving side: Â_ij, Â_ijᵀ

    std::int64_t size() const { return std::ssize(owner_rows); }
};

class BoundarySampledSpmm final : public DistributedSpmm {
public:
    BoundarySampledSpmm(const Adjacency& a, const IndexMap& index, Rank rank, std::int64_t widest, double p,
                        std::uint64_t seed)
        : kernel_(rank.kernel), world_(rank.world), p_(p), seed_(seed) {
        const Halo halo = make_halo(a, index, world_.rank(), Direction::forward, every_block);
        own_ = kernel_.prepare(halo.own);
        if (!a.symmetric()) own_transposed_ = kernel_.prepare(transposed(halo.own));
        std::int64_t largest = 0;
        for (Part j = 0; j < index.parts(); ++j) {
            const auto n = static_cast<std::size_t>(j);
            if (const auto& needed = halo.needed[n]; !needed.empty()) {
                std::vector<std::int32_t> places(needed.size());
                std::iota(places.begin(), places.end(), 0);
                in_.push_back(boundary(j, needed, places));
                in_.back().ids = kernel_.upload(std::span<const std::int32_t>(needed));
                in_.back().block = kernel_.prepare(halo.compact[n]);
                in_.back().block_transposed = kernel_.prepare(transposed(halo.compact[n]));
                largest = std::max(largest, in_.back().size());
            }
            if (const auto& sent = halo.sent[n]; !sent.empty()) out_.push_back(boundary(j, sent, sent));
        }
        received_ = kernel_.matrix(halo.needed_rows(), widest);
        sent_ = kernel_.matrix(halo.sent_rows(), widest);
        if (p_ < 1) whole_ = kernel_.matrix(largest, widest);
    }

    // [Alg 1, lines 4–6] sample U_ij from B_ij and tell it to j
    void begin_epoch(std::int64_t epoch) override {
        sampling_ = p_ < 1;
        if (!sampling_) return;
        for (Boundary& b : in_) sample(b, epoch);
        std::vector<RowMessage> sends, receives;
        for (const Boundary& b : in_) sends.push_back({b.peer, as_rows(b.ids, rows_of(b))});
        for (const Boundary& b : out_) receives.push_back({b.peer, as_rows(b.chosen, rows_of(b))});
        world_.all_to_all_now(sends, receives, Content::metadata);
    }
    /// Evaluation and set-up see whole boundaries.
    void begin_evaluation() override { sampling_ = false; }

    void multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& e) override {
        if (d == Direction::forward) return aggregate(b, c, e);
        return_gradients(b, c);
    }

private:
    Boundary boundary(Part peer, std::vector<std::int32_t> owner_rows, const std::vector<std::int32_t>& places) {
        Boundary b;
        b.peer = peer;
        b.owner_rows = std::move(owner_rows);
        b.all = kernel_.upload(std::span<const std::int32_t>(places));
        b.chosen = kernel_.upload(std::span<const std::int32_t>(places));
        return b;
    }

    void sample(Boundary& b, std::int64_t epoch) {
        std::vector<std::int32_t> places(b.owner_rows.size());
        std::iota(places.begin(), places.end(), 0);
        const auto pair = static_cast<std::uint64_t>(world_.rank()) << 32 | static_cast<std::uint32_t>(b.peer);
        RandomStream draw(seed_ + 0x9E3779B97F4A7C15u * (pair + 1), Draw::sample,
                          static_cast<std::uint32_t>(epoch));
        const auto keep = static_cast<std::size_t>(sample_size(p_, b.size()));
        for (std::size_t k = 0; k < keep; ++k) std::swap(places[k], places[k + draw.below(places.size() - k)]);
        places.resize(keep);
        std::sort(places.begin(), places.end());
        kernel_.upload_bytes(places.data(), b.chosen.data(), keep * sizeof(std::int32_t));
        for (std::int32_t& place : places) place = b.owner_rows[static_cast<std::size_t>(place)];
        kernel_.upload_bytes(places.data(), b.ids.data(), keep * sizeof(std::int32_t));
    }

    std::int64_t rows_of(const Boundary& b) const { return sampling_ ? sample_size(p_, b.size()) : b.size(); }
    const std::int32_t* places(const Boundary& b) const { return sampling_ ? b.chosen.data() : b.all.data(); }
    /// b_ij / ⌊p·b_ij⌋
    double scale(const Boundary& b) const {
        return sampling_ ? static_cast<double>(b.size()) / static_cast<double>(rows_of(b)) : 1;
    }
    /// 32-bit ids as rows of one 4-byte element.
    static MatrixView as_rows(const Array<std::int32_t>& ids, std::int64_t count) {
        return {ids.data(), count, 1, 1, DType::f32};
    }

    /// This epoch's rows of each boundary, one after another in a buffer.
    std::vector<RowMessage> segments(const std::vector<Boundary>& side, const Matrix& buffer,
                                     std::int64_t width) const {
        std::vector<RowMessage> out;
        std::int64_t before = 0;
        for (const Boundary& b : side) {
            out.push_back({b.peer, buffer.view().reshaped(buffer.rows(), width).rows_from(before, rows_of(b))});
            before += rows_of(b);
        }
        return out;
    }

    // [Alg 1, lines 7–11] Z_i = Â_ii H_i + Σ_j (b_ij / ⌊p·b_ij⌋) Â_ij[:, U_ij] H_U
    void aggregate(MatrixView h_i, MatrixView z_i, const Epilogue& e) {
        const auto sends = segments(out_, sent_, h_i.cols), receives = segments(in_, received_, h_i.cols);
        for (std::size_t j = 0; j < out_.size(); ++j) kernel_.gather_rows(h_i, places(out_[j]), sends[j].rows);
        const Event arrived = world_.all_to_all(sends, receives);
        kernel_.spmm(*own_, h_i, z_i);
        kernel_.wait(StreamRole::compute, arrived);
        for (std::size_t j = 0; j < in_.size(); ++j) {
            if (rows_of(in_[j]) == 0) continue;
            MatrixView h_u = receives[j].rows;
            if (sampling_) {  // rows left out count as zero, so that the block is multiplied as it was prepared
                h_u = whole_.view().reshaped(in_[j].size(), h_i.cols);
                kernel_.fill(h_u, 0);
                kernel_.scatter_add_rows(receives[j].rows, in_[j].chosen.data(), h_u);
            }
            kernel_.spmm(*in_[j].block, h_u, z_i, {.alpha = scale(in_[j]), .beta = 1});
        }
        kernel_.apply(e, z_i);
    }

    // [Alg 1, line 14] dH_j gets (b_ij / ⌊p·b_ij⌋) (Â_ij[:, U_ij])ᵀ V_i from every i that received its rows
    void return_gradients(MatrixView v_i, MatrixView dh_i) {
        const auto sends = segments(in_, received_, v_i.cols), receives = segments(out_, sent_, v_i.cols);
        for (std::size_t j = 0; j < in_.size(); ++j) {
            if (rows_of(in_[j]) == 0) continue;
            const MatrixView all = sampling_ ? whole_.view().reshaped(in_[j].size(), v_i.cols) : sends[j].rows;
            kernel_.spmm(*in_[j].block_transposed, v_i, all, {.alpha = scale(in_[j])});
            if (sampling_) kernel_.gather_rows(all, in_[j].chosen.data(), sends[j].rows);
        }
        const Event arrived = world_.all_to_all(sends, receives);
        kernel_.spmm(own_transposed_ ? *own_transposed_ : *own_, v_i, dh_i);
        kernel_.wait(StreamRole::compute, arrived);
        for (std::size_t j = 0; j < out_.size(); ++j)
            kernel_.scatter_add_rows(receives[j].rows, places(out_[j]), dh_i);
    }

    Kernel& kernel_;
    Communicator& world_;
    double p_;
    std::uint64_t seed_;
    bool sampling_ = false;
    std::unique_ptr<PreparedMatrix> own_, own_transposed_;
    std::vector<Boundary> in_, out_;  // what this rank receives; what it owns and sends
    Matrix received_, sent_, whole_;  // whole_ [max b_ij × widest]: a boundary with zeros for what was left out
};

class BnsGcn final : public Strategy {
public:
    std::string approximation(const Params& params) const override {
        const double p = params.real("rate");
        return p < 1 ? fmt::format("boundary nodes sampled at rate {}", p) : std::string();
    }
    std::string why_unsupported(const Setting& s) const override { return row_parallel_why_unsupported(s); }

    Volume stated_volume(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const BlockCounts counts(Adjacency(p.dataset.graph, p.model), p.index);
        const double rate = p.params.real("rate");
        const auto rows = [&](std::int64_t row_bytes, bool toward_owner) {
            Traffic t;
            for (Part j = 0; j < p.index.parts(); ++j) {
                if (j == rank) continue;
                std::int64_t sent = sample_size(rate, counts.nonzero_columns(j, rank));
                std::int64_t received = sample_size(rate, counts.nonzero_columns(rank, j));
                if (toward_owner) std::swap(sent, received);
                t += {sent * row_bytes, received * row_bytes, sent > 0};
            }
            return t;
        };
        const auto product = [&](Direction d, std::int64_t width) {
            return Volume{
                {{CommOp::all_to_all, Content::payload}, rows(width * element_bytes, d == Direction::backward)}};
        };
        Volume v = row_parallel_volume(plan(p), p.model, product, p.index.parts(), rank, element_bytes);
        if (rate < 1) v[{CommOp::all_to_all, Content::metadata}] += rows(sizeof(std::int32_t), true);
        return v;
    }

    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const BlockCounts counts(Adjacency(p.dataset.graph, p.model), p.index);
        const auto product = [&](MemoryStatement& m, std::int64_t widest) {
            std::int64_t received = 0, sent = 0, largest = 0;
            for (Part j = 0; j < p.index.parts(); ++j) {
                if (j == rank) continue;
                received += counts.nonzero_columns(rank, j);
                sent += counts.nonzero_columns(j, rank);
                largest = std::max(largest, counts.nonzero_columns(rank, j));
            }
            m.matrix(received, widest);
            m.matrix(sent, widest);
            if (p.params.real("rate") < 1) m.matrix(largest, widest);
            m.list<std::int32_t>(3 * received + 2 * sent);  // all and chosen places, and ids to tell
        };
        return row_parallel_memory(plan(p), p, rank, product, element_bytes);
    }

    std::unique_ptr<Trainer> make_trainer(const Problem& p, Rank rank) const override {
        return make_row_parallel_trainer(p, rank, plan(p), [&](const Adjacency& a, std::int64_t widest) {
            return std::make_unique<BoundarySampledSpmm>(a, p.index, rank, widest, p.params.real("rate"),
                                                         p.train.seed);
        });
    }

private:
    /// Received rows are aggregated, then transformed; their gradients go back in the input's width.
    LayerPlan plan(const Problem& p) const {
        LayerPlan plan{std::vector(static_cast<std::size_t>(p.model.layers()), LayerOrder::aggregate_first_kept)};
        if (aggregates_input(*this, {p.index.parts(), p.model, p.train, p.params}))
            plan.order[0] = LayerOrder::aggregated_input;
        return plan;
    }
};

constexpr ParamDecl parameters[] = {
    {"rate", ParamType::real, "1", 0.0, 1.0, nullptr,
     "p: the share of each boundary that is sampled in an epoch; 1 is exact"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::BnsGcn, "bns-gcn", "1.0.0",
                "BNS-GCN: partition parallelism with boundary-node sampling (Wan et al., MLSys 2022)",
                gnnbench::parameters)
