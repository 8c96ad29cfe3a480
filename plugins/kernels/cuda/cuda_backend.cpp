#include "cuda_backend.hpp"

#include <cmath>
#include <exception>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

#include "check.hpp"
#include "transports.hpp"

namespace gnnbench::cuda {
namespace {

/// What cuBLAS advises on its largest devices; smaller ones need less.
constexpr std::size_t blas_workspace_bytes = std::size_t{32} << 20;

Counted counted(const LossInput& in) {
    static_assert(sizeof(Split) == 1);
    return {in.labels, reinterpret_cast<const std::uint8_t*>(in.split), static_cast<std::uint8_t>(in.counted),
            in.scale, in.label_matrix};
}

}  // namespace

CudaBackend::CudaBackend(Options options)
    : Backend(options.dtype),
      options_(std::move(options)),
      pool_(options_.memory_pool),
      clock_(streams_),
      pinned_(std::make_shared<PinnedPool>()),
      uploads_(streams_, pinned_),
      sparse_(streams_.compute()) {
    blas_workspace_ = own_memory(blas_workspace_bytes);
    if (!blas_workspace_)
        throw OutOfMemory(fmt::format("cuBLAS asks for a workspace of {} bytes; the device has {} free",
                                      blas_workspace_bytes, pool_.free_bytes()));
    blas_.emplace(streams_.compute(), blas_workspace_.get(), blas_workspace_bytes, options_.tf32);
    trace().use(&clock_);
}

CudaBackend::~CudaBackend() {
    trace().use(nullptr);
    if (std::uncaught_exceptions() == 0) streams_.drain();
}

void* CudaBackend::do_allocate(std::size_t bytes) { return pool_.take(bytes); }

void CudaBackend::do_free(void* data, std::size_t) noexcept {
    // The block may be handed out again: no stream may still be at work on it. Freeing is rare and outside of
    // epochs. During stack unwinding, peers may never arrive.
    if (std::uncaught_exceptions() > 0) return pool_.set_aside(data);
    streams_.drain();
    pool_.give_back(data);
}

std::int64_t CudaBackend::do_free_bytes() const { return pool_.free_bytes(); }

std::shared_ptr<void> CudaBackend::own_memory(std::size_t bytes) {
    void* data = pool_.take(bytes);
    if (!data) return nullptr;
    count_own_memory(static_cast<std::int64_t>(bytes));
    return {data, [this, bytes](void* p) {
                do_free(p, bytes);
                count_own_memory(-static_cast<std::int64_t>(bytes));
            }};
}

void* CudaBackend::scratch(std::size_t bytes) {
    if (bytes <= scratch_bytes_) return scratch_.get();
    scratch_bytes_ = 0;
    scratch_.reset();
    scratch_ = own_memory(bytes);
    if (!scratch_)
        throw OutOfMemory(fmt::format("kernel cuda needs {} bytes of scratch memory; the device has {} free",
                                      bytes, pool_.free_bytes()));
    scratch_bytes_ = bytes;
    return scratch_.get();
}

void CudaBackend::do_copy_in(const void* host, void* device, std::size_t bytes) {
    // In the compute stream, so that its earlier work on a reused block has completed.
    uploads_.copy(host, device, bytes);
}

void CudaBackend::do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole stream) {
    // Waits first, because the copy itself would block without checking whether a peer failed.
    streams_.synchronize(stream);
    check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, streams_.of(stream)),
          "cudaMemcpyAsync to the host");
    streams_.synchronize(stream);
}

Event CudaBackend::do_record(StreamRole stream) { return streams_.record(stream); }
void CudaBackend::do_wait(StreamRole stream, const Event& event) { streams_.wait(stream, event); }
void CudaBackend::do_synchronize(StreamRole stream) { streams_.synchronize(stream); }

