#pragma once
#include <cuda_runtime_api.h>

#include "finish.hpp"
#include "tiling.hpp"

// The .cu files' interface to host code. Every call only enqueues work on `stream`, and returns the
// launch's error code. Pointers are device memory. Nothing is enqueued for empty matrices.
namespace gnnbench::cuda {

struct WorkItem;
struct SplitRow;

/// A row-major dense matrix on the device: element (r, c) at data[r · ld + c].
template <class T>
struct Dense {
    T* data = nullptr;
    i64 rows = 0, cols = 0, ld = 0;

    template <class U = T>
    operator Dense<const U>() const {
        return {data, rows, cols, ld};
    }
};

/// C = epilogue(alpha · A · B + beta · C), rows of A by themselves or by items. Of a matrix whose rows are mostly empty
/// only those in use are stored: the others of C are gone through where beta or the epilogue changes them.
template <class T>
struct SpmmCall {
    const i64* indptr = nullptr;  ///< length stored rows + 1; unused with items
    const i32* indices = nullptr;
    const T* values = nullptr;
    const WorkItem* items = nullptr;  ///< nullptr: unit u is row u
    i64 units = 0;                    ///< stored rows, or items
    const i32* row_at = nullptr;      ///< [stored]: rows in use, ascending; nullptr: all are stored, or none
    i64 stored = 0, rows = 0;         ///< rows of A that are stored, and all
    const SplitRow* split = nullptr;  ///< rows summed up from partial sums
    i64 split_rows = 0;
    T* partial = nullptr;  ///< [slots × read_width]
    const T* b = nullptr;
    u32 ldb = 0;         ///< narrow: each thread multiplies by it for each nonzero
    i64 read_width = 0;  ///< columns of B and of the partial sums: `width`, or more, whose products are left out
    T* c = nullptr;
    i64 ldc = 0;
    i64 width = 0;
    bool in_panels = false;  ///< of columns, one after another
    bool by_fours = false;   ///< spmm's own: indices and values can be read 16 bytes at a time
    T alpha = 1, beta = 0;
    Finish<T> finish{};
};

template <class T>
cudaError_t spmm(SpmmCall<T> call, cudaStream_t stream);

/// z ← epilogue(x); x may be z.
template <class T>
cudaError_t apply(const Finish<T>& f, Dense<const T> x, Dense<T> z, cudaStream_t stream);
/// dz ← dh ∘ σ'(z) ∘ mask · scale from h = epilogue(z); dz may be dh or h.
template <class T>
cudaError_t apply_backward(const Finish<T>& f, Dense<const T> h, Dense<const T> dh, Dense<T> dz,
                           cudaStream_t stream);

/// Parts into which the rows of a column sum are cut; partial sums are double [parts × cols].
i64 column_sum_parts(i64 rows);
template <class T>
cudaError_t column_sums(Dense<const T> g, double* partial, T* out, cudaStream_t stream);

/// One trainable array of an optimizer's launch.
template <class T>
struct Slot {
    T* weight;
    const T* gradient;
    T* first_moment;
    T* second_moment;
    i64 count;
    i64 first_block;  ///< of the launch, that works on it
    T weight_decay;
};
constexpr int slots_per_launch = 32;
constexpr int slot_elements_per_block = 4 * block_threads;
/// SGD, Adam, AdamW with the constants of one step.
template <class T>
struct OptimizerStep {
    int kind;  ///< OptimizerKind: 0 SGD, 1 Adam, 2 AdamW
    T rate, beta1, beta2, rest1, rest2, epsilon;
    T first_correction, second_correction;  ///< 1 / (1 − βᵗ)
    int slots;
    i64 blocks;
    Slot<T> slot[slots_per_launch];
};
template <class T>
cudaError_t optimizer_step(const OptimizerStep<T>& step, cudaStream_t stream);

/// What the loss sums over; splits as plain bytes.
struct Counted {
    const i32* labels;
    const std::uint8_t* split;
    std::uint8_t counted;
    double scale;
    const std::uint8_t* label_matrix;  ///< [rows × columns of the logits]
};
/// Blocks of a loss launch: the length of its partial sums.
i64 loss_blocks(i64 rows);
template <class T>
cudaError_t softmax_cross_entropy(Dense<const T> logits, const Counted& in, Dense<T> grad, double* partial,
                                  double* loss, cudaStream_t stream);
template <class T>
cudaError_t row_maxima(Dense<const T> logits, Dense<T> maxima, cudaStream_t stream);
template <class T>
cudaError_t row_exp_sums(Dense<const T> logits, Dense<const T> maxima, Dense<T> sums, cudaStream_t stream);
template <class T>
cudaError_t softmax_cross_entropy_shard(Dense<const T> logits, Dense<const T> maxima, Dense<const T> sums,
                                        i64 first_class, const Counted& in, Dense<T> grad, double* partial,
                                        double* loss, cudaStream_t stream);
/// counts [6] ← correct and total of each split.
template <class T>
cudaError_t count_correct(Dense<const T> logits, const Counted& in, i64* counts, cudaStream_t stream);
template <class T>
cudaError_t binary_cross_entropy(Dense<const T> logits, const Counted& in, Dense<T> grad, double* partial,
                                 double* loss, cudaStream_t stream);
/// counts [9] ← true positives, false positives, false negatives of each split.
template <class T>
cudaError_t count_positives(Dense<const T> logits, const Counted& in, i64* counts, cudaStream_t stream);

template <class T>
cudaError_t fill(Dense<T> m, T value, cudaStream_t stream);
/// m ← m · factor.
template <class T>
cudaError_t scale(Dense<T> m, T factor, cudaStream_t stream);
/// y ← alpha · x + beta · y; x may be y.
template <class T>
cudaError_t axpby(T alpha, Dense<const T> x, T beta, Dense<T> y, cudaStream_t stream);
/// Blocks of squared_distance: half the length of its partial sums.
i64 distance_blocks(i64 rows);
/// out [2] ← Σ (x − y)², Σ y².
template <class T>
cudaError_t squared_distance(Dense<const T> x, Dense<const T> y, double* partial, double* out,
                             cudaStream_t stream);
/// to[i] ← from[rows[i]], or from[i] where rows is nullptr.
template <class T>
cudaError_t gather_rows(Dense<const T> from, const i32* rows, Dense<T> to, cudaStream_t stream);
/// to ← from, with zeros in the columns that `from` lacks; `to` has packs of 16 bytes alone.
template <class T>
cudaError_t pad_rows(Dense<const T> from, Dense<T> to, cudaStream_t stream);
/// to[rows[i]] += from[i].
template <class T>
cudaError_t scatter_add_rows(Dense<const T> from, const i32* rows, Dense<T> to, cudaStream_t stream);

/// The block that works on element `first` of slot s: what an optimizer's launch computes from its block number.
template <class T>
GNNBENCH_HOST_DEVICE int slot_of_block(const OptimizerStep<T>& step, i64 block) {
    int s = 0;
    while (s + 1 < step.slots && step.slot[s + 1].first_block <= block) ++s;
    return s;
}

}  // namespace gnnbench::cuda
