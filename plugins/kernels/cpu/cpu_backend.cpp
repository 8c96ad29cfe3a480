#include "cpu_backend.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include <gnnbench/caches.hpp>
#include <gnnbench/communicator.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "dynamic_attention.hpp"
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
template <class Sum = double, class F>
Sum sum_of_runs(int threads, std::int64_t rows, F&& f) {
    constexpr std::int64_t run = 1 << 12;
    std::vector<Sum> sums(usize((rows + run - 1) / run));
    parallel_chunks(threads, rows, run, [&](std::int64_t begin, std::int64_t end) {
        sums[usize(begin / run)] = f(RowRange{begin, end});
    });
    Sum sum{};
    for (const Sum& of_run : sums) sum += of_run;
    return sum;
}

struct DistanceSums {
    double apart = 0, size = 0;
    DistanceSums& operator+=(const DistanceSums& o) {
        apart += o.apart;
        size += o.size;
        return *this;
    }
};

/// Σ (x − y)² and Σ y² of `count` elements.
template <class T>
DistanceSums distance(const T* x, const T* y, std::int64_t count) {
    double apart = 0, size = 0;
#pragma omp simd reduction(+ : apart, size)
    for (std::int64_t i = 0; i < count; ++i) {
        const double of_y = y[i], difference = x[i] - of_y;
        apart += difference * difference;
        size += of_y * of_y;
    }
    return {apart, size};
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
    if (wish_.heads > 0) {
        auto attended = prepare_attended<T>(a, choose_attended(a, wish_, threads_), t, threads_);
        attended->keep_vertices(a);
        return attended;
    }
    ChosenLayout chosen = choose_layout(a, wish_, t, threads_);
    if (!chosen.times.empty()) {
        ++timed_matrices_;
        if (a.nonzeros() > timed_nonzeros_) timed_ = text_of_times(chosen, a);
        timed_nonzeros_ = std::max(timed_nonzeros_, a.nonzeros());
    }
    auto prepared = prepare_matrix<T>(a, std::move(chosen), t, threads_);
    prepared->keep_vertices(a);
    return prepared;
}

