#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/matrix.hpp>

namespace gnnbench::cpu {

/// Some runs of a matrix's rows, one after another.
struct RowSample {
    Csr rows;
    std::vector<std::int64_t> first;  ///< length runs + 1: run k is rows [first[k], first[k + 1]) of the sample
    double times = 1;                 ///< how often the sample's work makes up the whole matrix's
};

/// About 1 in `every` of the runs that `cuts` (ascending, from 0 to a.rows) bounds, `least` of them or more, spread
/// evenly. With `kept`, by column, only the entries in columns that it has true for; work is then nonzeros alone.
RowSample sample_runs(const Csr& a, const std::vector<std::int64_t>& cuts, std::int64_t every, std::int64_t least,
                      int threads, const std::vector<char>* kept = nullptr);
/// The same of the rows at these positions, columns being positions too.
RowSample sample_positions(const Csr& a, const std::vector<std::int32_t>& vertex_at, std::int64_t runs,
                           std::int64_t of_rows, int threads);

}  // namespace gnnbench::cpu
