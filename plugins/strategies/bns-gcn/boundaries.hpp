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

/// k_ij = max(1, ⌊p·b⌋) where p, b > 0. The released code takes ⌊p·b⌋, which omits a boundary of fewer than 1/p rows in
/// every epoch, so that no weight compensates for it.
inline std::int64_t sample_size(double p, std::int64_t b) {
    if (p == 0 || b == 0) return 0;
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(p * static_cast<double>(b))));
}

/// How many rows of a boundary of b rows fit the buffers: a sample's. A whole boundary, for evaluation, takes as
/// many exchanges as it needs; with p = 0, 64.
inline std::int64_t capacity_for(double p, std::int64_t b) { return p == 0 ? (b + 63) / 64 : sample_size(p, b); }

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
    double p;
    std::uint64_t seed;
};

/// p < 1: a new sample every epoch; p = 1 is a BoundarySpmm. `overlap`: as there. Evaluation and set-up use whole boundaries.
std::unique_ptr<DistributedSpmm> make_sampled_boundaries(const Adjacency& a, const IndexMap& index, Rank rank,
                                                         std::int64_t widest, bool overlap, Sampling sampling);

}  // namespace gnnbench::bns
