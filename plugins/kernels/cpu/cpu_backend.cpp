#include "cpu_backend.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include <gnnbench/caches.hpp>
#include <gnnbench/communicator.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "gemm.hpp"
#include "limits.hpp"
#include "loss_shard.hpp"
#include "memory.hpp"
#include "prepared.hpp"
#include "row_operations.hpp"
#include "spmm.hpp"
#include "threads.hpp"

namespace gnnbench::cpu {
namespace {

/// Below this many elements one thread works alone: waking the others would cost about as much.
constexpr std::int64_t worth_sharing = 1 << 14;

std::int64_t least_rows(std::int64_t cols) { return rows_for(worth_sharing, cols); }

/// Σ f(rows) over runs of rows, in their order, so that the sum is the same with any number of threads.
template <class F>
double sum_of_runs(int threads, std::int64_t rows, F&& f) {
    constexpr std::int64_t run = 1 << 12;
    std::vector<double> sums(usize((rows + run - 1) / run));
    parallel_chunks(threads, rows, run, [&](std::int64_t begin, std::int64_t end) {
        sums[usize(begin / run)] = f(RowRange{begin, end});
    });
    double sum = 0;
    for (const double of_run : sums) sum += of_run;
    return sum;
}

template <class T>
DenseSide<T> dense_side(ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) {
    return {b, c, static_cast<T>(s.alpha), static_cast<T>(s.beta), FlatEpilogue<T>(e)};
}

}  // namespace

template <class T>
CpuBackend<T>::CpuBackend(int threads, LayoutWish wish, bool shares, std::shared_ptr<SharedHostMemory> memory)
    : Backend(dtype_of<T>),
      threads_(threads),
      wish_(std::move(wish)),
      workspace_(threads),
      shares_(shares),
      memory_(std::move(memory)) {}

template <class T>
void* CpuBackend<T>::do_allocate(std::size_t bytes) {
    void* const shared = memory_ ? memory_->allocate(bytes) : nullptr;
    return shared ? shared : allocate_host(bytes);
}
template <class T>
void CpuBackend<T>::do_free(void* data, std::size_t) noexcept {
    if (memory_ && memory_->holds(data)) return memory_->free(data);
    free_host(data);
}
template <class T>
std::int64_t CpuBackend<T>::do_free_bytes() const {
    return free_host_bytes();
}
template <class T>
void CpuBackend<T>::do_copy_in(const void* host, void* device, std::size_t bytes) {
    // By all threads: where memory is several, a thread's share of a matrix is in that of the thread.
    parallel_ranges(threads_, static_cast<std::int64_t>(bytes), std::int64_t{1} << 20,
                    [&](std::int64_t begin, std::int64_t end) {
                        std::memcpy(static_cast<char*>(device) + begin, static_cast<const char*>(host) + begin,
                                    usize(end - begin));
                    });
}
template <class T>
void CpuBackend<T>::do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole) {
    std::memcpy(host, device, bytes);
}

template <class T>
Event CpuBackend<T>::do_record(StreamRole) {
    return {};
}
template <class T>
void CpuBackend<T>::do_wait(StreamRole, const Event& event) {
    event.state()->wait_on_host();
}
template <class T>
void CpuBackend<T>::do_synchronize(StreamRole) {}

template <class T>
std::unique_ptr<PreparedMatrix> CpuBackend<T>::do_prepare(const Csr& a, TransposedProducts t) {
    ChosenLayout chosen = choose_layout(a, wish_, t, threads_);
    if (!chosen.times.empty()) {
        ++timed_matrices_;
        if (a.nonzeros() > timed_nonzeros_) timed_ = text_of_times(chosen, a);
        timed_nonzeros_ = std::max(timed_nonzeros_, a.nonzeros());
    }
    return prepare_matrix<T>(a, std::move(chosen), t, threads_);
}