template <class T>
std::unique_ptr<PreparedMatrix> CpuBackend<T>::do_refer(const CsrView& a) {
    return std::make_unique<ReferredRows<T>>(a);
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
void CpuBackend<T>::perform(const verb::Spmm& v) {
    static_cast<const CpuPrepared<T>&>(v.a).multiply(dense_side<T>(v.b, v.c, v.s, v.e), threads_, workspace_);
}

template <class T>
void CpuBackend<T>::perform(const verb::SpmmUnprepared& v) {
    const FlatCsr<T> flat{{v.a.indptr, v.a.indices, v.a.rows, v.a.cols}, static_cast<const T*>(v.a.values)};
    spmm_by_rows(flat, dense_side<T>(v.b, v.c, v.s, v.e), threads_);
}

template <class T>
void CpuBackend<T>::perform(const verb::SpmmTransposed& v) {
    static_cast<const CpuPrepared<T>&>(v.a).multiply_transposed(dense_side<T>(v.b, v.c, v.s, v.e), threads_);
}

template <class T>
void CpuBackend<T>::perform(const verb::Gemm& v) {
    cpu::gemm(GemmCall<T>{v.ta, v.a, v.tb, v.b, v.c, static_cast<T>(v.s.alpha), static_cast<T>(v.s.beta),
                          FlatEpilogue<T>(v.e)},
              threads_, workspace_);
}

template <class T>
void CpuBackend<T>::perform(const verb::Attend& v) {
    cpu::attend<T>(v, threads_, workspace_);
}
template <class T>
void CpuBackend<T>::perform(const verb::AttendBackward& v) {
    cpu::attend_backward<T>(v, threads_, workspace_);
}
template <class T>
void CpuBackend<T>::perform(const verb::DynamicAttend& v) {
    cpu::dynamic_attend<T>(v, threads_);
}
template <class T>
void CpuBackend<T>::perform(const verb::DynamicBackward& v) {
    cpu::dynamic_backward<T>(v, threads_);
}
template <class T>
void CpuBackend<T>::perform(const verb::HeadDots& v) {
    cpu::head_dots<T>(v, threads_);
}
template <class T>
void CpuBackend<T>::perform(const verb::HeadSums& v) {
    cpu::head_sums<T>(v, threads_);
}
template <class T>
void CpuBackend<T>::perform(const verb::AddHeads& v) {
    cpu::add_heads<T>(v, threads_);
}
template <class T>
void CpuBackend<T>::perform(const verb::RescaleHeads& v) {
    cpu::rescale_heads<T>(v, threads_);
}
template <class T>
void CpuBackend<T>::perform(const verb::MeanOfHeads& v) {
    cpu::mean_of_heads<T>(v, threads_);
}
template <class T>
void CpuBackend<T>::perform(const verb::SpreadToHeads& v) {
    cpu::spread_to_heads<T>(v, threads_);
}

template <class T>
void CpuBackend<T>::perform(const verb::Apply& v) {
    const FlatEpilogue<T> flat(v.e);
    parallel_ranges(threads_, v.x.rows, least_rows(v.x.cols),
                    [&](std::int64_t begin, std::int64_t end) { epilogue_rows(flat, v.x, v.z, {begin, end}); });
}

template <class T>
void CpuBackend<T>::perform(const verb::ApplyBackward& v) {
    const FlatEpilogue<T> flat(v.e);
    parallel_ranges(threads_, v.h.rows, least_rows(v.h.cols), [&](std::int64_t begin, std::int64_t end) {
        row_operations<T>().epilogue_backward(flat, v.h, v.dh, v.dz, {begin, end});
    });
}

template <class T>
void CpuBackend<T>::perform(const verb::ColumnSums& v) {
    // Fixed runs of rows, added up in their order: the same bits at any number of threads.
    constexpr std::int64_t run = 1 << 12;
    const std::int64_t runs = (v.g.rows + run - 1) / run;
    const auto cols = usize(v.g.cols);
    std::vector<double> sums(usize(runs) * cols);
    parallel_chunks(threads_, v.g.rows, run, [&](std::int64_t begin, std::int64_t end) {
        row_operations<T>().add_column_sums(v.g, {begin, end}, sums.data() + usize(begin / run) * cols);
    });
    for (std::size_t c = 0; c < cols; ++c) {
        double sum = 0;
        for (std::size_t i = 0; i < usize(runs); ++i) sum += sums[i * cols + c];
        row_of<T>(v.out, 0)[c] = static_cast<T>(sum);
    }
}

template <class T>
void CpuBackend<T>::perform(const verb::SoftmaxCrossEntropy& v) {
    *v.loss_out = sum_of_runs(threads_, v.logits.rows, [&](RowRange rows) {
        return loss_operations<T>().softmax_cross_entropy(v.logits, v.in, v.grad, rows);
    });
}

template <class T>
void CpuBackend<T>::perform(const verb::RowMaxima& v) {
    cpu::row_maxima<T>(threads_, v.logits, v.maxima);
}
template <class T>
void CpuBackend<T>::perform(const verb::RowExpSums& v) {
    cpu::row_exp_sums<T>(threads_, v.logits, v.maxima, v.sums);
}
template <class T>
void CpuBackend<T>::perform(const verb::SoftmaxCrossEntropyShard& v) {
    *v.loss_out =
        cpu::softmax_cross_entropy_shard<T>(threads_, v.logits, v.maxima, v.sums, v.first_class, v.in, v.grad);
}

template <class T>
void CpuBackend<T>::perform(const verb::CountCorrect& v) {
    std::fill_n(v.counts, 6, 0);
    parallel_ranges(threads_, v.logits.rows, least_rows(v.logits.cols), [&](std::int64_t begin, std::int64_t end) {
        std::int64_t mine[6] = {};
        loss_operations<T>().count_correct(v.logits, v.in, {begin, end}, mine);
        for (int i = 0; i < 6; ++i)
#pragma omp atomic
            v.counts[i] += mine[i];
    });
}

template <class T>
void CpuBackend<T>::perform(const verb::BinaryCrossEntropy& v) {
    *v.loss_out = sum_of_runs(threads_, v.logits.rows, [&](RowRange rows) {
        return loss_operations<T>().binary_cross_entropy(v.logits, v.in, v.grad, rows);
    });
}

template <class T>
void CpuBackend<T>::perform(const verb::CountPositives& v) {
    std::fill_n(v.counts, 9, 0);
    parallel_ranges(threads_, v.logits.rows, least_rows(v.logits.cols), [&](std::int64_t begin, std::int64_t end) {
        std::int64_t mine[9] = {};
        loss_operations<T>().count_positives(v.logits, v.in, {begin, end}, mine);
        for (int i = 0; i < 9; ++i)
#pragma omp atomic
            v.counts[i] += mine[i];
    });
}

template <class T>
void CpuBackend<T>::perform(const verb::OptimizerStep& v) {
    const TrainSpec& spec = v.spec;
    const auto t = static_cast<double>(v.step);
    const OptimizerStep<T> s{.kind = spec.optimizer,
                             .rate = static_cast<T>(spec.learning_rate),
                             .beta1 = static_cast<T>(spec.beta1),
                             .beta2 = static_cast<T>(spec.beta2),
                             .rest1 = static_cast<T>(1 - spec.beta1),
                             .rest2 = static_cast<T>(1 - spec.beta2),
                             .epsilon = static_cast<T>(spec.epsilon),
                             .first_correction = static_cast<T>(1 / (1 - std::pow(spec.beta1, t))),
                             .second_correction = static_cast<T>(1 / (1 - std::pow(spec.beta2, t)))};
    for (const ParameterSlot& slot : v.slots)
        parallel_ranges(threads_, slot.count, worth_sharing, [&](std::int64_t begin, std::int64_t end) {
            row_operations<T>().optimizer(s, slot, begin, end);
        });
}

template <class T>
void CpuBackend<T>::perform(const verb::Fill& v) {
    const auto value = static_cast<T>(v.value);
    const auto fill = row_operations<T>().fill;
    if (!v.m.contiguous()) {
        parallel_ranges(threads_, v.m.rows, least_rows(v.m.cols), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t r = begin; r < end; ++r) fill(row_of<T>(v.m, r), v.m.cols, value, false);
        });
        return;
    }
    // Whole cache lines for each thread. What the caches cannot hold is written past them.
    constexpr std::int64_t line = 64 / sizeof(T);
    const std::int64_t count = v.m.rows * v.m.cols;
    const bool past_caches = reinterpret_cast<std::uintptr_t>(v.m.data) % 64 == 0 &&
                             static_cast<std::int64_t>(v.m.bytes()) > last_level_cache_bytes();
    parallel_ranges(
        threads_, (count + line - 1) / line, worth_sharing / line, [&](std::int64_t begin, std::int64_t end) {
            fill(row_of<T>(v.m, 0) + begin * line, std::min(count, end * line) - begin * line, value, past_caches);
        });
}

