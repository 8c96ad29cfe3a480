#include "share_training.hpp"

#include <array>
#include <span>

#include <gnnbench/training/loss.hpp>
#include <gnnbench/training/row_parallel.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::minibatch {
namespace {

/// What is done while it lives is not counted.
class NotBusy {
public:
    explicit NotBusy(BusyTime& time) : time_(time) { time_.pause(); }
    NotBusy(const NotBusy&) = delete;
    NotBusy& operator=(const NotBusy&) = delete;
    ~NotBusy() { time_.resume(); }

private:
    BusyTime& time_;
};

void state_side_memory(MemoryStatement& m, const SideRoom& room, std::int64_t rows, Part parts,
                       std::int64_t widest) {
    HaloExchange::state_memory(m, room.halo, widest);
    m.list<std::int64_t>(parts * (rows + 1));
    m.list<std::int32_t>(room.nonzeros);
    m.matrix(1, room.nonzeros);
    m.list<std::int64_t>(room.columns);
}

}  // namespace

ShareSpmm::Side::Side(const SideRoom& most, std::int64_t rows, Part parts, std::int64_t widest, Backend& backend)
    : exchange(most.halo, backend, widest),
      indptr(room<std::int64_t>(backend, parts * (rows + 1))),
      indices(room<std::int32_t>(backend, most.nonzeros)),
      values(backend.matrix(1, most.nonzeros)),
      columns(room<std::int64_t>(backend, most.columns)) {}

void ShareSpmm::Side::load(const ShareSide& share, std::int64_t rows, const std::int64_t* ids, Backend& backend) {
    const PackedBlocks& packed = share.blocks;
    exchange.load(share.halo);
    load_list(backend, packed.indptr, indptr);
    load_list(backend, packed.indices, indices);
    load_list(backend, packed.columns, columns);
    const MatrixView entries = values.view().cols_from(0, std::ssize(packed.values));
    backend.upload(std::span<const double>(packed.values), entries);
    const auto view = [&](const PackedBlocks::Block& b) {
        const auto* first = static_cast<const std::byte*>(entries.data);
        return CsrView{.indptr = indptr.data() + b.row_start,
                       .indices = indices.data() + b.entry_start,
                       .values = first + usize(b.entry_start) * size_of(entries.dtype),
                       .rows = rows,
                       .cols = b.cols,
                       .nonzeros = b.nonzeros,
                       .row_vertices = packed.columns.empty() ? nullptr : ids,
                       .col_vertices = packed.columns.empty() ? nullptr : columns.data() + b.column_start};
    };
    own = view(packed.blocks.front());
    peers = packed.peers;
    blocks.clear();
    for (const PackedBlocks::Block& b : std::span(packed.blocks).subspan(1)) blocks.push_back(view(b));
}

ShareSpmm::ShareSpmm(Rank rank, const ShareRoom& room, std::int64_t widest, BusyTime& busy)
    : backend_(rank.backend),
      world_(rank.world),
      busy_(busy),
      forward_(room.forward, room.rows, room.parts, widest, backend_) {
    if (room.backward) backward_.emplace(*room.backward, room.rows, room.parts, widest, backend_);
}

void ShareSpmm::state_memory(MemoryStatement& m, const ShareRoom& room, std::int64_t widest) {
    state_side_memory(m, room.forward, room.rows, room.parts, widest);
    if (room.backward) state_side_memory(m, *room.backward, room.rows, room.parts, widest);
}

void ShareSpmm::load(const BatchShare& share, const std::int64_t* ids) {
    forward_.load(share.forward, share.vertices.rows(), ids, backend_);
    if (share.backward) backward_->load(*share.backward, share.vertices.rows(), ids, backend_);
}

void ShareSpmm::multiply(Direction d, MatrixView h_m, MatrixView z_m, const Epilogue& e) {
    by_arrival(d, h_m, [&](const CsrView& a_mn, ConstMatrixView h_nm, Stage stage) {
        backend_.spmm(a_mn, h_nm, z_m, stage.first ? Scale{} : Scale{.beta = 1}, stage.last ? e : Epilogue{});
    });
}

void ShareSpmm::accumulate(Direction d, BlockSum& sum) {
    by_arrival(d, sum.operand(), [&](const CsrView& a_mn, ConstMatrixView b_nm, Stage stage) {
        sum.add(*backend_.refer(a_mn), b_nm, stage);
    });
}

