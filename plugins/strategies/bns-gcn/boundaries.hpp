#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include <gnnbench/training/halo.hpp>
#include <gnnbench/training/row_parallel.hpp>

/// Products over boundaries, whole or sampled:
///   B_ij   boundary: rows of part j that part i needs, b_ij = |B_ij|
///   U_ij   this epoch's sample of B_ij, k_ij rows, drawn by part i and sent to part j
///   Â_ij   block of Â without its empty columns [n_i × b_ij]
///   H_U    rows U_ij of H_j
namespace gnnbench::bns {

/// What is sampled of a boundary of fewer than 1/p rows: one row; or none in any epoch, as in the released code, for
/// which no weight compensates.
enum class SmallBoundaries : std::uint8_t { keep_one, drop };

/// How much of each boundary is sampled in an epoch.
struct SamplingRate {
    double p;
    SmallBoundaries small;

    /// k_ij of a boundary of b rows: ⌊p·b⌋, but at least one row if small boundaries keep one and p, b > 0.
    std::int64_t sample_size(std::int64_t b) const {
        const auto share = static_cast<std::int64_t>(std::floor(p * static_cast<double>(b)));
        return share == 0 && small == SmallBoundaries::keep_one && p > 0 && b > 0 ? 1 : share;
    }
    /// How many rows of it fit the buffers: a sample's, or where nothing is sampled ⌈b/64⌉. A whole boundary, for
    /// evaluation, takes as many exchanges as it needs.
    std::int64_t capacity(std::int64_t b) const {
        const std::int64_t k = sample_size(b);
        return k == 0 ? (b + 63) / 64 : k;
    }
};

/// Messages between this rank and its peers: `rows[j]` rows with peers[j], one after another in `buffer`.
inline std::vector<RowMessage> segments(const std::vector<Part>& peers, const std::vector<std::int64_t>& rows,
                                        const Matrix& buffer, std::int64_t width) {
    std::vector<RowMessage> out;
    std::int64_t before = 0;
    for (std::size_t j = 0; j < peers.size(); ++j) {
        out.push_back({peers[j], buffer.view().reshaped(buffer.rows(), width).rows_from(before, rows[j])});
        before += rows[j];
    }
    return out;
}

struct Sampling {
    SamplingRate rate;
    std::uint64_t seed;
};

/// p < 1: a new sample every epoch; p = 1 is a BoundarySpmm. `overlap`: as there. Evaluation and set-up use whole boundaries.
std::unique_ptr<DistributedSpmm> make_sampled_boundaries(const Adjacency& a, const IndexMap& index, Rank rank,
                                                         const LayerPlan& plan, bool overlap, Sampling sampling);

}  // namespace gnnbench::bns