template <class T>
void CpuBackend<T>::perform(const verb::Copy& v) {
    const std::size_t row_bytes = usize(v.from.cols) * sizeof(T);
    parallel_ranges(threads_, v.from.rows, least_rows(v.from.cols), [&](std::int64_t begin, std::int64_t end) {
        if (v.from.contiguous() && v.to.contiguous()) {
            std::memcpy(row_of<T>(v.to, begin), row_of<T>(v.from, begin), usize(end - begin) * row_bytes);
        } else {
            for (std::int64_t r = begin; r < end; ++r)
                std::memcpy(row_of<T>(v.to, r), row_of<T>(v.from, r), row_bytes);
        }
    });
}

// One pass at memory speed, which the compiler vectorises.
template <class T>
void CpuBackend<T>::perform(const verb::Axpby& v) {
    const T a = static_cast<T>(v.alpha), b = static_cast<T>(v.beta);
    const bool flat = v.x.contiguous() && v.y.contiguous();
    const std::int64_t rows = flat ? v.y.rows * v.y.cols : v.y.rows, cols = flat ? 1 : v.y.cols;
    parallel_ranges(threads_, rows, least_rows(cols), [&](std::int64_t begin, std::int64_t end) {
        const auto add = [&](const T* from, T* to, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i) to[i] = a * from[i] + b * to[i];
        };
        if (flat) return add(row_of<T>(v.x, 0) + begin, row_of<T>(v.y, 0) + begin, end - begin);
        for (std::int64_t r = begin; r < end; ++r) add(row_of<T>(v.x, r), row_of<T>(v.y, r), cols);
    });
}

template <class T>
void CpuBackend<T>::perform(const verb::SquaredDistance& v) {
    const auto [apart, size] = sum_of_runs<DistanceSums>(threads_, v.x.rows, [&](RowRange rows) {
        DistanceSums sums;
        for (std::int64_t r = rows.begin; r < rows.end; ++r)
            sums += distance(row_of<T>(v.x, r), row_of<T>(v.y, r), v.x.cols);
        return sums;
    });
    v.out[0] = apart;
    v.out[1] = size;
}

namespace {

/// Old and new places compete for the last cache: from a quarter of it on, writing past the caches saves fetching what
/// is overwritten. Only whole cache lines can be written so.
bool past_caches(const void* to, std::int64_t bytes) {
    return reinterpret_cast<std::uintptr_t>(to) % 64 == 0 && 4 * bytes > last_level_cache_bytes();
}

}  // namespace

template <class T>
void CpuBackend<T>::perform(const verb::GatherRows& v) {
    const bool past = v.to.cols % 16 == 0 && v.to.ld % 16 == 0 &&
                      past_caches(v.to.data, static_cast<std::int64_t>(v.to.bytes()));
    parallel_ranges(threads_, v.to.rows, least_rows(v.to.cols), [&](std::int64_t begin, std::int64_t end) {
        row_operations<T>().gather(v.from, v.rows, v.to, {begin, end}, past);
    });
}

template <class T>
void CpuBackend<T>::perform(const verb::ScatterAddRows& v) {
    parallel_ranges(threads_, v.from.rows, least_rows(v.from.cols), [&](std::int64_t begin, std::int64_t end) {
        row_operations<T>().scatter_add(v.from, v.rows, v.to, {begin, end});
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
        perform(verb::GatherRows{from, rows, to});
    };
    const auto add = [this](ConstMatrixView from, const std::int32_t* rows, MatrixView to) {
        perform(verb::ScatterAddRows{from, rows, to});
    };
    return make_shared_transport(group, memory_, {copy, gather, add}, transport_);
}

template class CpuBackend<float>;
template class CpuBackend<double>;

}  // namespace gnnbench::cpu
