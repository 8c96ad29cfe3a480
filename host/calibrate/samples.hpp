#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// One kernel in order: bytes that it moves, seconds.
struct StreamSample {
    double bytes = 0, seconds = 0;
};

/// One sparse product: bytes of the rows that it gathers and of those that they lie in, bytes in order besides.
struct GatherSample {
    double gathered_bytes = 0, lie_in_bytes = 0, in_order_bytes = 0, seconds = 0;
};

/// One dense product C [m × n] of k products each.
struct GemmSample {
    std::int64_t m = 0, n = 0, k = 0;
    double seconds = 0;
};

/// What the ranks of one launch measured, all of them doing the same at the same time. Medians over rounds.
struct MachineSamples {
    std::vector<StreamSample> stream;  ///< several kernels of the same bytes follow each other
    std::vector<GatherSample> gather;
    std::vector<GemmSample> gemm_float32, gemm_float64;
    double empty_kernel_s = 0;
    double exp_rate = 0;   ///< elements of logits per second, of softmax cross entropy
    int tile_columns = 0;  ///< that the kernel chose for a matrix with long rows; 0: no tiles
    double copy_rate = 0;  ///< bytes per second between host and device
    /// Seconds by bytes of each operation of two ranks, as simulation::Links::measured; empty on one rank.
    std::map<std::string, std::vector<StreamSample>> operations;
};

/// Begins the line of output in which rank 0 hands them, as JSON, to the host.
inline constexpr const char* samples_mark = "calibration samples: ";
nlohmann::json to_json(const MachineSamples& s);
MachineSamples machine_samples_from(const nlohmann::json& j);

}  // namespace gnnbench