template <class T>
std::string CpuBackend<T>::do_notes() const {
    std::string out = limits();
    const auto add = [&](const std::string& note) { out += (out.empty() || note.empty() ? "" : "; ") + note; };
    if (timed_matrices_ > 1)
        add(timed_ + " (the largest of " + std::to_string(timed_matrices_) + " timed)");
    else
        add(timed_);
    add(transport_);
    return out;
}

template <class T>
void CpuBackend<T>::do_spmm(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) {
    static_cast<const CpuPrepared<T>&>(a).multiply(dense_side<T>(b, c, s, e), threads_, workspace_);
}

template <class T>
void CpuBackend<T>::do_spmm(const CsrView& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) {
    const FlatCsr<T> flat{{a.indptr, a.indices, a.rows, a.cols}, static_cast<const T*>(a.values)};
    spmm_by_rows(flat, dense_side<T>(b, c, s, e), threads_);
}

template <class T>
void CpuBackend<T>::do_spmm_transposed(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s,
                                       const Epilogue& e) {
    static_cast<const CpuPrepared<T>&>(a).multiply_transposed(dense_side<T>(b, c, s, e), threads_);
}

template <class T>
void CpuBackend<T>::do_gemm(Transpose ta, ConstMatrixView a, Transpose tb, ConstMatrixView b, MatrixView c,
                            Scale s, const Epilogue& e) {
    cpu::gemm(GemmCall<T>{ta, a, tb, b, c, static_cast<T>(s.alpha), static_cast<T>(s.beta), FlatEpilogue<T>(e)},
              threads_, workspace_);
}

template <class T>
void CpuBackend<T>::do_apply(const Epilogue& e, ConstMatrixView x, MatrixView z) {
    const FlatEpilogue<T> flat(e);
    parallel_ranges(threads_, x.rows, least_rows(x.cols),
                    [&](std::int64_t begin, std::int64_t end) { epilogue_rows(flat, x, z, {begin, end}); });
}

template <class T>
void CpuBackend<T>::do_apply_backward(const Epilogue& e, ConstMatrixView h, ConstMatrixView dh, MatrixView dz) {
    const FlatEpilogue<T> flat(e);
    parallel_ranges(threads_, h.rows, least_rows(h.cols), [&](std::int64_t begin, std::int64_t end) {
        row_operations<T>().epilogue_backward(flat, h, dh, dz, {begin, end});
    });
}

template <class T>
void CpuBackend<T>::do_column_sums(ConstMatrixView g, MatrixView out) {
    // Fixed runs of rows, added up in their order: the same bits at any number of threads.
    constexpr std::int64_t run = 1 << 12;
    const std::int64_t runs = (g.rows + run - 1) / run;
    const auto cols = usize(g.cols);
    std::vector<double> sums(usize(runs) * cols);
    parallel_chunks(threads_, g.rows, run, [&](std::int64_t begin, std::int64_t end) {
        row_operations<T>().add_column_sums(g, {begin, end}, sums.data() + usize(begin / run) * cols);
    });
    for (std::size_t c = 0; c < cols; ++c) {
        double sum = 0;
        for (std::size_t i = 0; i < usize(runs); ++i) sum += sums[i * cols + c];
        row_of<T>(out, 0)[c] = static_cast<T>(sum);
    }
}

template <class T>
void CpuBackend<T>::do_softmax_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad,
                                             double* loss_out) {
    *loss_out = sum_of_runs(threads_, logits.rows, [&](RowRange rows) {
        return loss_operations<T>().softmax_cross_entropy(logits, in, grad, rows);
    });
}

template <class T>
void CpuBackend<T>::do_row_maxima(ConstMatrixView logits, MatrixView maxima) {
    cpu::row_maxima<T>(threads_, logits, maxima);
}
template <class T>
void CpuBackend<T>::do_row_exp_sums(ConstMatrixView logits, ConstMatrixView maxima, MatrixView sums) {
    cpu::row_exp_sums<T>(threads_, logits, maxima, sums);
}
template <class T>
void CpuBackend<T>::do_softmax_cross_entropy_shard(ConstMatrixView logits, ConstMatrixView maxima,
                                                   ConstMatrixView sums, std::int64_t first_class,
                                                   const LossInput& in, MatrixView grad, double* loss_out) {
    *loss_out = cpu::softmax_cross_entropy_shard<T>(threads_, logits, maxima, sums, first_class, in, grad);
}

