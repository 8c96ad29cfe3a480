#pragma once
#include <cstdint>

#include <gnnbench/backend.hpp>

#include "spmm.hpp"
#include "workspace.hpp"

/// Attention by rows (gnnbench/verbs/attention.hpp has the formulas), and what is computed head by head.
namespace gnnbench::cpu {

/// Attention's dropout, by the vertices that attend and those attended to.
struct EntryMask {
    DropoutMask mask;
    const std::int64_t *rows = nullptr, *columns = nullptr;
    bool active() const { return mask.active(); }
};

/// A matrix in compressed rows, and the order in which they are gone through: that of the list if there is one.
template <class T>
struct OrderedRows : FlatCsr<T> {
    const std::int32_t* order = nullptr;
    std::int64_t at(std::int64_t position) const { return order ? order[position] : position; }
};

template <class T>
struct AttendCall {
    OrderedRows<T> a;
    EntryMask dropout;
    std::int64_t heads;
    T slope;
    ConstMatrixView b, l;
    AttentionRows rows;
    Stage stage;
};
template <class T>
struct AttendBackwardCall {
    OrderedRows<T> a;   ///< of Aᵀ
    EntryMask dropout;  ///< its rows are a's columns
    std::int64_t heads;
    T slope;
    ConstMatrixView b, own;
    MatrixView c;
    Stage stage;
};

/// The verbs, on `threads` threads: rows in turn, an entry's scores and weights for a chunk of entries at a time. T is float or
/// double; matrices to attend over were prepared by rows (KernelSetting::heads).
template <class T>
void attend(const verb::Attend& v, int threads, Workspace& workspace);
template <class T>
void attend_backward(const verb::AttendBackward& v, int threads, Workspace& workspace);
template <class T>
void head_dots(const verb::HeadDots& v, int threads);
template <class T>
void head_sums(const verb::HeadSums& v, int threads);
template <class T>
void add_heads(const verb::AddHeads& v, int threads);
template <class T>
void rescale_heads(const verb::RescaleHeads& v, int threads);
template <class T>
void mean_of_heads(const verb::MeanOfHeads& v, int threads);
template <class T>
void spread_to_heads(const verb::SpreadToHeads& v, int threads);

/// For one instruction set, one thread. Rows are positions in their order.
template <class T>
struct AttentionOperations {
    void (*attend)(const AttendCall<T>& call, RowRange rows);
    void (*attend_backward)(const AttendBackwardCall<T>& call, RowRange rows);
    void (*head_dots)(const verb::HeadDots& v, RowRange rows);
    /// sums[c] += Σ over the rows of s · x.
    void (*head_sums)(const verb::HeadSums& v, RowRange rows, double* sums);
    void (*add_heads)(const verb::AddHeads& v, RowRange rows);
};
/// The first two, where the number of heads is a power of two that fits a vector; false, and nothing done, elsewhere.
template <class T>
struct RowAttentionOperations {
    bool (*attend)(const AttendCall<T>& call, RowRange rows);
    bool (*attend_backward)(const AttendBackwardCall<T>& call, RowRange rows);
};
template <class T>
const RowAttentionOperations<T>& row_attention_operations();
template <>
const RowAttentionOperations<float>& row_attention_operations<float>();
template <>
const RowAttentionOperations<double>& row_attention_operations<double>();

template <class T>
const AttentionOperations<T>& attention_operations();
template <>
const AttentionOperations<float>& attention_operations<float>();
template <>
const AttentionOperations<double>& attention_operations<double>();

}  // namespace gnnbench::cpu