// [Alg 1, lines 3–9] with H^{k-1}, and [Alg 2, lines 4–10] with G^k, both of the batch.
template <class Add>
void ShareSpmm::by_arrival(Direction d, MatrixView h_m, Add&& add) {
    Side& s = d == Direction::backward && backward_ ? *backward_ : forward_;
    // One message from each processor that owns needed rows and to each that needs some, all non-blocking.
    std::vector<Event> arrivals = s.exchange.gather_each(world_, h_m);
    const Event sent = arrivals.back();
    arrivals.pop_back();
    // [Alg 1, line 6] Z_m = A_mm H_m, while messages are in flight
    add(s.own, h_m, Stage{.first = true, .last = s.peers.empty()});
    // [Alg 1, lines 7–9] Z_m = Z_m + A_mn H_nm, in order of arrival
    std::vector<bool> done(arrivals.size());
    const auto next_arrival = [&] {
        const NotBusy waits(busy_);
        return backend_.wait_any(StreamRole::compute, arrivals, done);
    };
    for (std::size_t k = 0; k < arrivals.size(); ++k) {
        const std::size_t n = next_arrival();
        done[n] = true;
        add(s.blocks[n], s.exchange.received(s.peers[n], h_m.cols),
            Stage{.first = false, .last = k + 1 == arrivals.size()});
    }
    const NotBusy waits(busy_);
    backend_.wait(StreamRole::compute, sent);
}

ShareTraining::ShareTraining(const Problem& p, Rank rank, const ShareRoom& room, const ModelWeights& initial)
    : multi_label_(p.dataset.multi_label()),
      slowdown_(p.slowdown),
      backend_(rank.backend),
      world_(rank.world),
      processes_(rank.processes),
      network_(aggregate_first_plan(p), p.model, p.train, initial, room.rows, backend_),
      spmm_(rank, room, network_.plan().widest_operand(), busy_),
      vertices_(p.dataset, room.rows, backend_),
      loss_(backend_.upload(std::span<const double>(std::array{0.0}))) {}

void ShareTraining::state_memory(MemoryStatement& m, const Problem& p, const ShareRoom& room) {
    const LayerPlan plan = aggregate_first_plan(p);
    Network::state_memory(m, plan, p.model, p.train, room.rows);
    ShareSpmm::state_memory(m, room, plan.widest_operand());
    DeviceVertices::state_memory(m, p.dataset, room.rows);
    m.list<double>(1);  // the loss
}

void ShareTraining::load(const BatchShare& share) {
    network_.set_rows(share.vertices.rows());
    vertices_.load(share.vertices);
    spmm_.load(share, vertices_.ids());
}

Step ShareTraining::train(const BatchShare& share, std::int64_t step) {
    slowdown_.begin_step(processes_, step);
    busy_.start();
    load(share);
    const ConstMatrixView logits =
        network_.forward(vertices_.features(), vertices_.ids(), Pass::training, step, spmm_);
    loss_and_gradient(backend_, logits, vertices_.loss_input(share.samples), network_.output_gradient(),
                      loss_.data());
    const Event summed = world_.all_reduce_scalars(loss_.data(), 1);
    backward();
    network_.parameters().step();
    busy_.pause();
    // Read last, so that the device does not stall in the middle of the step.
    backend_.wait(StreamRole::compute, summed);
    Step done{.samples = share.samples};
    backend_.download_bytes(loss_.data(), &done.loss, sizeof done.loss);
    slowdown_.end_step(processes_, step, busy_.seconds());
    return done;
}

// [Alg 2, lines 11–14] Each layer's gradients are summed while the rest of the backward pass is computed.
void ShareTraining::backward() {
    std::vector<Event> reductions;
    network_.backward(spmm_, [&](MatrixView gradients, bool last) {
        if (!last) {
            reductions.push_back(world_.all_reduce(gradients));
            return;
        }
        const NotBusy waits(busy_);
        world_.all_reduce_now(gradients);  // nothing left to overlap
    });
    const NotBusy waits(busy_);
    for (const Event& e : reductions) backend_.wait(StreamRole::compute, e);
}

Score ShareTraining::evaluate(const BatchShare& share) {
    load(share);
    const std::vector<std::int64_t> zeros(usize(score_counts(multi_label_)));
    const Array<std::int64_t> room = backend_.upload(std::span<const std::int64_t>(zeros));
    const ConstMatrixView logits =
        network_.forward(vertices_.features(), vertices_.ids(), Pass::evaluation, 0, spmm_);
    std::vector<double> counts = count_score(backend_, logits, vertices_.loss_input(share.samples), room.data());
    // Through the device, because these sums are sent as every other message is.
    const Array<double> sums = backend_.upload(std::span<const double>(counts));
    world_.all_reduce_scalars_now(sums.data(), sums.size());
    backend_.download_bytes(sums.data(), counts.data(), counts.size() * sizeof(double));
    return score_of(multi_label_, counts);
}

OwnedRows ShareTraining::embeddings(const BatchShare& share) {
    load(share);
    return {share.vertices.ids, backend_.download(network_.forward(vertices_.features(), vertices_.ids(),
                                                                   Pass::evaluation, 0, spmm_))};
}

}  // namespace gnnbench::minibatch
