#pragma once
#include "attention.hpp"

// Dynamic attention on the device (gnnbench/verbs/dynamic_attention.hpp has the formulas).
namespace gnnbench::cuda {

template <class T>
struct DynamicAttendCall {
    Entries<T> a;
    EntryMask dropout;
    T kept_scale = 1;  ///< of what is not dropped
    int heads = 1;
    T slope = 0;
    const T* vector = nullptr;
    Dense<const T> b, s;
    Dense<T> z, maxima, sums;
    bool first = true, last = true;
};
template <class T>
cudaError_t dynamic_attend(const DynamicAttendCall<T>& call, cudaStream_t stream);

template <class T>
struct DynamicBackwardCall {
    Entries<T> a;  ///< of A, or of Aᵀ
    EntryMask dropout;
    T kept_scale = 1;
    bool of_rows = true;
    int heads = 1;
    T slope = 0;
    const T* vector = nullptr;
    Dense<const T> b, own;
    Dense<T> slopes, sums;
    bool first = true;
};
template <class T>
cudaError_t dynamic_backward(const DynamicBackwardCall<T>& call, cudaStream_t stream);

}  // namespace gnnbench::cuda
