#include "simulated_backend.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include <gnnbench/error.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "deferred_verbs.hpp"
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

/// Memory of the back end that computes.
struct Values {
    std::shared_ptr<Backend> owner;
    Buffer buffer;
};

}  // namespace

template <class Verb>
SimulatedBackend::Action SimulatedBackend::values_of(const Verb& v) const {
    if (!arithmetic_) return {};
    return performed_by(arithmetic_, v);
}

SimulatedBackend::SimulatedBackend(simulation::SimulatedRank& rank, DType dtype, SpmmModel spmm, int ranks_of_node,
                                   std::shared_ptr<Backend> arithmetic)
    : Backend(dtype),
      rank_(rank),
      costs_(rank.machine(), dtype, spmm, ranks_of_node),
      spmm_(spmm),
      ranks_of_node_(ranks_of_node),
      arithmetic_(std::move(arithmetic)) {
    trace().use(&rank.clock());
}

SimulatedBackend::~SimulatedBackend() { trace().use(nullptr); }

std::int64_t SimulatedBackend::do_free_bytes() const {
    const simulation::Device& d = rank_.machine().device;
    return static_cast<std::int64_t>(d.memory_bytes - d.reserved_bytes) - memory().current_bytes;
}

void* SimulatedBackend::do_allocate(std::size_t bytes) {
    if (static_cast<std::int64_t>(bytes) > do_free_bytes()) return nullptr;
    if (arithmetic_) return allocate_values(bytes);
    void* data = reserve_addresses(bytes);
    if (!data) throw std::bad_alloc();  // of the host's addresses, not the device's memory
    return data;
}

/// What is read before it is written is not a number.
void* SimulatedBackend::allocate_values(std::size_t bytes) {
    const auto memory = std::make_shared<Values>();
    memory->owner = arithmetic_;
    try {
        memory->buffer = arithmetic_->allocate(bytes);
    } catch (const OutOfMemory&) {
        throw std::bad_alloc();  // the host's memory, not the device's
    }
    void* const data = memory->buffer.data();
    std::memset(data, 0xff, bytes);
    values_[data] = memory;
    return data;
}

void SimulatedBackend::do_free(void* data, std::size_t bytes) noexcept {
    rank_.recency().forget(data, bytes);
    if (!arithmetic_) return give_back_addresses(data, bytes);
    const auto memory = values_.extract(data);
    rank_.keep(memory.mapped());  // kernels that use it may still run
}

/// Set-up fills memory only where it has contents, so it takes no virtual time.
void SimulatedBackend::do_copy_in(const void* host, void* device, std::size_t bytes) {
    if (rank_.trains()) {
        const simulation::Device& d = rank_.machine().device;
        rank_.synchronize(StreamRole::compute);
        rank_.host_works(d.launch_s + static_cast<double>(bytes) / d.host_link_bandwidth);
    }
    if (!arithmetic_) return;
    const auto* const from = static_cast<const std::byte*>(host);
    rank_.act(StreamRole::compute, [device, copy = std::vector<std::byte>(from, from + bytes)] {
        std::memcpy(device, copy.data(), copy.size());
    });
}

void SimulatedBackend::do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole stream) {
    const simulation::Device& d = rank_.machine().device;
    rank_.synchronize(stream);
    rank_.catch_up();
    if (arithmetic_)
        std::memcpy(host, device, bytes);
    else
        std::memset(host, 0, bytes);
    rank_.host_works(d.launch_s + static_cast<double>(bytes) / d.host_link_bandwidth);
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
    return prepare_rows({a.rows, a.cols, a.nonzeros()}, rows_stored(in_use, a.rows), &a, t);
}

/// No more than have a nonzero each.
std::unique_ptr<PreparedMatrix> SimulatedBackend::do_prepare_size(const SparseSize& a, TransposedProducts t) {
    require(!arithmetic_, "a simulated device with values needs those of a sparse matrix");
    return prepare_rows(a, rows_stored(std::min(a.rows, a.nonzeros), a.rows), nullptr, t);
}

std::unique_ptr<PreparedMatrix> SimulatedBackend::do_prepare_as_sized(const Csr& a, TransposedProducts t) {
    const SparseSize size{a.rows, a.cols, a.nonzeros()};
    return prepare_rows(size, rows_stored(std::min(size.rows, size.nonzeros), size.rows), &a, t);
}

