#include <gnnbench/batches/batch_training.hpp>

#include <array>

#include <gnnbench/busy_time.hpp>
#include <gnnbench/training/loss.hpp>
#include <gnnbench/training/row_parallel.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// Multiplies by the current batch.
class BatchSpmm final : public DistributedSpmm {
public:
    BatchSpmm(Backend& backend, const CsrView& forward, const CsrView& backward)
        : backend_(backend), forward_(forward), backward_(backward) {}
    void multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& e) override {
        backend_.spmm(matrix(d), b, c, {}, e);
    }
    void accumulate(Direction d, BlockSum& sum) override {
        sum.add(*backend_.refer(matrix(d)), sum.operand(), {});
    }

private:
    const CsrView& matrix(Direction d) const { return d == Direction::forward ? forward_ : backward_; }

    Backend& backend_;
    const CsrView &forward_, &backward_;
};

ModelWeights starting_weights(const Problem& p) {
    return p.initial_weights ? *p.initial_weights : initial_weights(p.model, p.train.seed);
}

}  // namespace

bool symmetric_batches(const Problem& p) {
    return p.dataset.graph.symmetric && p.model.normalisation != Normalisation::mean;
}

BatchTraining::BatchTraining(const Problem& problem, Rank rank, const BatchSize& most)
    : problem_(problem),
      rank_(rank),
      backend_(rank.backend),
      network_(narrowest_plan(problem), problem.model, problem.train, starting_weights(problem), most.rows,
               backend_),
      most_(most),
      vertices_(problem.dataset, most.rows, backend_),
      forward_(room_for_csr()),
      symmetric_(symmetric_batches(problem)),
      loss_(backend_.upload(std::span<const double>(std::array{0.0}))) {
    if (!symmetric_) backward_ = room_for_csr();
}

void BatchTraining::state_csr_memory(MemoryStatement& m, const BatchSize& most) {
    m.list<std::int64_t>(most.rows + 1);
    m.list<std::int32_t>(most.nonzeros);
    m.matrix(1, most.nonzeros);
}

void BatchTraining::state_memory(MemoryStatement& m, const Problem& p, const BatchSize& most) {
    Network::state_memory(m, narrowest_plan(p), p.model, p.train, most.rows);
    DeviceVertices::state_memory(m, p.dataset, most.rows);
    state_csr_memory(m, most);
    if (!symmetric_batches(p)) state_csr_memory(m, most);
    m.list<double>(1);  // the loss
}

BatchTraining::DeviceCsr BatchTraining::room_for_csr() {
    DeviceCsr d;
    d.indptr = room<std::int64_t>(backend_, most_.rows + 1);
    d.indices = room<std::int32_t>(backend_, most_.nonzeros);
    d.values = backend_.matrix(1, most_.nonzeros);
    return d;
}

void BatchTraining::load(const Csr& from, DeviceCsr& to) {
    require(from.nonzeros() <= most_.nonzeros, "a batch has more nonzeros than there is room for");
    load_list(backend_, from.indptr, to.indptr);
    load_list(backend_, from.indices, to.indices);
    if (from.nonzeros() > 0)
        backend_.upload(std::span<const double>(from.values), to.values.view().cols_from(0, from.nonzeros()));
    to.view = {.indptr = to.indptr.data(),
               .indices = to.indices.data(),
               .values = to.values.view().data,
               .rows = from.rows,
               .cols = from.cols,
               .nonzeros = from.nonzeros(),
               .row_vertices = vertices_.ids(),
               .col_vertices = vertices_.ids()};
}

void BatchTraining::load(const Batch& batch) {
    network_.set_rows(batch.rows());
    vertices_.load(batch.vertices);
    load(batch.matrices->forward, forward_);
    if (batch.matrices->backward) load(*batch.matrices->backward, backward_);
}

Step BatchTraining::compute_gradient(const Batch& batch, std::int64_t step) {
    return compute_gradient(batch, step, {});
}

Step BatchTraining::compute_gradient(const Batch& batch, std::int64_t step, const Network::GradientsReady& ready) {
    problem_.slowdown.begin_step(rank_.processes, step);
    BusyTime busy;
    busy.start();
    load(batch);
    BatchSpmm spmm(backend_, forward_.view, batch.matrices->backward ? backward_.view : forward_.view);
    const ConstMatrixView logits =
        network_.forward(vertices_.features(), vertices_.ids(), Pass::training, step, spmm);
    loss_and_gradient(backend_, logits, vertices_.loss_input(batch.samples), network_.output_gradient(),
                      loss_.data());
    network_.backward(spmm, ready);
    Step done{.samples = batch.samples, .extent = Extent::this_rank};
    backend_.download_bytes(loss_.data(), &done.loss, sizeof done.loss);
    problem_.slowdown.end_step(rank_.processes, step, busy.seconds());
    return done;
}

WholeGraphModel::WholeGraphModel(const Problem& p, const ModelWeights& weights, Rank alone)
    : index_(IndexMap::one_part(p.dataset.graph.vertices())) {
    const Problem own{p.dataset, index_, p.model, p.train, no_params_, &weights, 1};
    trainer_ = make_row_parallel_trainer(own, alone, narrowest_plan(own), [&](const Adjacency& a, std::int64_t) {
        return make_whole_spmm(a, index_, alone.backend);
    });
}

WholeGraphModel::~WholeGraphModel() = default;

}  // namespace gnnbench
