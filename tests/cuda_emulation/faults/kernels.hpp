#pragma once
#include <cuda_runtime_api.h>

namespace faulty {

struct Call {
    cudaStream_t stream;
    const float* from;  ///< [count]
    float* to;          ///< [count]
    int count;
    bool mended = false;
    long ld = 0;
};

void copy(const Call& c);  ///< without a fault
void column_sum(const Call& c);
void warp_reduction(const Call& c);
void combine(const Call& c);
void tail(Call c);
void wide(const Call& c);
void pack(const Call& c);
void beyond(const Call& c);
void shared_beyond(const Call& c);

}  // namespace faulty
