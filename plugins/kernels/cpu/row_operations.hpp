#pragma once
#include <cstdint>
#include <span>

#include <gnnbench/kernel.hpp>

/// Operations on a run of rows, each compiled for several instruction sets; the best one this machine
/// has is picked at run time. None of them starts a thread.
namespace gnnbench::cpu {

/// Rows [begin, end).
struct RowRange {
    std::int64_t begin = 0, end = 0;
};

/// An Epilogue for float32.
struct FlatEpilogue {
    explicit FlatEpilogue(const Epilogue& e)
        : bias(static_cast<const float*>(e.bias)),
          activation(e.activation),
          dropout(e.dropout),
          row_ids(e.row_ids),
          drops(e.dropout.active()),
          empty(e.empty()),
          threshold(drops ? e.dropout.threshold() : 0),
          scale(drops ? static_cast<float>(e.dropout.scale()) : 1.0f) {}
    /// The vertex whose mask row r takes.
    std::int64_t vertex(std::int64_t r) const { return row_ids ? row_ids[r] : r; }

    const float* bias;
    Activation activation;
    DropoutMask dropout;
    const std::int64_t* row_ids;
    bool drops, empty;
    std::uint32_t threshold;  ///< a word below it drops its element
    float scale;              ///< of what is kept
};

/// The position of a view's element (0, 0) in the whole matrix; col is a multiple of 4.
struct Origin {
    std::int64_t row = 0, col = 0;
};

/// z ← epilogue(x).
void epilogue_rows(const FlatEpilogue& e, ConstMatrixView x, MatrixView z, RowRange rows, Origin origin = {});
/// dz ← dh ∘ σ' ∘ mask · scale, from h = epilogue(z).
void epilogue_backward_rows(const FlatEpilogue& e, ConstMatrixView h, ConstMatrixView dh, MatrixView dz,
                            RowRange rows);
/// sums[c] += Σ over the rows of g[r, c].
void add_column_sums(ConstMatrixView g, RowRange rows, double* sums);
/// Softmax cross entropy of the rows; returns their loss.
double softmax_cross_entropy_rows(ConstMatrixView logits, const LossInput& in, MatrixView grad, RowRange rows);
/// counts[2·(split − 1)] += rows of that split whose arg max is their label; counts[2·(split − 1) + 1] += such rows.
void count_correct_rows(ConstMatrixView logits, const LossInput& in, RowRange rows, std::int64_t* counts);
/// to[r] ← from[sources[r]]. `past_caches`: to's rows are whole, aligned cache lines, and are written past the caches.
void gather_range(ConstMatrixView from, const std::int32_t* sources, MatrixView to, RowRange rows,
                  bool past_caches);
/// to[targets[r]] += from[r].
void scatter_add_range(ConstMatrixView from, const std::int32_t* targets, MatrixView to, RowRange rows);

/// One step's constants, and one slot's elements [begin, end).
struct OptimizerStep {
    OptimizerKind kind;
    float rate, beta1, beta2, rest1, rest2, epsilon;  ///< rest = 1 − β
    float first_correction, second_correction;        ///< 1 / (1 − β1^t), 1 / (1 − β2^t)
};
void optimizer_range(const OptimizerStep& step, const ParameterSlot& slot, std::int64_t begin, std::int64_t end);

/// The instruction set in use: "AVX3" (AVX-512), "AVX2", "SCALAR".
const char* instruction_set();

}  // namespace gnnbench::cpu
