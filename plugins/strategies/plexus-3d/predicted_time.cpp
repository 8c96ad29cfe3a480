#include "predicted_time.hpp"

#include <algorithm>
#include <cmath>

#include <gnnbench/usize.hpp>

#include "epoch_operations.hpp"

namespace gnnbench::plexus {
namespace {

/// The machine that the thesis' coefficients were fitted on, Perlmutter.
struct ThesisMachine {
    // [Sec 4.1] Of √flops, and of that times either penalty; the unit is taken to be ms.
    double constant_ms = 7.8e-4, forward_ms = 7.8e-10, backward_ms = -2.6e-10;
    int node = 4;                ///< [Sec 6.1] GPUs
    double intra_bytes = 235e9;  ///< NCCL's own limit for a collective among A100s; the thesis gives no number
    double inter_bytes = 100e9;  ///< [Sec 6.1] 4 network cards of 25 GB/s
};
constexpr ThesisMachine machine;

/// [Sec 4.2] Seconds of collectives, all by rings, of one rank's groups.
class Seconds {
public:
    explicit Seconds(const Layout& layout) : layout_(layout) {}

    void all_reduce(std::int64_t elements, Axis a) { add(2, elements, a); }
    void all_reduce_blocks(std::int64_t rows, std::int64_t columns, int /*blocks*/, Axis a) {
        all_reduce(rows * columns, a);
    }
    void all_gather(std::int64_t rows, std::int64_t columns, Axis a) { add(1, rows * columns, a); }
    void reduce_scatter(std::int64_t rows, std::int64_t columns, Axis a) { add(1, rows * columns, a); }
    void all_to_all(const std::vector<std::int64_t>& /*sent*/, const std::vector<std::int64_t>& /*received*/,
                    std::int64_t /*columns*/, Axis /*a*/) {}  // grids are compared with dense all-reduces
    double total() const { return seconds_; }

private:
    void add(int passes, std::int64_t elements, Axis a) {
        const double g = layout_.extent(a), bytes = static_cast<double>(elements) * sizeof(float);
        seconds_ += passes * (g - 1) / g * bytes / bandwidth(a);
    }
    /// Y lies innermost in a node, then X, then Z. A group that leaves its node shares the node's cards with the groups
    /// of the axes before it.
    double bandwidth(Axis a) const {
        const int before = a == Y ? 1 : a == X ? layout_.extent(Y) : layout_.extent(Y) * layout_.extent(X);
        if (before * layout_.extent(a) <= machine.node) return machine.intra_bytes;
        return machine.inter_bytes / std::min(machine.node, before);
    }

    const Layout& layout_;
    double seconds_ = 0;
};

/// [Sec 4.1] Both products of each layer, flops being those of a rank; of the first layer only if an epoch has them.
double spmm_s(const Problem& problem, const Layout& layout, bool first_too) {
    const double vertices = static_cast<double>(problem.index.vertices());
    const double nonzeros = static_cast<double>(problem.dataset.graph.edges()) + vertices;
    double ms = 0;
    for (int l = first_too ? 0 : 1; l < layout.layers(); ++l) {
        const auto [o, i, d] = layout.layer(l).roles;
        const double f = static_cast<double>(problem.model.widths[usize(l)]) / layout.extent(i);
        const double flops = nonzeros / (layout.extent(o) * layout.extent(d)) * f;
        const double forward = vertices / layout.extent(o) / f, backward = vertices / layout.extent(d) / f;
        ms += std::max(0.0, std::sqrt(flops) * (machine.constant_ms + machine.forward_ms * forward +
                                                machine.backward_ms * backward));
    }
    return ms / 1e3;
}

}  // namespace

double predicted_s(const Problem& problem, const GridShape& grid, const EpochKind& kind) {
    const Layout layout(grid, problem.model, problem.index.vertices(), 0);
    Seconds collectives(layout);
    tell_epoch(collectives, layout, kind, {});
    return spmm_s(problem, layout, !kind.aggregated_input) + collectives.total();
}

}  // namespace gnnbench::plexus
