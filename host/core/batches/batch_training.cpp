#include <gnnbench/batches/batch_training.hpp>

#include <time.h>

#include <array>
#include <chrono>
#include <thread>

#include <gnnbench/random.hpp>
#include <gnnbench/training/loss.hpp>
#include <gnnbench/training/row_parallel.hpp>
#include <gnnbench/training/vertex_data.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// Multiplies by the current batch.
class BatchSpmm final : public DistributedSpmm {
public:
    BatchSpmm(Backend& backend, const CsrView& forward, const CsrView& backward)
        : backend_(backend), forward_(forward), backward_(backward) {}
    void multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& e) override {
        backend_.spmm(d == Direction::forward ? forward_ : backward_, b, c, {}, e);
    }

private:
    Backend& backend_;
    const CsrView &forward_, &backward_;
};

ModelWeights starting_weights(const Problem& p) {
    return p.initial_weights ? *p.initial_weights : initial_weights(p.model, p.train.seed);
}

/// Of the calling thread, which takes part in all that its back end's threads do.
double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class T>
Array<T> room(Backend& backend, std::int64_t count) {
    return {backend.allocate(usize(count) * sizeof(T)), count};
}

template <class T>
void load_list(Backend& backend, const std::vector<T>& from, const Array<T>& to) {
    if (!from.empty()) backend.upload_bytes(from.data(), to.data(), from.size() * sizeof(T));
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
      features_(backend_.matrix(most.rows, problem.dataset.feature_count)),
      forward_(room_for_csr()),
      symmetric_(symmetric_batches(problem)),
      split_(room<Split>(backend_, most.rows)),
      ids_(room<std::int64_t>(backend_, most.rows)),
      loss_(backend_.upload(std::span<const double>(std::array{0.0}))) {
    if (!symmetric_) backward_ = room_for_csr();
    if (problem.dataset.multi_label())
        label_matrix_ = room<std::uint8_t>(backend_, most.rows * problem.dataset.classes);
    else
        labels_ = room<std::int32_t>(backend_, most.rows);
}

void BatchTraining::state_csr_memory(MemoryStatement& m, const BatchSize& most) {
    m.list<std::int64_t>(most.rows + 1);
    m.list<std::int32_t>(most.nonzeros);
    m.matrix(1, most.nonzeros);
}

void BatchTraining::state_memory(MemoryStatement& m, const Problem& p, const BatchSize& most) {
    Network::state_memory(m, narrowest_plan(p), p.model, p.train, most.rows);
    m.matrix(most.rows, p.dataset.feature_count);
    state_csr_memory(m, most);
    if (!symmetric_batches(p)) state_csr_memory(m, most);
    VertexData::state_memory(m, p.dataset, most.rows, p.dataset.classes);
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
    to.view = {to.indptr.data(), to.indices.data(), to.values.view().data, from.rows, from.cols};
}

void BatchTraining::load(const Batch& batch) {
    network_.set_rows(batch.rows());
    backend_.upload(std::span<const float>(batch.features), features_.view().rows_from(0, batch.rows()));
    load(batch.forward, forward_);
    if (batch.backward) load(*batch.backward, backward_);
    std::vector<std::int64_t> ids;
    for (const GlobalId v : batch.vertices) ids.push_back(value(v));
    load_list(backend_, ids, ids_);
    load_list(backend_, batch.split, split_);
    load_list(backend_, batch.labels, labels_);
    load_list(backend_, batch.label_matrix, label_matrix_);
}

Step BatchTraining::compute_gradient(const Batch& batch, std::int64_t step) {
    const double begin_s = cpu_seconds();
    load(batch);
    BatchSpmm spmm(backend_, forward_.view, batch.backward ? backward_.view : forward_.view);
    const ConstMatrixView logits =
        network_.forward(features_.view().rows_from(0, batch.rows()), ids_.data(), Pass::training, step, spmm);
    const bool multi_label = problem_.dataset.multi_label();
    double counted = static_cast<double>(std::max<std::int64_t>(batch.samples, 1));
    if (multi_label) counted *= static_cast<double>(problem_.dataset.classes);
    const LossInput in{.labels = labels_.data(),
                       .split = split_.data(),
                       .counted = Split::train,
                       .scale = 1 / counted,
                       .label_matrix = label_matrix_.data(),
                       .multi_label = multi_label};
    loss_and_gradient(backend_, logits, in, network_.output_gradient(), loss_.data());
    network_.backward(spmm);
    Step done{.samples = batch.samples, .extent = Extent::this_rank};
    backend_.download_bytes(loss_.data(), &done.loss, sizeof done.loss);
    problem_.slowdown.sleep_after(rank_.world.rank(), step, cpu_seconds() - begin_s);
    return done;
}

WholeGraphModel::WholeGraphModel(const Problem& p, const ModelWeights& weights, Rank alone)
    : whole_{.parts = 1, .part_of = std::vector<Part>(usize(p.dataset.graph.vertices())), .column_part_of = {}},
      index_(whole_) {
    const Problem own{p.dataset, index_, whole_, p.model, p.train, no_params_, &weights, 1};
    trainer_ = make_row_parallel_trainer(own, alone, narrowest_plan(own), [&](const Adjacency& a, std::int64_t) {
        return make_whole_spmm(a, index_, alone.backend);
    });
}

WholeGraphModel::~WholeGraphModel() = default;

}  // namespace gnnbench
