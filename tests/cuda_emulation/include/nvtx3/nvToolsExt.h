#pragma once
#include <cstdint>

inline std::uint64_t nvtxRangeStartA(const char*) { return 0; }
inline void nvtxRangeEnd(std::uint64_t) {}
