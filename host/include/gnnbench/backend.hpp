#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gnnbench/event.hpp>
#include <gnnbench/graph.hpp>
#include <gnnbench/matrix.hpp>
#include <gnnbench/model.hpp>
#include <gnnbench/params.hpp>
#include <gnnbench/plugin.hpp>
#include <gnnbench/random.hpp>
#include <gnnbench/setup_cost.hpp>
#include <gnnbench/trace.hpp>

namespace gnnbench {

class Backend;
class ProcessGroup;
class Transport;

/// Device memory of a back end. Move-only; freed on destruction. The back end must outlive it.
class Buffer {
public:
    Buffer() = default;
    Buffer(Backend& owner, void* data, std::size_t bytes) : owner_(&owner), data_(data), bytes_(bytes) {}
    Buffer(Buffer&& o) noexcept;
    Buffer& operator=(Buffer&& o) noexcept;
    ~Buffer();
    void* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

private:
    Backend* owner_ = nullptr;
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

/// A dense matrix in device memory that owns its buffer.
class Matrix {
public:
    Matrix() = default;
    Matrix(Buffer buffer, std::int64_t rows, std::int64_t cols, DType dtype)
        : buffer_(std::move(buffer)), view_{buffer_.data(), rows, cols, cols, dtype} {}
    MatrixView view() const { return view_; }
    operator MatrixView() const { return view_; }
    operator ConstMatrixView() const { return view_; }
    std::int64_t rows() const { return view_.rows; }
    std::int64_t cols() const { return view_.cols; }

private:
    Buffer buffer_;
    MatrixView view_;
};

/// An integer array in device memory (row indices, labels, original ids). T is plain data.
template <class T>
class Array {
public:
    Array() = default;
    Array(Buffer buffer, std::int64_t size) : buffer_(std::move(buffer)), size_(size) {}
    T* data() const { return static_cast<T*>(buffer_.data()); }
    std::int64_t size() const { return size_; }

private:
    Buffer buffer_;
    std::int64_t size_ = 0;
};

/// A sparse matrix in its back end's preferred format, prepared once and multiplied often. Opaque; immutable.
class PreparedMatrix {
public:
    virtual ~PreparedMatrix();
    std::int64_t rows = 0, cols = 0, nonzeros = 0;
    bool multiplies_transposed = false;  ///< spmm_transposed may be called
    /// What the back end chose, for the record: "csr", "tiled 16384 x 64".
    std::string format;
};

/// Whether a matrix is prepared for products by its transpose too, for which a back end may keep an index of its
/// columns, but never its values a second time.
enum class TransposedProducts : std::uint8_t { none, wanted };

/// A CSR matrix in device memory, used without preparation: for matrices that arrive or change within an epoch.
struct CsrView {
    const std::int64_t* indptr = nullptr;   ///< length rows + 1
    const std::int32_t* indices = nullptr;  ///< length indptr[rows]
    const void* values = nullptr;           ///< length indptr[rows], of the back end's dtype
    std::int64_t rows = 0, cols = 0;
    std::int64_t nonzeros = 0;  ///< indptr[rows], which the host cannot read there
};

enum class Transpose : std::uint8_t { no, yes };

/// Applied to each element of a complete product: + bias[column], σ, dropout, in this order.
struct Epilogue {
    const void* bias = nullptr;  ///< length cols, device, back end's dtype; or none
    Activation activation = Activation::identity;
    DropoutMask dropout;                    ///< inactive at rate 0
    const std::int64_t* row_ids = nullptr;  ///< length rows, device: original ids, for dropout

