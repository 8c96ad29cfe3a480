#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// One kernel in order: bytes that it moves, and of the memory that it touches.
struct StreamSample {
    double bytes = 0, touched_bytes = 0, seconds = 0;
};

/// One operation of two ranks: its bytes.
struct OperationSample {
    double bytes = 0, seconds = 0;
};

/// One sparse product: bytes of the rows that it gathers, of one of them and of those that they lie in, bytes in order
/// besides.
struct GatherSample {
    double gathered_bytes = 0, row_bytes = 0, lie_in_bytes = 0, in_order_bytes = 0, seconds = 0;
};

/// A sparse product whose rows have few nonzeros, now more and now less.
struct UnevenSample {
    double rows = 0;
    GatherSample gather;
};

/// One of attention's walks over a matrix, and a product as wide: operations, and bytes in order that the product does not move.
struct AttentionSample {
    double operations = 0, in_order_bytes = 0, seconds = 0, product_s = 0;
};

/// One row of so many columns.
struct LossSample {
    std::int64_t columns = 0;
    double seconds = 0;
};

/// One dense product C [m × n] of k products each.
struct GemmSample {
    std::int64_t m = 0, n = 0, k = 0;
    double seconds = 0;
};

/// What the ranks of one launch measured, all of them doing the same at the same time. Medians over rounds.
struct MachineSamples {
    std::vector<StreamSample>
        stream;  ///< several kernels of the same size follow each other, the one of most bytes first
    std::vector<GatherSample> gather;
    std::vector<UnevenSample> uneven;
    std::vector<GemmSample> gemm_float32, gemm_float64;
    std::vector<AttentionSample> attention, dynamic_attention;  ///< GAT's walks, GATv2's
    double empty_kernel_s = 0;
    /// Softmax cross entropy: of a counted row, and by shards of any row.
    std::vector<LossSample> loss, sharded_loss;
    int tile_columns = 0;  ///< that the kernel chose for a matrix with long rows; 0: no tiles
    double copy_rate = 0;  ///< bytes per second between host and device
    /// Seconds by bytes of each operation of two ranks, as simulation::Links::measured; empty on one rank.
    std::map<std::string, std::vector<OperationSample>> operations;
};

/// Begins the line of output in which rank 0 hands them, as JSON, to the host.
inline constexpr const char* samples_mark = "calibration samples: ";
nlohmann::json to_json(const MachineSamples& s);
MachineSamples machine_samples_from(const nlohmann::json& j);

}  // namespace gnnbench