template <class T>
void CpuBackend<T>::do_count_correct(ConstMatrixView logits, const LossInput& in, std::int64_t* counts) {
    std::fill_n(counts, 6, 0);
    parallel_ranges(threads_, logits.rows, least_rows(logits.cols), [&](std::int64_t begin, std::int64_t end) {
        std::int64_t mine[6] = {};
        loss_operations<T>().count_correct(logits, in, {begin, end}, mine);
        for (int i = 0; i < 6; ++i)
#pragma omp atomic
            counts[i] += mine[i];
    });
}

template <class T>
void CpuBackend<T>::do_binary_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad,
                                            double* loss_out) {
    *loss_out = sum_of_runs(threads_, logits.rows, [&](RowRange rows) {
        return loss_operations<T>().binary_cross_entropy(logits, in, grad, rows);
    });
}

template <class T>
void CpuBackend<T>::do_count_positives(ConstMatrixView logits, const LossInput& in, std::int64_t* counts) {
    std::fill_n(counts, 9, 0);
    parallel_ranges(threads_, logits.rows, least_rows(logits.cols), [&](std::int64_t begin, std::int64_t end) {
        std::int64_t mine[9] = {};
        loss_operations<T>().count_positives(logits, in, {begin, end}, mine);
        for (int i = 0; i < 9; ++i)
#pragma omp atomic
            counts[i] += mine[i];
    });
}

template <class T>
void CpuBackend<T>::do_optimizer_step(const TrainSpec& spec, std::int64_t step,
                                      std::span<const ParameterSlot> slots) {
    const auto t = static_cast<double>(step);
    const OptimizerStep<T> s{.kind = spec.optimizer,
                             .rate = static_cast<T>(spec.learning_rate),
                             .beta1 = static_cast<T>(spec.beta1),
                             .beta2 = static_cast<T>(spec.beta2),
                             .rest1 = static_cast<T>(1 - spec.beta1),
                             .rest2 = static_cast<T>(1 - spec.beta2),
                             .epsilon = static_cast<T>(spec.epsilon),
                             .first_correction = static_cast<T>(1 / (1 - std::pow(spec.beta1, t))),
                             .second_correction = static_cast<T>(1 / (1 - std::pow(spec.beta2, t)))};
    for (const ParameterSlot& slot : slots)
        parallel_ranges(threads_, slot.count, worth_sharing, [&](std::int64_t begin, std::int64_t end) {
            row_operations<T>().optimizer(s, slot, begin, end);
        });
}

template <class T>
void CpuBackend<T>::do_fill(MatrixView m, double v) {
    const auto value = static_cast<T>(v);
    const auto fill = row_operations<T>().fill;
    if (!m.contiguous()) {
        parallel_ranges(threads_, m.rows, least_rows(m.cols), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t r = begin; r < end; ++r) fill(row_of<T>(m, r), m.cols, value, false);
        });
        return;
    }
    // Whole cache lines for each thread. What the caches cannot hold is written past them.
    constexpr std::int64_t line = 64 / sizeof(T);
    const std::int64_t count = m.rows * m.cols;
    const bool past_caches = reinterpret_cast<std::uintptr_t>(m.data) % 64 == 0 &&
                             static_cast<std::int64_t>(m.bytes()) > last_level_cache_bytes();
    parallel_ranges(
        threads_, (count + line - 1) / line, worth_sharing / line, [&](std::int64_t begin, std::int64_t end) {
            fill(row_of<T>(m, 0) + begin * line, std::min(count, end * line) - begin * line, value, past_caches);
        });
}

