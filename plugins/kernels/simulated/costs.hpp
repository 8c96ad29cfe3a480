#pragma once
#include <cstdint>

#include <gnnbench/matrix.hpp>
#include <gnnbench/simulation/machine.hpp>
#include <gnnbench/simulation/simulation.hpp>

/// What operations cost on a device that is described, not there. README.md has the equations.
namespace gnnbench::simulated {

enum class SpmmModel : std::uint8_t { roofline, plexus_thesis };

/// A product of a sparse matrix [rows × cols] and a dense one [cols × width].
struct SpmmShape {
    std::int64_t rows = 0, cols = 0, nonzeros = 0, width = 0;
    bool adds = false;  ///< to what the result holds
};

struct GemmShape {
    std::int64_t m = 0, n = 0, k = 0;
    bool adds = false;
};

class Costs {
public:
    /// `ranks_of_node`: how many work at the same time.
    Costs(const simulation::Machine& machine, DType dtype, SpmmModel spmm, int ranks_of_node);

    simulation::Work spmm(const SpmmShape& s) const;
    simulation::Work gemm(const GemmShape& s) const;
    /// Reads and writes in order.
    simulation::Work streamed(double bytes) const;
    /// Of elements that bytes in order hold.
    simulation::Work exponentials(double count, double bytes) const;
    /// Reads or writes of whole rows in no order, of `row_bytes` each, which lie in so many bytes, beside bytes in order.
    simulation::Work gathered(double rows, double row_bytes, double lie_in, double bytes_in_order) const;

    double element_bytes() const { return static_cast<double>(size_of(dtype_)); }

private:
    simulation::Work kernel(double seconds, double memory_s) const;
    simulation::Work measured_spmm(const SpmmShape& s) const;
    /// Of `bytes` in order, in a kernel that moves `all_bytes`.
    double in_order_s(double bytes, double all_bytes) const;
    double whole_lines(double row_bytes) const;

    const simulation::Machine& machine_;
    const simulation::Curve &stream_, &gather_;  ///< empty: not measured by size
    DType dtype_;
    SpmmModel spmm_;
};

}  // namespace gnnbench::simulated