    bool empty() const { return !bias && activation == Activation::identity && !dropout.active(); }
};

/// C = alpha · A · B + beta · C. beta 0 never reads C.
struct Scale {
    double alpha = 1, beta = 0;
};

/// One trainable array with its gradient and the optimizer's moments; all of `count` elements on the device.
struct ParameterSlot {
    void* weight = nullptr;
    const void* gradient = nullptr;
    void* first_moment = nullptr;   ///< Adam, AdamW
    void* second_moment = nullptr;  ///< Adam, AdamW
    std::int64_t count = 0;
    double weight_decay = 0;
};

/// What the loss sums over: split [rows] and either kind of label on the device; vertices of `counted` take part.
struct LossInput {
    const std::int32_t* labels = nullptr;  ///< [rows]: one label for each vertex
    const Split* split = nullptr;
    Split counted = Split::train;
    double scale = 1;  ///< 1 / |counted vertices of the whole graph|, of a label matrix also / |all classes|
    /// [rows × columns of the logits], contiguous, of 0 and 1: any number of labels for each vertex.
    const std::uint8_t* label_matrix = nullptr;
    bool multi_label = false;  ///< label_matrix holds the labels, not `labels`
};

struct MemoryUse {
    std::int64_t current_bytes = 0, peak_bytes = 0;
    std::int64_t allocations = 0;  ///< calls of allocate since the back end's construction
};

/// A rank's compute back end: memory, streams, products, element-wise operations. The public verbs check
/// shapes, record their time in the trace and call the private ones, which a plugin implements.
///
/// Ordering: operations on one stream run in order. Between streams only events order. A back end whose
/// device is the host may complete every verb before it returns.
/// Row-major everywhere. All dense values have the back end's dtype.
class Backend {
public:
    explicit Backend(DType dtype) : dtype_(dtype) {}
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;
    virtual ~Backend();

    DType dtype() const { return dtype_; }
    Trace& trace() { return trace_; }
    const MemoryUse& memory() const { return memory_; }
    /// Resets the peak to the memory allocated now.
    void reset_peak_memory() { memory_.peak_bytes = memory_.current_bytes; }
    /// What preparing matrices has taken so far.
    const SetupPart& prepare_cost() const { return prepare_cost_; }
    /// Whether device memory has contents. Where it has none, nothing needs to be copied there, and what is read back, such
    /// as a loss, means nothing.
    bool holds_values() const { return do_holds_values(); }
    /// Choices made at run time, for the record ("transport: nccl"); empty if there were none.
    std::string notes() const { return do_notes(); }

    // Memory. Contents are undefined until written. Throws OutOfMemory with the requested and the free bytes.
    Buffer allocate(std::size_t bytes);
    Matrix matrix(std::int64_t rows, std::int64_t cols);
    template <class T>
    Array<T> upload(std::span<const T> host);
    /// float32 or float64 host values become the back end's dtype. Both contiguous, of to.rows × to.cols.
    void upload(std::span<const float> from, MatrixView to);
    void upload(std::span<const double> from, MatrixView to);
    /// Waits for `stream`'s work, then reads back in float64.
    HostMatrix download(ConstMatrixView from, StreamRole stream = StreamRole::compute);

    /// Copies raw bytes to allocated device memory.
    void upload_bytes(const void* from, void* to, std::size_t bytes);
    /// Waits for `stream`'s work, then copies raw device memory (scalars, counts) to the host.
    void download_bytes(const void* from, void* to, std::size_t bytes, StreamRole stream = StreamRole::compute);

    // Order.
    Event record(StreamRole stream);
    void wait(StreamRole stream, const Event& event);
    /// Waits for the first of `events` to complete and returns its index; where the device completes events by
    /// itself, the first in order. Skips every i with done[i]; at least one must not be done.
    std::size_t wait_any(StreamRole stream, std::span<const Event> events, const std::vector<bool>& done);
    /// From now on `waits` records what every `wait_any` returns, and `wait_any` returns the indices of `repeat`, in
    /// order, while there are any, instead of the first event to complete. Sums in order of arrival are then equal to
    /// the bit in two runs, which lets a verification compare them.
    void order_waits(std::vector<std::size_t> repeat);
    const std::vector<std::size_t>& waits() const { return waits_; }
    void synchronize(StreamRole stream);

    // Sparse × dense: C [m × f] from A [m × n], B [n × f]. B and C do not overlap. Back ends of one process and setting
    // multiply by equal matrices in the same order of sums (transposes apart): a verification compares them.
    std::unique_ptr<PreparedMatrix> prepare(const Csr& a, TransposedProducts t = TransposedProducts::none);
    /// Overload for back ends without values, which need only the size.
    std::unique_ptr<PreparedMatrix> prepare(const SparseSize& a, TransposedProducts t = TransposedProducts::none);
    void spmm(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s = {}, const Epilogue& e = {});
    void spmm(const CsrView& a, ConstMatrixView b, MatrixView c, Scale s = {}, const Epilogue& e = {});

    /// C [n × f] from Aᵀ, B [m × f]; A [m × n] is prepared with TransposedProducts::wanted.
    void spmm_transposed(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s = {},
                         const Epilogue& e = {});