template <class T>
void CpuBackend<T>::do_copy(ConstMatrixView from, MatrixView to) {
    const std::size_t row_bytes = usize(from.cols) * sizeof(T);
    parallel_ranges(threads_, from.rows, least_rows(from.cols), [&](std::int64_t begin, std::int64_t end) {
        if (from.contiguous() && to.contiguous()) {
            std::memcpy(row_of<T>(to, begin), row_of<T>(from, begin), usize(end - begin) * row_bytes);
        } else {
            for (std::int64_t r = begin; r < end; ++r)
                std::memcpy(row_of<T>(to, r), row_of<T>(from, r), row_bytes);
        }
    });
}

// One pass at memory speed, which the compiler vectorises.
template <class T>
void CpuBackend<T>::do_axpby(double alpha, ConstMatrixView x, double beta, MatrixView y) {
    const T a = static_cast<T>(alpha), b = static_cast<T>(beta);
    const bool flat = x.contiguous() && y.contiguous();
    const std::int64_t rows = flat ? y.rows * y.cols : y.rows, cols = flat ? 1 : y.cols;
    parallel_ranges(threads_, rows, least_rows(cols), [&](std::int64_t begin, std::int64_t end) {
        const auto add = [&](const T* from, T* to, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i) to[i] = a * from[i] + b * to[i];
        };
        if (flat) return add(row_of<T>(x, 0) + begin, row_of<T>(y, 0) + begin, end - begin);
        for (std::int64_t r = begin; r < end; ++r) add(row_of<T>(x, r), row_of<T>(y, r), cols);
    });
}

namespace {

/// Old and new places compete for the last cache: from a quarter of it on, writing past the caches saves fetching what
/// is overwritten. Only whole cache lines can be written so.
bool past_caches(const void* to, std::int64_t bytes) {
    return reinterpret_cast<std::uintptr_t>(to) % 64 == 0 && 4 * bytes > last_level_cache_bytes();
}

}  // namespace

template <class T>
void CpuBackend<T>::do_gather_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to) {
    const bool past =
        to.cols % 16 == 0 && to.ld % 16 == 0 && past_caches(to.data, static_cast<std::int64_t>(to.bytes()));
    parallel_ranges(threads_, to.rows, least_rows(to.cols), [&](std::int64_t begin, std::int64_t end) {
        row_operations<T>().gather(from, rows, to, {begin, end}, past);
    });
}

template <class T>
void CpuBackend<T>::do_scatter_add_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to) {
    parallel_ranges(threads_, from.rows, least_rows(from.cols), [&](std::int64_t begin, std::int64_t end) {
        row_operations<T>().scatter_add(from, rows, to, {begin, end});
    });
}

template <class T>
std::unique_ptr<Transport> CpuBackend<T>::do_connect(const ProcessGroup& group) {
    if (!shares_ || group.size() == 1) return make_mpi_transport(group);
    const auto copy = [threads = threads_](const void* from, void* to, std::size_t bytes) {
        const auto lines = static_cast<std::int64_t>(bytes / 64);
        const bool past = past_caches(to, static_cast<std::int64_t>(bytes));
        parallel_ranges(threads, lines, worth_sharing / 16, [&](std::int64_t begin, std::int64_t end) {
            row_operations<T>().copy_lines(from, to, begin, end, past);
        });
        const std::size_t whole = usize(lines) * 64;
        std::memcpy(static_cast<std::byte*>(to) + whole, static_cast<const std::byte*>(from) + whole,
                    bytes - whole);
    };
    const auto gather = [this](ConstMatrixView from, const std::int32_t* rows, MatrixView to) {
        do_gather_rows(from, rows, to);
    };
    const auto add = [this](ConstMatrixView from, const std::int32_t* rows, MatrixView to) {
        do_scatter_add_rows(from, rows, to);
    };
    return make_shared_transport(group, memory_, {copy, gather, add}, transport_);
}

template class CpuBackend<float>;
template class CpuBackend<double>;

}  // namespace gnnbench::cpu
