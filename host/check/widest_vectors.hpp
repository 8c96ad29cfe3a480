#pragma once

// Vectors as wide as this machine has; what a resolver picks at load time does not work under sanitizers.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define GNNBENCH_WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define GNNBENCH_WIDEST_VECTORS
#endif
