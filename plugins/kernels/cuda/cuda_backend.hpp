#pragma once
#include <optional>
#include <string>

#include <gnnbench/backend.hpp>

#include "gemm.hpp"
#include "library_spmm.hpp"
#include "pinned.hpp"
#include "pool.hpp"
#include "prepared.hpp"
#include "streams.hpp"
#include "uploads.hpp"

namespace gnnbench::cuda {

enum class ProductChoice { measured, rows, balanced, panels, library, deterministic };
enum class TransportChoice { automatic, nccl, mpi, staged };

/// The options given by the plugin's parameters and the setting.
struct Options {
    DType dtype = DType::f32;
    ProductChoice product = ProductChoice::measured;
    TransportChoice transport = TransportChoice::automatic;
    bool tf32 = false;
    bool memory_pool = true;
    bool share_devices = false;
    int device = 0;
    std::vector<std::int64_t> widths = {};  ///< to run trials for
    bool attends = false;                   ///< matrices are attended over: all their rows are stored
};

/// One CUDA device: two streams, a memory pool, cuBLAS, cuSPARSE and kernels of our own.
/// Every verb only enqueues work on the compute stream, and so do uploads of little data; downloads and synchronize wait for
/// it.
class CudaBackend final : public Backend {
public:
    explicit CudaBackend(Options options);
    ~CudaBackend() override;

private:
    void* do_allocate(std::size_t bytes) override;
    void do_free(void* data, std::size_t bytes) noexcept override;
    std::int64_t do_free_bytes() const override;
    void do_copy_in(const void* host, void* device, std::size_t bytes) override;
    void do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole stream) override;
    Event do_record(StreamRole stream) override;
    void do_wait(StreamRole stream, const Event& event) override;
    void do_synchronize(StreamRole stream) override;
    std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts t) override;
    std::unique_ptr<PreparedMatrix> do_refer(const CsrView& a) override;
    GNNBENCH_PERFORMS_EVERY_VERB
    std::unique_ptr<Transport> do_connect(const ProcessGroup& group) override;
    std::string do_notes() const override;

    /// c ← beta · c; zeros where beta is 0, whatever c contains.
    void keep(MatrixView c, double beta);

    // products.cpp
    /// `may_leave_out_rows`: that are empty, where most are.
    std::unique_ptr<CudaMatrix> prepared(const Csr& a, bool may_leave_out_rows);
    void multiply(const CudaMatrix& a, Product how, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e);
    void multiply_by_library(const CudaMatrix& a, Product how, ConstMatrixView b, MatrixView c, Scale s);
    const LibrarySpmm& library_product(const CudaMatrix& a, Product how, ConstMatrixView b, MatrixView c);

    // product_trials.cpp
    void run_trials(CudaMatrix& a, std::uint64_t pattern);
    /// The fastest of the candidates that serve, at a width that fits in memory; the first unless another is faster by
    /// a margin.
    std::optional<Product> fastest(const CudaMatrix& a, std::int64_t width, const std::vector<Product>& candidates,
                                   int turns);
    std::optional<float> trial_ms(const CudaMatrix& a, Product how, ConstMatrixView b, MatrixView c);

    /// Memory for the kernel's own use, counted, and released with its last holder. nullptr: out of memory.
    std::shared_ptr<void> own_memory(std::size_t bytes);
    /// Scratch that verbs of the compute stream use one after another. Grows; only then it waits for the device.
    void* scratch(std::size_t bytes);
    /// Whether scratch of this size is there, or takes no more than half of the free memory.
    bool has_room(std::size_t bytes) const {
        return bytes <= scratch_bytes_ || static_cast<std::int64_t>(bytes) <= pool_.free_bytes() / 2;
    }
    template <class F>
    void typed(F&& f);
    cudaStream_t compute() const { return streams_.compute(); }

    Options options_;
    Pool pool_;
    Streams streams_;
    StreamClock clock_;
    std::shared_ptr<PinnedPool> pinned_;
    Uploads uploads_;
    std::shared_ptr<void> blas_workspace_, scratch_;
    std::size_t scratch_bytes_ = 0;
    SparseHandle sparse_;
    std::optional<Blas> blas_;
    std::string transport_note_;
};

/// Calls f with a value of the kernel's element type.
template <class F>
void CudaBackend::typed(F&& f) {
    if (dtype() == DType::f32)
        f(float{});
    else
        f(double{});
}

template <class T>
Dense<T> dense(MatrixView m) {
    return {static_cast<T*>(m.data), m.rows, m.cols, m.ld};
}
template <class T>
Dense<const T> dense(ConstMatrixView m) {
    return {static_cast<const T*>(m.data), m.rows, m.cols, m.ld};
}

/// As in core/random.cpp: counter (vertex, block, stream), key (seed, what).
inline Mask device_mask(const DropoutMask& mask, Draw what) {
    return {.active = true,
            .threshold = mask.threshold(),
            .key0 = static_cast<u32>(mask.seed),
            .key1 = static_cast<u32>(mask.seed >> 32) ^ (static_cast<u32>(what) * 0x9E3779B9u),
            .stream = mask.stream(),
            .first_column = mask.first_column};
}

template <class T>
Finish<T> finish(const Epilogue& e) {
    Finish<T> f;
    f.bias = static_cast<const T*>(e.bias);
    f.curve = static_cast<Curve>(e.activation);
    if (!e.dropout.active()) return f;
    f.scale = static_cast<T>(e.dropout.scale());
    f.mask = device_mask(e.dropout, Draw::dropout);
    f.row_ids = e.row_ids;
    return f;
}

static_assert(static_cast<int>(Activation::relu) == static_cast<int>(Curve::relu) &&
              static_cast<int>(Activation::leaky_relu) == static_cast<int>(Curve::leaky_relu) &&
              static_cast<int>(Activation::sigmoid) == static_cast<int>(Curve::sigmoid) &&
              static_cast<int>(Activation::elu) == static_cast<int>(Curve::elu));

}  // namespace gnnbench::cuda