    // Dense: C [m × n] from op(A) [m × k], op(B) [k × n].
    void gemm(Transpose ta, ConstMatrixView a, Transpose tb, ConstMatrixView b, MatrixView c, Scale s = {},
              const Epilogue& e = {});

    // Element-wise; phase `activation` unless said otherwise.
    /// z ← epilogue(z), in place.
    void apply(const Epilogue& e, MatrixView z);
    /// out ← dropout(x) (out of place: x is an input that is kept).
    void dropout(const Epilogue& e, ConstMatrixView x, MatrixView out);
    /// dz ← dh ∘ σ'(z) ∘ mask · scale, from h = epilogue(z) itself; dz may alias dh or h.
    void apply_backward(const Epilogue& e, ConstMatrixView h, ConstMatrixView dh, MatrixView dz);
    /// out [1 × cols] ← column sums of g: a bias gradient.
    void column_sums(ConstMatrixView g, MatrixView out);
    /// Softmax cross entropy of logits [n × classes]: grad ← (softmax − onehot) · scale on counted rows, 0 on
    /// the others (may alias logits); loss_out (one float64, device) ← Σ over counted rows of −log p · scale.
    void softmax_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad, double* loss_out);
    // The same loss where a row's classes are distributed over ranks: each holds columns [first_class, first_class +
    // cols). maxima and sums [n × 1] are reduced over those ranks between the calls. Phase `loss`.
    /// maxima ← the largest logit of each row; −∞ where this shard has no class.
    void row_maxima(ConstMatrixView logits, MatrixView maxima);
    /// sums ← Σ_c exp(logit − maximum) over this shard's classes.
    void row_exp_sums(ConstMatrixView logits, ConstMatrixView maxima, MatrixView sums);
    /// As softmax_cross_entropy, with maxima and sums of whole rows; the rank with a row's label adds its loss.
    void softmax_cross_entropy_shard(ConstMatrixView logits, ConstMatrixView maxima, ConstMatrixView sums,
                                     std::int64_t first_class, const LossInput& in, MatrixView grad,
                                     double* loss_out);
    /// counts (6 int64, device) ← correct and total of train, validation, test rows, by arg max. Phase `loss`.
    void count_correct(ConstMatrixView logits, const LossInput& in, std::int64_t* counts);
    // The loss for a label matrix. Element-wise, so that a rank may hold any columns of the logits. Phase `loss`.
    /// Binary cross-entropy with logits x and labels y: grad ← (σ(x) − y) · scale on counted rows, 0 on the others (may
    /// alias logits); loss_out (one float64, device) ← Σ over counted elements of (log(1 + eˣ) − y·x) · scale, computed
    /// as max(t, 0) + log1p(exp(−|t|)) with t = −x where y = 1, else x, which no finite x overflows.
    void binary_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad, double* loss_out);
    /// counts (9 int64, device) ← true positives, false positives, false negatives of train, validation, test rows; a
    /// logit above 0 claims its label.
    void count_positives(ConstMatrixView logits, const LossInput& in, std::int64_t* counts);
    /// One step of every slot; `step` counts from 1. Phase `optimizer`.
    void optimizer_step(const TrainSpec& spec, std::int64_t step, std::span<const ParameterSlot> slots);

    // Rows; phase `pack`.
    void fill(MatrixView m, double v);
    void copy(ConstMatrixView from, MatrixView to);
    /// y ← alpha · x + beta · y; x may be y. What averages are made of.
    void axpby(double alpha, ConstMatrixView x, double beta, MatrixView y);
    /// to[i] ← from[rows[i]], i < to.rows.
    void gather_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to);
    /// to[rows[i]] += from[i]; rows has no repeats.
    void scatter_add_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to);

    /// The transport that moves this back end's memory between the ranks of `group`.
    std::unique_ptr<Transport> connect(const ProcessGroup& group);

protected:
    /// Device memory that the back end allocated (negative: freed) for itself, in addition to allocate's buffers.
    void count_own_memory(std::int64_t bytes);

