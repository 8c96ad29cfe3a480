#pragma once
#include <gnnbench/plugin.hpp>

/// Once in a back-end plugin that computes in host memory, at file scope. Its ranks share the host's memory, which the
/// plan then judges, and need no device of their own: under Slurm no GPUs are asked for. A back end without it has a
/// device for each rank. Plain data, which the host reads before it runs any code of the plugin.
#define GNNBENCH_KERNEL_IN_HOST_MEMORY GNNBENCH_EXPORT const bool gnnbench_kernel_in_host_memory = true;
