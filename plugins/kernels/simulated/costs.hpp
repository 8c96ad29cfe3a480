#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/matrix.hpp>
#include <gnnbench/simulation/column_reads.hpp>
#include <gnnbench/simulation/machine.hpp>
#include <gnnbench/simulation/simulation.hpp>

/// What operations cost on a device that is described, not there. README.md has the equations.
namespace gnnbench::simulated {

enum class SpmmModel : std::uint8_t { roofline, plexus_thesis };

/// What a kernel reads and writes in order.
using InOrder = std::vector<simulation::Moved>;

/// A product of a sparse matrix [rows × cols] and a dense one [cols × width]. `rows`: those that the product touches.
struct SpmmShape {
    std::int64_t rows = 0, cols = 0, nonzeros = 0, width = 0;
    bool adds = false;      ///< to what the result holds
    double computes_s = 0;  ///< beside the product: attention's scores and second sum
    // For machines with rates by size:
    InOrder in_order = {};  ///< the matrix and the result; empty: touched in the product before
    InOrder operand = {};   ///< B; empty: likewise
    /// Column reads of the graph that the matrix is a block of; nullptr: all columns have equally many nonzeros.
    const simulation::ColumnReads* columns = nullptr;
};

struct GemmShape {
    std::int64_t m = 0, n = 0, k = 0;
    bool adds = false;
    InOrder in_order = {};  ///< as SpmmShape's
};

class Costs {
public:
    /// `ranks_of_node`: how many work at the same time.
    Costs(const simulation::Machine& machine, DType dtype, SpmmModel spmm, int ranks_of_node);

    simulation::Work spmm(const SpmmShape& s) const;
    simulation::Work gemm(const GemmShape& s) const;
    /// Reads and writes in order.
    simulation::Work streamed(const InOrder& moved) const;
    /// Losses of rows that bytes in order hold, by the time of a row of so many columns, or by an exponential an element.
    simulation::Work losses(const simulation::Curve& row, double rows, double columns, const InOrder& moved) const;
    /// Reads or writes of whole rows in no order, of `row_bytes` each, which lie in so many bytes, beside bytes in order.
    simulation::Work gathered(double rows, double row_bytes, double lie_in, const InOrder& in_order) const;

    /// Whether kernels are charged by what caches have kept.
    bool by_recency() const { return !stream_.empty(); }
    double element_bytes() const { return static_cast<double>(size_of(dtype_)); }

private:
    simulation::Work kernel(double seconds, double memory_s) const;
    simulation::Work measured_spmm(const SpmmShape& s) const;
    double gathers_s(const SpmmShape& s) const;
    double in_order_s(const InOrder& moved) const;
    double whole_lines(double row_bytes) const;
    /// Seconds per row, where rows are read in no order.
    double row_s(double row_bytes, double lie_in) const;

    const simulation::Machine& machine_;
    simulation::Curve stream_, gather_, wide_gather_;  ///< empty: not measured by size
    DType dtype_;
    SpmmModel spmm_;
};

}  // namespace gnnbench::simulated
