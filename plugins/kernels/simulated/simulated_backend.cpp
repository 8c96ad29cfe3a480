#include "simulated_backend.hpp"

#include <cstring>
#include <exception>
#include <new>

#include <gnnbench/error.hpp>
#include <gnnbench/transport.hpp>

#include "memory.hpp"

namespace gnnbench::simulated {
namespace {

double bytes_of(ConstMatrixView m) { return static_cast<double>(m.bytes()); }
double elements_of(ConstMatrixView m) { return static_cast<double>(m.rows * m.cols); }

/// A CSR matrix of which only the size is kept.
class SizedMatrix final : public PreparedMatrix {
public:
    explicit SizedMatrix(std::function<void()> released) : released_(std::move(released)) {}
    ~SizedMatrix() override { released_(); }

private:
    std::function<void()> released_;
};

}  // namespace

SimulatedBackend::SimulatedBackend(simulation::SimulatedRank& rank, DType dtype, SpmmModel spmm, int ranks_of_node)
    : Backend(dtype), rank_(rank), costs_(rank.machine(), dtype, spmm, ranks_of_node), spmm_(spmm) {
    trace().use(&rank.clock());
}

SimulatedBackend::~SimulatedBackend() { trace().use(nullptr); }

std::int64_t SimulatedBackend::do_free_bytes() const {
    const simulation::Device& d = rank_.machine().device;
    return static_cast<std::int64_t>(d.memory_bytes - d.reserved_bytes) - memory().current_bytes;
}

void* SimulatedBackend::do_allocate(std::size_t bytes) {
    if (static_cast<std::int64_t>(bytes) > do_free_bytes()) return nullptr;
    void* data = reserve_addresses(bytes);
    if (!data) throw std::bad_alloc();  // of the host's addresses, not the device's memory
    return data;
}

void SimulatedBackend::do_free(void* data, std::size_t bytes) noexcept { give_back_addresses(data, bytes); }

void SimulatedBackend::do_copy_in(const void*, void*, std::size_t bytes) {
    const simulation::Device& d = rank_.machine().device;
    rank_.synchronize(StreamRole::compute);
    rank_.host_works(d.launch_s + static_cast<double>(bytes) / d.host_link_bandwidth);
}

void SimulatedBackend::do_copy_out(const void*, void* host, std::size_t bytes, StreamRole stream) {
    const simulation::Device& d = rank_.machine().device;
    rank_.synchronize(stream);
    rank_.host_works(d.launch_s + static_cast<double>(bytes) / d.host_link_bandwidth);
    std::memset(host, 0, bytes);
}

std::unique_ptr<PreparedMatrix> SimulatedBackend::do_prepare(const Csr& a, TransposedProducts t) {
    return do_prepare_size({a.rows, a.cols, a.nonzeros()}, t);
}

std::unique_ptr<PreparedMatrix> SimulatedBackend::do_prepare_size(const SparseSize& a, TransposedProducts t) {
    // Row starts of 4 bytes, column indices of 4, values; and the same index by columns where it is wanted.
    std::int64_t bytes = (a.rows + 1) * 4 + a.nonzeros * (4 + static_cast<std::int64_t>(size_of(dtype())));
    if (t == TransposedProducts::wanted) bytes += (a.cols + 1) * 4 + a.nonzeros * 8;
    if (bytes > do_free_bytes())
        throw OutOfMemory("the device has no memory for a sparse matrix of " + std::to_string(bytes) +
                          " bytes: " + std::to_string(memory().current_bytes) + " in use, " +
                          std::to_string(do_free_bytes()) + " free");
    count_own_memory(bytes);
    auto prepared = std::make_unique<SizedMatrix>([this, bytes] { count_own_memory(-bytes); });
    prepared->format = "csr";
    return prepared;
}

void SimulatedBackend::issue(const simulation::Work& work) {
    rank_.launch();
    rank_.enqueue(StreamRole::compute, work);
}

/// cuSPARSE and cuBLAS apply no epilogue, so one is a kernel of its own.
void SimulatedBackend::finish(const Epilogue& e, MatrixView c) {
    if (!e.empty()) do_apply(e, c, c);
}

void SimulatedBackend::multiply(const SpmmShape& shape, const Epilogue& e, MatrixView c) {
    issue(costs_.spmm(shape));
    finish(e, c);
}

void SimulatedBackend::do_spmm(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s,
                               const Epilogue& e) {
    multiply({a.rows, a.cols, a.nonzeros, b.cols, s.beta != 0}, e, c);
}
void SimulatedBackend::do_spmm(const CsrView& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) {
    multiply({a.rows, a.cols, a.nonzeros, b.cols, s.beta != 0}, e, c);
}
void SimulatedBackend::do_spmm_transposed(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s,
                                          const Epilogue& e) {
    multiply({a.cols, a.rows, a.nonzeros, b.cols, s.beta != 0}, e, c);
}

void SimulatedBackend::do_gemm(Transpose ta, ConstMatrixView a, Transpose, ConstMatrixView, MatrixView c, Scale s,
                               const Epilogue& e) {
    const std::int64_t k = ta == Transpose::no ? a.cols : a.rows;
    issue(costs_.gemm({c.rows, c.cols, k, s.beta != 0}));
    finish(e, c);
}

// Each operand is read or written once.
void SimulatedBackend::do_apply(const Epilogue&, ConstMatrixView x, MatrixView) {
    issue(costs_.streamed(2 * bytes_of(x)));
}
void SimulatedBackend::do_apply_backward(const Epilogue&, ConstMatrixView h, ConstMatrixView, MatrixView) {
    issue(costs_.streamed(3 * bytes_of(h)));
}
void SimulatedBackend::do_column_sums(ConstMatrixView g, MatrixView) { issue(costs_.streamed(bytes_of(g))); }
void SimulatedBackend::do_softmax_cross_entropy(ConstMatrixView logits, const LossInput&, MatrixView, double*) {
    issue(costs_.exponentials(elements_of(logits), 2 * bytes_of(logits)));
}
void SimulatedBackend::do_row_maxima(ConstMatrixView logits, MatrixView) {
    issue(costs_.streamed(bytes_of(logits)));
}
void SimulatedBackend::do_row_exp_sums(ConstMatrixView logits, ConstMatrixView, MatrixView) {
    issue(costs_.exponentials(elements_of(logits), bytes_of(logits)));
}
void SimulatedBackend::do_softmax_cross_entropy_shard(ConstMatrixView logits, ConstMatrixView, ConstMatrixView,
                                                      std::int64_t, const LossInput&, MatrixView, double*) {
    issue(costs_.exponentials(elements_of(logits), 2 * bytes_of(logits)));
}
void SimulatedBackend::do_count_correct(ConstMatrixView logits, const LossInput&, std::int64_t*) {
    issue(costs_.streamed(bytes_of(logits)));
}
void SimulatedBackend::do_binary_cross_entropy(ConstMatrixView logits, const LossInput&, MatrixView, double*) {
    issue(costs_.exponentials(elements_of(logits), 2 * bytes_of(logits)));
}
void SimulatedBackend::do_count_positives(ConstMatrixView logits, const LossInput&, std::int64_t*) {
    issue(costs_.streamed(bytes_of(logits)));
}

void SimulatedBackend::do_optimizer_step(const TrainSpec& spec, std::int64_t,
                                         std::span<const ParameterSlot> slots) {
    // SGD reads w and g and writes w; Adam reads and writes two moments, too.
    const double passes = spec.optimizer == OptimizerKind::sgd ? 3 : 7;
    double elements = 0;
    for (const ParameterSlot& p : slots) elements += static_cast<double>(p.count);
    if (elements > 0) issue(costs_.streamed(passes * elements * costs_.element_bytes()));
}

void SimulatedBackend::do_fill(MatrixView m, double) { issue(costs_.streamed(bytes_of(m))); }
void SimulatedBackend::do_copy(ConstMatrixView from, MatrixView) { issue(costs_.streamed(2 * bytes_of(from))); }
void SimulatedBackend::do_axpby(double, ConstMatrixView x, double, MatrixView) {
    issue(costs_.streamed(3 * bytes_of(x)));
}
void SimulatedBackend::do_gather_rows(ConstMatrixView from, const std::int32_t*, MatrixView to) {
    const auto rows = static_cast<double>(to.rows);
    issue(costs_.gathered(rows, bytes_of(to) / rows, bytes_of(from), bytes_of(to) + 4 * rows));
}
void SimulatedBackend::do_scatter_add_rows(ConstMatrixView from, const std::int32_t*, MatrixView to) {
    const auto rows = static_cast<double>(from.rows);
    issue(costs_.gathered(2 * rows, bytes_of(from) / rows, bytes_of(to), bytes_of(from) + 4 * rows));
}

std::unique_ptr<Transport> SimulatedBackend::do_connect(const ProcessGroup& group) { return rank_.connect(group); }

std::string SimulatedBackend::do_notes() const {
    return "simulated: machine " + rank_.machine().name + ", spmm " +
           (spmm_ == SpmmModel::roofline ? "roofline" : "plexus-thesis");
}

}  // namespace gnnbench::simulated
