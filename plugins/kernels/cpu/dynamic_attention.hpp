#pragma once
#include <cstdint>

#include "attention.hpp"
#include "tiled.hpp"

/// Dynamic attention by rows (gnnbench/verbs/dynamic_attention.hpp has the formulas).
namespace gnnbench::cpu {

template <class T>
struct DynamicAttendCall {
    OrderedRows<T> a;
    EntryMask dropout;
    std::int64_t heads;
    T slope;
    ConstMatrixView vector, b, s;
    AttentionRows rows;
    Stage stage;
};
template <class T>
struct DynamicBackwardCall {
    OrderedRows<T> a;  ///< of A, or of Aᵀ
    EntryMask dropout;
    bool of_rows;
    std::int64_t heads;
    T slope;
    ConstMatrixView vector, b, own;
    MatrixView slopes, sums;
    bool first;
};

/// For one instruction set, one thread, where the number of heads is a power of two that fits a vector: rows of a run, or a chunk
/// of a tiled matrix, whose segments are as a row's stages.
template <class T>
struct DynamicWalks {
    bool (*serves)(std::int64_t heads, T slope);
    void (*attend)(const DynamicAttendCall<T>& call, RowRange rows);
    void (*backward)(const DynamicBackwardCall<T>& call, RowRange rows);
    void (*attend_tiled)(const DynamicAttendCall<T>& call, const TiledMatrix<T>& a, std::int64_t chunk);
    void (*backward_tiled)(const DynamicBackwardCall<T>& call, const TiledMatrix<T>& a, std::int64_t chunk);
};
template <class T>
const DynamicWalks<T>& dynamic_walks();
template <>
const DynamicWalks<float>& dynamic_walks<float>();
template <>
const DynamicWalks<double>& dynamic_walks<double>();

/// The verbs, on `threads` threads. T is float or double; matrices were prepared by rows (KernelSetting::heads).
template <class T>
void dynamic_attend(const verb::DynamicAttend& v, int threads);
template <class T>
void dynamic_backward(const verb::DynamicBackward& v, int threads);

/// For one instruction set, one thread.
template <class T>
struct DynamicOperations {
    void (*attend)(const DynamicAttendCall<T>& call, RowRange rows);
    void (*backward)(const DynamicBackwardCall<T>& call, RowRange rows);
};
template <class T>
const DynamicOperations<T>& dynamic_operations();
template <>
const DynamicOperations<float>& dynamic_operations<float>();
template <>
const DynamicOperations<double>& dynamic_operations<double>();

}  // namespace gnnbench::cpu
