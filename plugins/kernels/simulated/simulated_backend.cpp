#include "simulated_backend.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include <gnnbench/error.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "memory.hpp"

namespace gnnbench::simulated {
namespace {

double bytes_of(ConstMatrixView m) { return static_cast<double>(m.bytes()); }
using Operand = simulation::Recency::Operand;

/// Once in order, whatever lies between its rows.
Operand once(ConstMatrixView m) {
    const std::size_t extent = m.rows == 0 ? 0 : (usize((m.rows - 1) * m.ld + m.cols)) * size_of(m.dtype);
    return {m.data, extent, bytes_of(m)};
}
Operand list(const std::int32_t* rows, std::int64_t count) {
    const std::size_t bytes = usize(count) * sizeof *rows;
    return {rows, bytes, static_cast<double>(bytes)};
}
Operand twice(ConstMatrixView m) {
    Operand o = once(m);
    o.moved *= 2;
    return o;
}

/// A CSR matrix of which only the size is kept.
class SizedMatrix final : public PreparedMatrix {
public:
    explicit SizedMatrix(std::function<void()> released) : released_(std::move(released)) {}
    ~SizedMatrix() override { released_(); }

    Operand entries;  ///< at addresses that nothing else has
    std::int64_t stored_rows = 0;

private:
    std::function<void()> released_;
};

}  // namespace

SimulatedBackend::SimulatedBackend(simulation::SimulatedRank& rank, DType dtype, SpmmModel spmm, int ranks_of_node)
    : Backend(dtype),
      rank_(rank),
      costs_(rank.machine(), dtype, spmm, ranks_of_node),
      spmm_(spmm),
      ranks_of_node_(ranks_of_node) {
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

void SimulatedBackend::do_free(void* data, std::size_t bytes) noexcept {
    rank_.recency().forget(data, bytes);
    give_back_addresses(data, bytes);
}

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

namespace {

/// A place that recency knows memory by; nothing is ever read there.
const void* address(std::uintptr_t place) {
    return reinterpret_cast<const void*>(place);  // NOLINT(performance-no-int-to-ptr): a name, no memory
}

/// Of a matrix most of whose rows are empty only the others are stored, with their numbers, as `cpu` and `cuda` do.
std::int64_t rows_stored(std::int64_t in_use, std::int64_t all) { return 2 * in_use <= all ? in_use : all; }

}  // namespace

std::unique_ptr<PreparedMatrix> SimulatedBackend::do_prepare(const Csr& a, TransposedProducts t) {
    std::int64_t in_use = 0;
    for (std::size_t r = 0; r + 1 < a.indptr.size(); ++r) in_use += a.indptr[r] < a.indptr[r + 1] ? 1 : 0;
    return prepare_rows({a.rows, a.cols, a.nonzeros()}, rows_stored(in_use, a.rows), t);
}

std::unique_ptr<PreparedMatrix> SimulatedBackend::do_prepare_size(const SparseSize& a, TransposedProducts t) {
    return prepare_rows(a, rows_stored(std::min(a.rows, a.nonzeros), a.rows),
                        t);  // no more than have a nonzero each
}

std::unique_ptr<PreparedMatrix> SimulatedBackend::prepare_rows(const SparseSize& a, std::int64_t stored_rows,
                                                               TransposedProducts t) {
    // Row starts of 4 bytes, column indices of 4, values; and the same index by columns where it is wanted.
    std::int64_t bytes = (stored_rows + 1) * 4 + a.nonzeros * (4 + static_cast<std::int64_t>(size_of(dtype())));
    if (stored_rows < a.rows) bytes += stored_rows * 4;
    const auto entry_bytes = static_cast<double>(bytes);
    if (t == TransposedProducts::wanted) bytes += (a.cols + 1) * 4 + a.nonzeros * 8;
    if (bytes > do_free_bytes())
        throw OutOfMemory("the device has no memory for a sparse matrix of " + std::to_string(bytes) +
                          " bytes: " + std::to_string(memory().current_bytes) + " in use, " +
                          std::to_string(do_free_bytes()) + " free");
    count_own_memory(bytes);
    auto prepared = std::make_unique<SizedMatrix>([this, bytes, place = matrices_] {
        count_own_memory(-bytes);
        rank_.recency().forget(address(place), usize(bytes));
    });
    prepared->format = stored_rows < a.rows ? "csr of rows in use" : "csr";
    prepared->stored_rows = stored_rows;
    if (costs_.by_recency()) {
        prepared->entries = {address(matrices_), usize(bytes), entry_bytes};
        matrices_ += usize(bytes);
    }
    return prepared;
}

void SimulatedBackend::issue(const simulation::Work& work) {
    rank_.launch();
    rank_.enqueue(StreamRole::compute, work);
}

/// cuSPARSE and cuBLAS apply no epilogue, so one is a kernel of its own.
void SimulatedBackend::finish(const Epilogue& e, MatrixView c) {
    if (!e.empty()) perform(verb::Apply{e, c, c});
}

/// What the kernel that touches them moves, by what caches have kept; where a machine's rates are not by size, no more
/// than how much.
InOrder SimulatedBackend::moved(std::span<const Operand> operands) {
    if (costs_.by_recency()) return rank_.recency().touch(operands);
    double bytes = 0;
    for (const Operand& o : operands) bytes += o.moved;
    return {{bytes, 0}};
}

void SimulatedBackend::multiply(SpmmShape shape, const Operand& a, ConstMatrixView b, const Epilogue& e,
                                MatrixView c) {
    if (costs_.by_recency()) {
        Operand all[] = {a, once(b), shape.adds ? twice(c) : once(c)};
        if (c.rows > 0) all[2].moved *= static_cast<double>(shape.rows) / static_cast<double>(c.rows);
        // By operand: touched apart, B's part would be lost among the others'.
        shape.columns = rank_.columns_of_graph();
        shape.operand = rank_.recency().touch(std::span(all).subspan(1, 1));
        shape.in_order = moved({all[0], all[2]});
    }
    issue(costs_.spmm(shape));
    finish(e, c);
}

void SimulatedBackend::perform(const verb::Spmm& v) {
    const auto& a = static_cast<const SizedMatrix&>(v.a);
    // Rows that a product adds nothing to are not touched; where it does not add, they become 0.
    multiply({.rows = v.s.beta != 0 ? a.stored_rows : a.rows,
              .cols = a.cols,
              .nonzeros = a.nonzeros,
              .width = v.b.cols,
              .adds = v.s.beta != 0},
             a.entries, v.b, v.e, v.c);
}
void SimulatedBackend::perform(const verb::SpmmUnprepared& v) {
    // Values, which lie elsewhere, are as old as the indices.
    const Operand entries{v.a.indices, usize(v.a.nonzeros) * sizeof(std::int32_t),
                          static_cast<double>(v.a.nonzeros) * (4 + costs_.element_bytes())};
    multiply(
        {.rows = v.a.rows, .cols = v.a.cols, .nonzeros = v.a.nonzeros, .width = v.b.cols, .adds = v.s.beta != 0},
        entries, v.b, v.e, v.c);
}
void SimulatedBackend::perform(const verb::SpmmTransposed& v) {
    multiply(
        {.rows = v.a.cols, .cols = v.a.rows, .nonzeros = v.a.nonzeros, .width = v.b.cols, .adds = v.s.beta != 0},
        static_cast<const SizedMatrix&>(v.a).entries, v.b, v.e, v.c);
}

void SimulatedBackend::perform(const verb::Gemm& v) {
    GemmShape shape{.m = v.c.rows, .n = v.c.cols, .k = v.inner(), .adds = v.s.beta != 0};
    if (costs_.by_recency()) shape.in_order = moved({once(v.a), once(v.b), shape.adds ? twice(v.c) : once(v.c)});
    issue(costs_.gemm(shape));
    finish(v.e, v.c);
}

void SimulatedBackend::stream(std::span<const verb::Operand> operands) {
    const auto has = [&](const verb::Operand& o, bool written) {
        return std::ranges::any_of(operands, [&](const verb::Operand& other) {
            return other.written == written && other.view.data == o.view.data;
        });
    };
    std::vector<Operand> all;
    for (const verb::Operand& o : operands)
        if (!o.written && !has(o, true)) all.push_back(once(o.view));
    for (const verb::Operand& o : operands)
        if (o.written) all.push_back(has(o, false) ? twice(o.view) : once(o.view));
    issue(costs_.streamed(moved(all)));
}

void SimulatedBackend::perform(const verb::Apply& v) { stream(v.operands()); }
void SimulatedBackend::perform(const verb::ApplyBackward& v) { stream(v.operands()); }
void SimulatedBackend::perform(const verb::ColumnSums& v) { issue(costs_.streamed(moved({once(v.g)}))); }

/// Number of rows that enter the loss, as far as a rank can know: their number in the whole graph, over the ranks that
/// share it.
double SimulatedBackend::counted_rows(ConstMatrixView logits, const LossInput& in) const {
    const auto rows = static_cast<double>(logits.rows);
    return costs_.by_recency() && in.scale > 0 ? std::min(rows, 1 / (in.scale * ranks_of_node_)) : rows;
}
void SimulatedBackend::perform(const verb::SoftmaxCrossEntropy& v) { loss(v.logits, v.in, v.grad); }
void SimulatedBackend::loss(ConstMatrixView logits, const LossInput& in, MatrixView grad) {
    issue(costs_.losses(rank_.machine().device.loss, counted_rows(logits, in), static_cast<double>(logits.cols),
                        logits_and_gradient(logits, grad)));
}
InOrder SimulatedBackend::logits_and_gradient(ConstMatrixView logits, MatrixView grad) {
    return logits.data == grad.data ? moved({twice(grad)}) : moved({once(logits), once(grad)});
}
/// Two of the three verbs of a loss over sharded classes, which were measured together.
void SimulatedBackend::sharded_loss(ConstMatrixView logits, const InOrder& moved) {
    const simulation::Curve& row = rank_.machine().device.sharded_loss;
    const double verbs = row.empty() ? 1 : 3;
    issue(costs_.losses(row, static_cast<double>(logits.rows) / verbs, static_cast<double>(logits.cols), moved));
}
/// The third has no exponentials.
void SimulatedBackend::perform(const verb::RowMaxima& v) {
    const InOrder read = moved({once(v.logits)});
    if (rank_.machine().device.sharded_loss.empty()) return issue(costs_.streamed(read));
    sharded_loss(v.logits, read);
}
void SimulatedBackend::perform(const verb::RowExpSums& v) { sharded_loss(v.logits, moved({once(v.logits)})); }
void SimulatedBackend::perform(const verb::SoftmaxCrossEntropyShard& v) {
    sharded_loss(v.logits, logits_and_gradient(v.logits, v.grad));
}
void SimulatedBackend::perform(const verb::CountCorrect& v) { issue(costs_.streamed(moved({once(v.logits)}))); }
void SimulatedBackend::perform(const verb::BinaryCrossEntropy& v) {
    LossInput of_elements = v.in;
    of_elements.scale *= static_cast<double>(v.logits.cols);
    loss(v.logits, of_elements, v.grad);
}
void SimulatedBackend::perform(const verb::CountPositives& v) { issue(costs_.streamed(moved({once(v.logits)}))); }

void SimulatedBackend::perform(const verb::OptimizerStep& v) {
    // SGD reads w and g and writes w; Adam reads and writes two moments, too.
    const double passes = v.spec.optimizer == OptimizerKind::sgd ? 3 : 7;
    double elements = 0;
    for (const ParameterSlot& p : v.slots) elements += static_cast<double>(p.count);
    const double bytes = passes * elements * costs_.element_bytes();
    if (elements > 0) issue(costs_.streamed({{bytes, bytes}}));
}

void SimulatedBackend::perform(const verb::Fill& v) { stream(v.operands()); }
void SimulatedBackend::perform(const verb::Copy& v) { stream(v.operands()); }
void SimulatedBackend::perform(const verb::Axpby& v) {
    issue(costs_.streamed(moved({once(v.x), twice(v.y)})));  // x may be y, and is read again
}
void SimulatedBackend::perform(const verb::SquaredDistance& v) {
    issue(costs_.streamed(moved({once(v.x), once(v.y)})));
}
void SimulatedBackend::perform(const verb::GatherRows& v) {
    const auto count = static_cast<double>(v.to.rows);
    issue(costs_.gathered(count, bytes_of(v.to) / count, bytes_of(v.from),
                          moved({once(v.to), list(v.rows, v.to.rows)})));
}
void SimulatedBackend::perform(const verb::ScatterAddRows& v) {
    const auto count = static_cast<double>(v.from.rows);
    issue(costs_.gathered(2 * count, bytes_of(v.from) / count, bytes_of(v.to),
                          moved({once(v.from), list(v.rows, v.from.rows)})));
}

std::unique_ptr<Transport> SimulatedBackend::do_connect(const ProcessGroup& group) { return rank_.connect(group); }

std::string SimulatedBackend::do_notes() const {
    return "simulated: machine " + rank_.machine().name + ", spmm " +
           (spmm_ == SpmmModel::roofline ? "roofline" : "plexus-thesis");
}

}  // namespace gnnbench::simulated
