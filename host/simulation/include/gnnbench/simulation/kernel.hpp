#pragma once
#include <gnnbench/plugin.hpp>

/// Once in a back-end plugin that charges virtual time, at file scope. Its ranks are simulated in one process
/// (gnnbench/simulation/simulation.hpp) on the machine that its parameter `machine` names; its numbers are marked as
/// simulated, and nothing that it runs is called verified unless its parameter `values` is true. Plain data, which the
/// host reads before it runs any code of the plugin.
#define GNNBENCH_KERNEL_SIMULATES GNNBENCH_EXPORT const bool gnnbench_kernel_simulates = true;
