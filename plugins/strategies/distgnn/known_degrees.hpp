#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/graph.hpp>
#include <gnnbench/matrix.hpp>
#include <gnnbench/training/stated_memory.hpp>

#include "algorithm.hpp"
#include "held_copies.hpp"

namespace gnnbench::dist {

/// Divides a row by the degree that a rank knows in place of that of the whole graph. A row of Â adds up to 1, so the sum of
/// those of its entries that have been added up is known / whole degree.
class KnownDegrees {
public:
    /// In place of a bin: this rank's own entries alone.
    static constexpr int own = -1;

    /// `sums` [rows]: of the rank's own entries in each row.
    KnownDegrees(Backend& backend, const HeldCopies& copies, std::span<const double> sums);
    static void state_memory(MemoryStatement& m, const HeldCopies& copies, const Algorithm& algorithm);

    /// Of the bins in turn: what `sums` are when the bin's copies have been added at their roots, and taken from there.
    void add_bin(std::span<const double> sums);
    /// From now on roots have what came in this bin, and copies in that one.
    void use(int at_roots, int at_copies);
    /// to_v ← from_v · whole / known degree of v; both [rows × f], contiguous, apart.
    void divide(ConstMatrixView from, MatrixView to);

private:
    CsrView diagonal(int bin, std::int64_t first, std::int64_t rows) const;

    Backend& backend_;
    std::int64_t roots_, rows_;
    Array<std::int64_t> indptr_;  ///< of a diagonal: 0 … rows
    Array<std::int32_t> indices_;
    std::vector<Matrix> scales_;  ///< [1 × rows], by 1 + bin
    int at_roots_ = own, at_copies_ = own;
};

/// Â_i's sum of each row.
std::vector<double> row_sums(const Csr& entries);

/// Throws Unsupported where a weight is negative: a part of a row may then add up to nothing though the row does not.
void require_no_negative_weight(const GraphView& graph);

}  // namespace gnnbench::dist