private:
    friend class Buffer;
    void release(void* data, std::size_t bytes) noexcept;

    virtual void* do_allocate(std::size_t bytes) = 0;  ///< nullptr: no memory left
    virtual void do_free(void* data, std::size_t bytes) noexcept = 0;
    virtual std::int64_t do_free_bytes() const = 0;  ///< for messages; −1 unknown
    virtual void do_copy_in(const void* host, void* device, std::size_t bytes) = 0;
    virtual void do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole stream) = 0;
    virtual Event do_record(StreamRole stream) = 0;
    virtual void do_wait(StreamRole stream, const Event& event) = 0;
    virtual void do_synchronize(StreamRole stream) = 0;
    virtual std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts t) = 0;
    virtual std::unique_ptr<PreparedMatrix> do_prepare_size(const SparseSize& a, TransposedProducts t);
    virtual void do_spmm(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) = 0;
    virtual void do_spmm(const CsrView& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) = 0;
    virtual void do_spmm_transposed(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s,
                                    const Epilogue& e) = 0;
    virtual void do_gemm(Transpose ta, ConstMatrixView a, Transpose tb, ConstMatrixView b, MatrixView c, Scale s,
                         const Epilogue& e) = 0;
    virtual void do_apply(const Epilogue& e, ConstMatrixView x, MatrixView z) = 0;  ///< x may be z
    virtual void do_apply_backward(const Epilogue& e, ConstMatrixView h, ConstMatrixView dh, MatrixView dz) = 0;
    virtual void do_column_sums(ConstMatrixView g, MatrixView out) = 0;
    virtual void do_softmax_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad,
                                          double* loss_out) = 0;
    virtual void do_row_maxima(ConstMatrixView logits, MatrixView maxima) = 0;
    virtual void do_row_exp_sums(ConstMatrixView logits, ConstMatrixView maxima, MatrixView sums) = 0;
    virtual void do_softmax_cross_entropy_shard(ConstMatrixView logits, ConstMatrixView maxima,
                                                ConstMatrixView sums, std::int64_t first_class,
                                                const LossInput& in, MatrixView grad, double* loss_out) = 0;
    virtual void do_count_correct(ConstMatrixView logits, const LossInput& in, std::int64_t* counts) = 0;
    virtual void do_binary_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad,
                                         double* loss_out) = 0;
    virtual void do_count_positives(ConstMatrixView logits, const LossInput& in, std::int64_t* counts) = 0;
    virtual void do_optimizer_step(const TrainSpec& spec, std::int64_t step,
                                   std::span<const ParameterSlot> slots) = 0;
    virtual void do_fill(MatrixView m, double v) = 0;
    virtual void do_copy(ConstMatrixView from, MatrixView to) = 0;
    virtual void do_axpby(double alpha, ConstMatrixView x, double beta, MatrixView y) = 0;
    virtual void do_gather_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to) = 0;
    virtual void do_scatter_add_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to) = 0;
    virtual std::unique_ptr<Transport> do_connect(const ProcessGroup& group) = 0;
    virtual std::string do_notes() const { return {}; }
    virtual bool do_holds_values() const { return true; }

    DType dtype_;
    MemoryUse memory_;
    SetupPart prepare_cost_;
    Trace trace_;
    bool orders_waits_ = false;
    std::vector<std::size_t> waits_, waits_to_repeat_;
};

template <class T>
Array<T> Backend::upload(std::span<const T> host) {
    Buffer b = allocate(host.size_bytes());
    if (!host.empty()) do_copy_in(host.data(), b.data(), host.size_bytes());
    return {std::move(b), static_cast<std::int64_t>(host.size())};
}

/// The settings that a back-end plugin makes a back end for.
struct KernelSetting {
    DType dtype = DType::f32;
    int threads = 1;      ///< CPU threads of this rank
    int local_rank = 0;   ///< this rank's number on its host, which selects its device
    int local_ranks = 1;  ///< ranks on this host
    Params params = {};
    /// Widths of the model, features first and classes last, if known; a back end may tune its products for them.
    std::vector<std::int64_t> widths = {};
    /// Where ranks share a process: the group, as the rank sees it that the back end is for. Valid during the call alone.
    const ProcessGroup* ranks = nullptr;
};

/// A back-end plugin: says whether this machine supports it, and makes back ends.
class BackendPlugin {
public:
    virtual ~BackendPlugin();
    /// Why this machine does not support the setting ("no CUDA device (driver not found)"); empty if it does.
    virtual std::string why_unsupported(const KernelSetting& setting) const = 0;
    /// What it computes on: "CPU, 2 threads", "NVIDIA H100 80GB".
    virtual std::string device_name(const KernelSetting& setting) const = 0;
    virtual std::unique_ptr<Backend> create(const KernelSetting& setting) const = 0;
};

}  // namespace gnnbench
