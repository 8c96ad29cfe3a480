#pragma once
#include <cstdint>

#include "attention.hpp"

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
