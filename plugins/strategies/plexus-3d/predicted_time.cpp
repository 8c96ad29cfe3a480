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

/// NNZ: the nonzeros of Â. Self-loops that were not counted are taken for none.
double nonzeros_of(const Problem& problem) {
    const GraphView& graph = problem.dataset.graph;
    const std::int64_t loops =
        problem.model.self_loops ? graph.vertices() - std::max<std::int64_t>(0, graph.self_loops) : 0;
    return static_cast<double>(graph.edges() + loops);
}

/// [Sec 4.1] Both products of each layer; of the first layer only if an epoch has them. G_x, G_y, G_z of the thesis' first
/// layer are the extents of o, i and d.
///   flops_cost   NNZ · D as printed, or a rank's share of it, NNZ · D / G
///   fwd_penalty  (N / G_x) · (G_y / D)        bwd_penalty  (N / G_z) · (G_y / D)
///   ms           √flops_cost · (c₀ + c₁ · fwd_penalty + c₂ · bwd_penalty), summed over layers. As c₂ < 0, it can be
///                negative; a rank's share counts as 0 then.
double spmm_s(const Problem& problem, const Layout& layout, bool first_too, Prediction prediction) {
    const bool printed = prediction == Prediction::printed;
    const double n = static_cast<double>(problem.index.vertices()), nnz = nonzeros_of(problem);
    double ms = 0;
    for (int l = first_too ? 0 : 1; l < layout.layers(); ++l) {
        const auto [o, i, d] = layout.layer(l).roles;
        const double width = static_cast<double>(problem.model.widths[usize(l)]);
        const double flops = nnz * width / (printed ? 1 : layout.grid().ranks());
        const double forward = n / layout.extent(o) * layout.extent(i) / width;
        const double backward = n / layout.extent(d) * layout.extent(i) / width;
        const double layer_ms = std::sqrt(flops) * (machine.constant_ms + machine.forward_ms * forward +
                                                    machine.backward_ms * backward);
        ms += printed ? layer_ms : std::max(0.0, layer_ms);
    }
    return ms / 1e3;
}

}  // namespace

double predicted_s(const Problem& problem, const GridShape& grid, const EpochKind& kind, Prediction prediction) {
    const Layout layout(grid, problem.model, problem.index.vertices(), 0);
    Seconds collectives(layout);
    tell_epoch(collectives, layout, kind, {});
    return spmm_s(problem, layout, !kind.aggregated_input, prediction) + collectives.total();
}

}  // namespace gnnbench::plexus