void CudaBackend::perform(const verb::Gemm& v) {
    const std::int64_t inner = v.inner();
    if (inner > 0 && v.s.alpha != 0) {
        blas_->gemm(v.ta, v.a, v.tb, v.b, v.c, v.s);
    } else {
        keep(v.c, v.s.beta);
    }
    if (!v.e.empty()) perform(verb::Apply{v.e, v.c, v.c});
}

void CudaBackend::keep(MatrixView c, double beta) {
    typed([&]<class T>(T) {
        if (beta == 0)
            check(cuda::fill(dense<T>(c), T(0), compute()), "launching fill");
        else if (beta != 1)
            check(cuda::scale(dense<T>(c), static_cast<T>(beta), compute()), "launching scale");
    });
}

void CudaBackend::perform(const verb::Apply& v) {
    typed([&]<class T>(T) {
        check(cuda::apply(finish<T>(v.e), dense<T>(v.x), dense<T>(v.z), compute()), "launching apply");
    });
}

void CudaBackend::perform(const verb::ApplyBackward& v) {
    typed([&]<class T>(T) {
        check(cuda::apply_backward(finish<T>(v.e), dense<T>(v.h), dense<T>(v.dh), dense<T>(v.dz), compute()),
              "launching apply_backward");
    });
}

void CudaBackend::perform(const verb::ColumnSums& v) {
    const auto count = usize(column_sum_parts(v.g.rows) * v.g.cols);
    auto* partial = static_cast<double*>(scratch(count * sizeof(double)));
    typed([&]<class T>(T) {
        check(cuda::column_sums(dense<T>(v.g), partial, static_cast<T*>(v.out.data), compute()),
              "launching column_sums");
    });
}

void CudaBackend::perform(const verb::SoftmaxCrossEntropy& v) {
    auto* partial = static_cast<double*>(scratch(usize(loss_blocks(v.logits.rows)) * sizeof(double)));
    typed([&]<class T>(T) {
        check(cuda::softmax_cross_entropy(dense<T>(v.logits), counted(v.in), dense<T>(v.grad), partial, v.loss_out,
                                          compute()),
              "launching softmax_cross_entropy");
    });
}

void CudaBackend::perform(const verb::RowMaxima& v) {
    typed([&]<class T>(T) {
        check(cuda::row_maxima(dense<T>(v.logits), dense<T>(v.maxima), compute()), "launching row_maxima");
    });
}

void CudaBackend::perform(const verb::RowExpSums& v) {
    typed([&]<class T>(T) {
        check(cuda::row_exp_sums(dense<T>(v.logits), dense<T>(v.maxima), dense<T>(v.sums), compute()),
              "launching row_exp_sums");
    });
}

void CudaBackend::perform(const verb::SoftmaxCrossEntropyShard& v) {
    auto* partial = static_cast<double*>(scratch(usize(loss_blocks(v.logits.rows)) * sizeof(double)));
    typed([&]<class T>(T) {
        check(cuda::softmax_cross_entropy_shard(dense<T>(v.logits), dense<T>(v.maxima), dense<T>(v.sums),
                                                v.first_class, counted(v.in), dense<T>(v.grad), partial,
                                                v.loss_out, compute()),
              "launching softmax_cross_entropy_shard");
    });
}

void CudaBackend::perform(const verb::CountCorrect& v) {
    typed([&]<class T>(T) {
        check(cuda::count_correct(dense<T>(v.logits), counted(v.in), v.counts, compute()),
              "launching count_correct");
    });
}

void CudaBackend::perform(const verb::BinaryCrossEntropy& v) {
    auto* partial = static_cast<double*>(scratch(usize(loss_blocks(v.logits.rows)) * sizeof(double)));
    typed([&]<class T>(T) {
        check(cuda::binary_cross_entropy(dense<T>(v.logits), counted(v.in), dense<T>(v.grad), partial, v.loss_out,
                                         compute()),
              "launching binary_cross_entropy");
    });
}

void CudaBackend::perform(const verb::CountPositives& v) {
    typed([&]<class T>(T) {
        check(cuda::count_positives(dense<T>(v.logits), counted(v.in), v.counts, compute()),
              "launching count_positives");
    });
}

