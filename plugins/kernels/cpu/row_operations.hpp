#pragma once
#include <cstdint>
#include <span>
#include <type_traits>

#include <gnnbench/backend.hpp>

/// Operations on a run of rows, each compiled for several instruction sets; the best one this machine
/// has is picked at run time. None of them starts a thread. T is float or double.
namespace gnnbench::cpu {

template <class T>
inline constexpr DType dtype_of = std::is_same_v<T, float> ? DType::f32 : DType::f64;

/// Row r of a matrix of T.
template <class T>
const T* row_of(ConstMatrixView m, std::int64_t r) {
    return static_cast<const T*>(m.data) + r * m.ld;
}
template <class T>
T* row_of(MatrixView m, std::int64_t r) {
    return static_cast<T*>(m.data) + r * m.ld;
}

/// Rows [begin, end).
struct RowRange {
    std::int64_t begin = 0, end = 0;
};

/// An Epilogue for elements of type T.
template <class T>
struct FlatEpilogue {
    explicit FlatEpilogue(const Epilogue& e)
        : bias(static_cast<const T*>(e.bias)),
          activation(e.activation),
          dropout(e.dropout),
          row_ids(e.row_ids),
          drops(e.dropout.active()),
          empty(e.empty()),
          threshold(drops ? e.dropout.threshold() : 0),
          scale(drops ? static_cast<T>(e.dropout.scale()) : T{1}) {}
    /// The vertex whose mask row r takes.
    std::int64_t vertex(std::int64_t r) const { return row_ids ? row_ids[r] : r; }

    const T* bias;
    Activation activation;
    DropoutMask dropout;
    const std::int64_t* row_ids;
    bool drops, empty;
    std::uint32_t threshold;  ///< a word below it drops its element
    T scale;                  ///< of what is kept
};

/// The position of a view's element (0, 0) in the whole matrix; col is a multiple of 4.
struct Origin {
    std::int64_t row = 0, col = 0;
};

/// One optimizer step's constants.
template <class T>
struct OptimizerStep {
    OptimizerKind kind;
    T rate, beta1, beta2, rest1, rest2, epsilon;  ///< rest = 1 − β
    T first_correction, second_correction;        ///< 1 / (1 − β1^t), 1 / (1 − β2^t)
};

/// Element-wise operations and moves of rows, for one instruction set.
template <class T>
struct RowOperations {
    /// z ← epilogue(x).
    void (*epilogue)(const FlatEpilogue<T>& e, ConstMatrixView x, MatrixView z, RowRange rows, Origin origin);
    /// dz ← dh ∘ σ' ∘ mask · scale, from h = epilogue(z).
    void (*epilogue_backward)(const FlatEpilogue<T>& e, ConstMatrixView h, ConstMatrixView dh, MatrixView dz,
                              RowRange rows);
    /// sums[c] += Σ over the rows of g[r, c].
    void (*add_column_sums)(ConstMatrixView g, RowRange rows, double* sums);
    /// to[r] ← from[sources[r]]. `past_caches`: to's rows are whole, aligned cache lines, and are written past the
    /// caches.
    void (*gather)(ConstMatrixView from, const std::int32_t* sources, MatrixView to, RowRange rows,
                   bool past_caches);
    /// Bytes 64·begin to 64·end of `from` to `to`; `past_caches`: to is aligned to cache lines, as above.
    void (*copy_lines)(const void* from, void* to, std::int64_t begin, std::int64_t end, bool past_caches);
    /// to[targets[r]] += from[r].
    void (*scatter_add)(ConstMatrixView from, const std::int32_t* targets, MatrixView to, RowRange rows);
    /// to[i] ← value, i < count. `past_caches`: `to` is aligned to a cache line, and written past the caches.
    void (*fill)(T* to, std::int64_t count, T value, bool past_caches);
    /// One step of a slot's elements [begin, end).
    void (*optimizer)(const OptimizerStep<T>& step, const ParameterSlot& slot, std::int64_t begin,
                      std::int64_t end);
};
/// Those for the best instruction set.
template <class T>
const RowOperations<T>& row_operations();
template <>
const RowOperations<float>& row_operations<float>();
template <>
const RowOperations<double>& row_operations<double>();

template <class T>
void epilogue_rows(const FlatEpilogue<T>& e, ConstMatrixView x, MatrixView z, RowRange rows, Origin origin = {}) {
    row_operations<T>().epilogue(e, x, z, rows, origin);
}

/// The loss, for one instruction set.
template <class T>
struct LossOperations {
    /// Softmax cross entropy of the rows; returns their loss.
    double (*softmax_cross_entropy)(ConstMatrixView logits, const LossInput& in, MatrixView grad, RowRange rows);
    /// counts[2·(split − 1)] += rows of that split whose arg max is their label; counts[2·(split − 1) + 1] += such
    /// rows.
    void (*count_correct)(ConstMatrixView logits, const LossInput& in, RowRange rows, std::int64_t* counts);
    /// Binary cross-entropy of the rows; returns their loss.
    double (*binary_cross_entropy)(ConstMatrixView logits, const LossInput& in, MatrixView grad, RowRange rows);
    /// counts[3·(split − 1) + 0, 1, 2] += true positives, false positives, false negatives of that split's rows.
    void (*count_positives)(ConstMatrixView logits, const LossInput& in, RowRange rows, std::int64_t* counts);
};
template <class T>
const LossOperations<T>& loss_operations();
template <>
const LossOperations<float>& loss_operations<float>();
template <>
const LossOperations<double>& loss_operations<double>();

}  // namespace gnnbench::cpu