std::unique_ptr<PreparedMatrix> SimulatedBackend::prepare_rows(const SparseSize& a, std::int64_t stored_rows,
                                                               const Csr* entries, TransposedProducts t) {
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
    if (arithmetic_ && entries) prepared->contents = arithmetic_->prepare(*entries, t);
    if (costs_.by_recency()) {
        prepared->entries = {address(matrices_), usize(bytes), entry_bytes};
        matrices_ += usize(bytes);
    }
    return prepared;
}

/// Values, which lie elsewhere, are as old as the indices.
Operand SimulatedBackend::entries_of(const CsrView& a) const {
    return {a.indices, usize(a.nonzeros) * sizeof *a.indices,
            static_cast<double>(a.nonzeros) * (4 + costs_.element_bytes())};
}

std::unique_ptr<PreparedMatrix> SimulatedBackend::do_refer(const CsrView& a) {
    auto referred = std::make_unique<SizedMatrix>([] {});
    referred->stored_rows = a.rows;
    referred->entries = entries_of(a);
    if (arithmetic_) referred->contents = arithmetic_->refer(a);
    return referred;
}

void SimulatedBackend::issue(const simulation::Work& work, Action action) {
    rank_.launch();
    rank_.enqueue(StreamRole::compute, work, std::move(action));
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

template <class Product>
void SimulatedBackend::multiply(SpmmShape shape, const Operand& a, const Product& v) {
    shape.width = v.b.cols;
    shape.adds = v.s.beta != 0;
    if (costs_.by_recency()) {
        Operand all[] = {a, once(v.b), shape.adds ? twice(v.c) : once(v.c)};
        if (v.c.rows > 0) all[2].moved *= static_cast<double>(shape.rows) / static_cast<double>(v.c.rows);
        // By operand: touched apart, B's part would be lost among the others'.
        shape.columns = rank_.columns_of_graph();
        shape.operand = rank_.recency().touch(std::span(all).subspan(1, 1));
        shape.in_order = moved({all[0], all[2]});
    }
    issue(costs_.spmm(shape), values_of(v));
    finish(v.e, v.c);
}

void SimulatedBackend::perform(const verb::Spmm& v) {
    const auto& a = static_cast<const SizedMatrix&>(v.a);
    // Rows that a product adds nothing to are not touched; where it does not add, they become 0.
    multiply({.rows = v.s.beta != 0 ? a.stored_rows : a.rows, .cols = a.cols, .nonzeros = a.nonzeros}, a.entries,
             v);
}
void SimulatedBackend::perform(const verb::SpmmUnprepared& v) {
    multiply({.rows = v.a.rows, .cols = v.a.cols, .nonzeros = v.a.nonzeros}, entries_of(v.a), v);
}
void SimulatedBackend::perform(const verb::SpmmTransposed& v) {
    multiply({.rows = v.a.cols, .cols = v.a.rows, .nonzeros = v.a.nonzeros},
             static_cast<const SizedMatrix&>(v.a).entries, v);
}

void SimulatedBackend::perform(const verb::Gemm& v) {
    GemmShape shape{.m = v.c.rows, .n = v.c.cols, .k = v.inner(), .adds = v.s.beta != 0};
    if (costs_.by_recency()) shape.in_order = moved({once(v.a), once(v.b), shape.adds ? twice(v.c) : once(v.c)});
    issue(costs_.gemm(shape), values_of(v));
    finish(v.e, v.c);
}

void SimulatedBackend::stream(std::span<const verb::Operand> operands, Action action) {
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
    issue(costs_.streamed(moved(all)), std::move(action));
}

/// What a verb computes for each entry beside the product; 0 without a rate.
double entry_seconds(const auto& v, double rate) { return rate > 0 ? v.operations_of_entry() / rate : 0; }

/// As a product of the operand's width, whose rows are read in the same order; what rows hold beside the product's result is
/// read and written in order where that is followed. `entry_s`: what is computed for each entry; 0 where the machine has no rate of
/// it, which makes a lower bound. `every_row`: else those with entries alone are touched.
void SimulatedBackend::attend(const PreparedMatrix& matrix, ConstMatrixView b,
                              std::span<const verb::Operand> others, Stage stage, bool every_row, double entry_s,
                              Action action) {
    const auto& a = static_cast<const SizedMatrix&>(matrix);
    const std::int64_t rows = every_row ? a.rows : a.stored_rows;
    const double touched = a.rows > 0 ? static_cast<double>(rows) / static_cast<double>(a.rows) : 1;
    SpmmShape shape{.rows = rows, .cols = a.cols, .nonzeros = a.nonzeros, .width = b.cols, .adds = !stage.first};
    shape.computes_s = static_cast<double>(a.nonzeros) * entry_s;
    if (costs_.by_recency()) {
        shape.columns = rank_.columns_of_graph();
        shape.operand = rank_.recency().touch(std::array{once(b)});
        std::vector<Operand> all{a.entries};
        for (const verb::Operand& o : others) {
            if (o.view.empty()) continue;
            all.push_back(o.written && !stage.first ? twice(o.view) : once(o.view));
            all.back().moved *= touched;
        }
        shape.in_order = moved(all);
    }
    issue(costs_.spmm(shape), std::move(action));
}
void SimulatedBackend::perform(const verb::Attend& v) {
    const std::array others{verb::reads(v.l),
                            verb::writes(v.rows.z),
                            verb::writes(v.rows.slopes),
                            verb::writes(v.rows.maxima),
                            verb::writes(v.rows.sums),
                            verb::writes(v.rows.slope_sums)};
    const double entry_s = entry_seconds(v, rank_.machine().device.attention_rate);
    attend(v.a, v.b, others, v.stage, v.stage.first || v.stage.last, entry_s, values_of(v));
}
void SimulatedBackend::perform(const verb::AttendBackward& v) {
    attend(v.a, v.b, std::array{verb::reads(v.own), verb::writes(v.c)}, v.stage, v.stage.first,
           entry_seconds(v, rank_.machine().device.attention_rate), values_of(v));
}
void SimulatedBackend::perform(const verb::DynamicAttend& v) {
    const std::array others{verb::reads(v.s), verb::writes(v.rows.z), verb::writes(v.rows.maxima),
                            verb::writes(v.rows.sums)};
    const double entry_s = entry_seconds(v, rank_.machine().device.dynamic_attention_rate);
    attend(v.a, v.b, others, v.stage, v.stage.first || v.stage.last, entry_s, values_of(v));
}
void SimulatedBackend::perform(const verb::DynamicBackward& v) {
    attend(v.a, v.b, std::array{verb::reads(v.own), verb::writes(v.slopes), verb::writes(v.sums)}, v.stage,
           v.stage.first, entry_seconds(v, rank_.machine().device.dynamic_attention_rate), values_of(v));
}
void SimulatedBackend::perform(const verb::HeadDots& v) { stream(v.operands(), values_of(v)); }
void SimulatedBackend::perform(const verb::HeadSums& v) {
    issue(costs_.streamed(moved({once(v.s), once(v.x)})), values_of(v));
}
void SimulatedBackend::perform(const verb::AddHeads& v) { stream(v.operands(), values_of(v)); }
void SimulatedBackend::perform(const verb::RescaleHeads& v) { stream(v.operands(), values_of(v)); }
void SimulatedBackend::perform(const verb::MeanOfHeads& v) { stream(v.operands(), values_of(v)); }
void SimulatedBackend::perform(const verb::SpreadToHeads& v) { stream(v.operands(), values_of(v)); }

void SimulatedBackend::perform(const verb::Apply& v) { stream(v.operands(), values_of(v)); }
void SimulatedBackend::perform(const verb::ApplyBackward& v) { stream(v.operands(), values_of(v)); }
void SimulatedBackend::perform(const verb::ColumnSums& v) {
    issue(costs_.streamed(moved({once(v.g)})), values_of(v));
}

/// Number of rows that enter the loss, as far as a rank can know: their number in the whole graph, over the ranks that
/// share it.
double SimulatedBackend::counted_rows(ConstMatrixView logits, const LossInput& in) const {
    const auto rows = static_cast<double>(logits.rows);
    return costs_.by_recency() && in.scale > 0 ? std::min(rows, 1 / (in.scale * ranks_of_node_)) : rows;
}
void SimulatedBackend::perform(const verb::SoftmaxCrossEntropy& v) { loss(v.logits, v.in, v.grad, values_of(v)); }
void SimulatedBackend::loss(ConstMatrixView logits, const LossInput& in, MatrixView grad, Action action) {
    issue(costs_.losses(rank_.machine().device.loss, counted_rows(logits, in), static_cast<double>(logits.cols),
                        logits_and_gradient(logits, grad)),
          std::move(action));
}
InOrder SimulatedBackend::logits_and_gradient(ConstMatrixView logits, MatrixView grad) {
    return logits.data == grad.data ? moved({twice(grad)}) : moved({once(logits), once(grad)});
}
/// Two of the three verbs of a loss over sharded classes, which were measured together.
void SimulatedBackend::sharded_loss(ConstMatrixView logits, const InOrder& moved, Action action) {
    const simulation::Curve& row = rank_.machine().device.sharded_loss;
    const double verbs = row.empty() ? 1 : 3;
    issue(costs_.losses(row, static_cast<double>(logits.rows) / verbs, static_cast<double>(logits.cols), moved),
          std::move(action));
}
/// The third has no exponentials.
void SimulatedBackend::perform(const verb::RowMaxima& v) {
    const InOrder read = moved({once(v.logits)});
    if (rank_.machine().device.sharded_loss.empty()) return issue(costs_.streamed(read), values_of(v));
    sharded_loss(v.logits, read, values_of(v));
}
void SimulatedBackend::perform(const verb::RowExpSums& v) {
    sharded_loss(v.logits, moved({once(v.logits)}), values_of(v));
}
void SimulatedBackend::perform(const verb::SoftmaxCrossEntropyShard& v) {
    sharded_loss(v.logits, logits_and_gradient(v.logits, v.grad), values_of(v));
}
void SimulatedBackend::perform(const verb::CountCorrect& v) {
    issue(costs_.streamed(moved({once(v.logits)})), values_of(v));
}
void SimulatedBackend::perform(const verb::BinaryCrossEntropy& v) {
    LossInput of_elements = v.in;
    of_elements.scale *= static_cast<double>(v.logits.cols);
    loss(v.logits, of_elements, v.grad, values_of(v));
}
void SimulatedBackend::perform(const verb::CountPositives& v) {
    issue(costs_.streamed(moved({once(v.logits)})), values_of(v));
}

void SimulatedBackend::perform(const verb::OptimizerStep& v) {
    // SGD reads w and g and writes w; Adam reads and writes two moments, too.
    const double passes = v.spec.optimizer == OptimizerKind::sgd ? 3 : 7;
    double elements = 0;
    for (const ParameterSlot& p : v.slots) elements += static_cast<double>(p.count);
    const double bytes = passes * elements * costs_.element_bytes();
    if (elements > 0) issue(costs_.streamed({{bytes, bytes}}), values_of(v));
}

void SimulatedBackend::perform(const verb::Fill& v) { stream(v.operands(), values_of(v)); }
void SimulatedBackend::perform(const verb::Copy& v) { stream(v.operands(), values_of(v)); }
void SimulatedBackend::perform(const verb::Axpby& v) {
    issue(costs_.streamed(moved({once(v.x), twice(v.y)})), values_of(v));  // x may be y, and is read again
}
void SimulatedBackend::perform(const verb::SquaredDistance& v) {
    issue(costs_.streamed(moved({once(v.x), once(v.y)})), values_of(v));
}
void SimulatedBackend::perform(const verb::GatherRows& v) {
    const auto count = static_cast<double>(v.to.rows);
    issue(costs_.gathered(count, bytes_of(v.to) / count, bytes_of(v.from),
                          moved({once(v.to), list(v.rows, v.to.rows)})),
          values_of(v));
}
void SimulatedBackend::perform(const verb::ScatterAddRows& v) {
    const auto count = static_cast<double>(v.from.rows);
    issue(costs_.gathered(2 * count, bytes_of(v.from) / count, bytes_of(v.to),
                          moved({once(v.from), list(v.rows, v.from.rows)})),
          values_of(v));
}

std::unique_ptr<Transport> SimulatedBackend::do_connect(const ProcessGroup& group) {
    using simulation::Contents;
    return rank_.connect(group, arithmetic_ ? Contents::values : Contents::none);
}

std::string SimulatedBackend::do_notes() const {
    return "simulated: machine " + rank_.machine().name + ", spmm " +
           (spmm_ == SpmmModel::roofline ? "roofline" : "plexus-thesis") + (arithmetic_ ? ", with values" : "");
}

}  // namespace gnnbench::simulated
