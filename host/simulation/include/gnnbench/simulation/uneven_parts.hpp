#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/part_imbalance.hpp>
#include <gnnbench/partition.hpp>

/// Parts of unequal sizes in a graph of which only statistics are known (docs/simulation.md, "How sizes are expected").

namespace gnnbench {

/// Shares of parts, the largest first, that add up to 1: share k is proportional to (k + 1)^(−a), with the a ≥ 0 that makes
/// the largest `imbalance` times their mean. How shares fall from the largest to the rest is assumed.
std::vector<double> uneven_shares(Part parts, double imbalance);

/// What parts hold and need of each other. Part 0 is the largest in vertices, in nonzeros and in its halo.
///
/// Always: entries(p, q) = entries(q, p), and all add up to the graph's; a block has no more entries than rows × columns, a
/// halo no more rows of a part than that part's vertices and than the block's entries. Where an imbalance, `inside` or the
/// halo asks for more, the excess goes to other parts, which makes the imbalance smaller; where none has room, `inside`
/// and the halo are smaller.
class UnevenParts {
public:
    struct Told {
        std::int64_t vertices = 0;
        double entries = 0;  ///< both directions of every edge, without a diagonal
        double inside = 0;   ///< share of the entries whose row and column are in one part
        double halo = 0;     ///< rows that parts need of others, together
        PartImbalance imbalance;
    };
    UnevenParts(const Told& told, Part parts);

    /// Of an order of which only these parts' sizes are known. The same order each time.
    const IndexMap& index() const { return index_; }
    Part parts() const { return index_.parts(); }
    /// Entries with a row in part p and a column in part q, without a diagonal.
    double entries(Part p, Part q) const;
    /// Entries with a row in part p.
    double entries_of(Part p) const;
    /// Rows of part j that part i ≠ j needs.
    double needed(Part i, Part j) const;
    double needed_of(Part i) const;
    /// What became of the told one.
    PartImbalance imbalance() const;

private:
    double vertices(Part p) const { return static_cast<double>(index_.size(p)); }
    double most_needed(Part i, Part j) const;
    void place_entries(const Told& told);
    void place_halo(const Told& told);
    void fit_cut(const std::vector<double>& cut);
    double cut_of(Part p) const;

    IndexMap index_;
    std::vector<double> own_;  ///< [parts] entries of the block (p, p)
    std::vector<double>
        weight_;  ///< [parts] of the block (p, q), p ≠ q: weight p · weight q, at most rows × columns
    std::vector<double>
        asks_;  ///< [parts] rows that part i needs of j: asks i · offers j, at most most_needed(i, j)
    std::vector<double> offers_;  ///< [parts]
};

}  // namespace gnnbench
