#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include <gnnbench/matrix.hpp>

#include "timing.hpp"

namespace gnnbench {
class Backend;
}

namespace gnnbench::bench {

/// What this machine does in a second, the best of all rounds.
struct MachineRates {
    double gemm_flops = 0;  ///< of a dense product that suits the libraries
    double l2_bytes = 0;    ///< rows of B streamed from half of each core's own cache
    double triad_bytes = 0;
    double exponentials = 0;  ///< of float32, as the cpu kernel takes them
};
MachineRates machine_rates(const Options& o, Backend& backend);

/// What a walk over the nonzeros of A does.
struct Walk {
    std::int64_t width;            ///< columns of B, of which a nonzero names a row
    double flops;                  ///< of a nonzero
    double exponentials = 0;       ///< likewise
    double index_bytes = 6;        ///< of A, likewise; 6: as tiled formats have it
    std::int64_t row_columns = 0;  ///< of what is read or written once for each row of A
};

/// Seconds below which no walk gets on this machine, for four reasons.
struct Bound {
    double flops_s;   ///< FLOPs ÷ GEMM's rate, and exponentials ÷ theirs
    double l2_s;      ///< a row of B for each nonzero ÷ the rate of a core's own cache
    double memory_s;  ///< A, B and what belongs to rows once ÷ triad
    double gather_s;  ///< rows of B that no cache can hold ÷ the rate of random rows
    double seconds() const;
};

/// The bounds of a graph's products. Rows of B that no cache can hold: those of nonzeros outside their row's community,
/// which no order of rows and columns brings together, other than of the columns with most of these, as many as fit
/// the last-level cache. In the panels of columns that are best for it, since a narrower row takes less of that cache.
class ProductBounds {
public:
    /// `community` by vertex; empty: the graph's own order is local, nothing is gathered.
    ProductBounds(const MachineRates& rates, const Csr& a, const std::vector<std::int32_t>& community);
    /// Bytes per second of random rows that are `width` columns wide.
    void set_gather_rate(std::int64_t width, double bytes) { gather_bytes_[width] = bytes; }
    /// Of the product C = A · B.
    Bound at(std::int64_t width) const;
    Bound of(const Walk& walk) const;

private:
    std::int64_t gathered(std::int64_t panel) const;

    MachineRates rates_;
    std::int64_t rows_, cols_, nonzeros_;
    std::vector<std::int64_t> outside_;  ///< nonzeros outside communities in the columns with the most, falling
    std::map<std::int64_t, double> gather_bytes_;
};

}  // namespace gnnbench::bench