void CudaBackend::perform(const verb::OptimizerStep& v) {
    const TrainSpec& spec = v.spec;
    const auto t = static_cast<double>(v.step);
    typed([&]<class T>(T) {
        OptimizerStep<T> o{};
        o.kind = static_cast<int>(spec.optimizer);
        o.rate = static_cast<T>(spec.learning_rate);
        o.beta1 = static_cast<T>(spec.beta1);
        o.beta2 = static_cast<T>(spec.beta2);
        o.rest1 = static_cast<T>(1 - spec.beta1);
        o.rest2 = static_cast<T>(1 - spec.beta2);
        o.epsilon = static_cast<T>(spec.epsilon);
        o.first_correction = static_cast<T>(1 / (1 - std::pow(spec.beta1, t)));
        o.second_correction = static_cast<T>(1 / (1 - std::pow(spec.beta2, t)));
        const auto launch = [&] {
            check(cuda::optimizer_step(o, compute()), "launching optimizer_step");
            o.slots = 0;
            o.blocks = 0;
        };
        for (const ParameterSlot& p : v.slots) {
            if (p.count == 0) continue;
            o.slot[o.slots++] = {static_cast<T*>(p.weight),
                                 static_cast<const T*>(p.gradient),
                                 static_cast<T*>(p.first_moment),
                                 static_cast<T*>(p.second_moment),
                                 p.count,
                                 o.blocks,
                                 static_cast<T>(p.weight_decay)};
            o.blocks += divided_up(p.count, slot_elements_per_block);
            if (o.slots == slots_per_launch) launch();
        }
        if (o.slots > 0) launch();
    });
}
static_assert(static_cast<int>(OptimizerKind::sgd) == 0 && static_cast<int>(OptimizerKind::adam) == 1 &&
              static_cast<int>(OptimizerKind::adamw) == 2);

void CudaBackend::perform(const verb::Fill& v) {
    typed([&]<class T>(T) {
        check(cuda::fill(dense<T>(v.m), static_cast<T>(v.value), compute()), "launching fill");
    });
}

void CudaBackend::perform(const verb::Copy& v) { perform(verb::GatherRows{v.from, nullptr, v.to}); }

void CudaBackend::perform(const verb::Axpby& v) {
    typed([&]<class T>(T) {
        check(
            cuda::axpby(static_cast<T>(v.alpha), dense<T>(v.x), static_cast<T>(v.beta), dense<T>(v.y), compute()),
            "launching axpby");
    });
}

void CudaBackend::perform(const verb::SquaredDistance& v) {
    auto* partial = static_cast<double*>(scratch(usize(2 * distance_blocks(v.x.rows)) * sizeof(double)));
    typed([&]<class T>(T) {
        check(cuda::squared_distance(dense<T>(v.x), dense<T>(v.y), partial, v.out, compute()),
              "launching squared_distance");
    });
}

void CudaBackend::perform(const verb::GatherRows& v) {
    typed([&]<class T>(T) {
        check(cuda::gather_rows(dense<T>(v.from), v.rows, dense<T>(v.to), compute()), "launching gather_rows");
    });
}

void CudaBackend::perform(const verb::ScatterAddRows& v) {
    typed([&]<class T>(T) {
        check(cuda::scatter_add_rows(dense<T>(v.from), v.rows, dense<T>(v.to), compute()),
              "launching scatter_add_rows");
    });
}

std::unique_ptr<Transport> CudaBackend::do_connect(const ProcessGroup& group) {
    Connection c =
        connect_ranks(group, options_, streams_, pinned_, [this](std::int64_t bytes) { count_own_memory(bytes); });
    transport_note_ = c.note;
    return std::move(c.transport);
}

std::string CudaBackend::do_notes() const {
    return fmt::format("cuda: {}tf32 {}", transport_note_.empty() ? "" : "transport " + transport_note_ + "; ",
                       options_.tf32 ? "on" : "off");
}

}  // namespace gnnbench::cuda
