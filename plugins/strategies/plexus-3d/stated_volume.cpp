#include "stated_volume.hpp"

#include <limits>

#include <gnnbench/training/sharded_loss.hpp>
#include <gnnbench/training/stated_volume.hpp>
#include <gnnbench/usize.hpp>

#include "epoch_operations.hpp"
#include "predicted_time.hpp"

namespace gnnbench::plexus {
namespace {

/// Adds up operations along a rank's lines of the grid.
class Sum {
public:
    Sum(const Layout& layout, std::int64_t element_bytes) : layout_(layout), sum_(element_bytes) {}

    void all_reduce(std::int64_t elements, Axis a) { sum_.all_reduce(elements, layout_.extent(a), layout_.at(a)); }
    /// An all-reduce of [rows × columns] for each of the row blocks.
    void all_reduce_blocks(std::int64_t rows, std::int64_t columns, int blocks, Axis a) {
        for (int b = 0; b < blocks; ++b) all_reduce(block_size(rows, blocks, b) * columns, a);
    }
    /// `rows` of `columns` elements each, whole rows cut evenly over the axis.
    void all_gather(std::int64_t rows, std::int64_t columns, Axis a) {
        sum_.all_gather(rows * columns, mine(rows, a) * columns, layout_.extent(a));
    }
    void reduce_scatter(std::int64_t rows, std::int64_t columns, Axis a) {
        sum_.reduce_scatter(rows * columns, mine(rows, a) * columns, layout_.extent(a));
    }
    void all_to_all(std::vector<std::int64_t> sent, std::vector<std::int64_t> received, std::int64_t columns,
                    Axis a) {
        for (auto* rows : {&sent, &received})
            for (std::int64_t& r : *rows) r *= columns * sum_.element_bytes();
        const Traffic t = counting::all_to_all(sent, received, layout_.at(a));
        if (t != Traffic{}) sum_.add({{{CommOp::all_to_all, Content::payload}, t}});
    }
    void add(const Volume& v) { sum_.add(v); }
    const Volume& total() const { return sum_.total(); }

private:
    std::int64_t mine(std::int64_t rows, Axis a) const {
        return block_size(rows, layout_.extent(a), layout_.at(a));
    }
    const Layout& layout_;
    VolumeStatement sum_;
};

}  // namespace

Volume epoch_volume(const Layout& layout, const EpochKind& kind, const std::vector<RowTraffic>& sparse,
                    std::int64_t element_bytes) {
    Sum sum(layout, element_bytes);
    tell_epoch(sum, layout, kind, sparse);
    const LayerShape& top = layout.layer(layout.layers() - 1);
    // The loss: classes are distributed along o; ranks that differ in i hold the same.
    const int classes = layout.extent(top.roles.o), class_rank = layout.at(top.roles.o);
    const int holders = layout.grid().ranks() / layout.extent(top.roles.i);
    const int holder_rank = layout.grid().rank_in_plane(top.roles.i, layout.place());
    sum.add(
        ShardedLoss::volume(top.n_d, kind.multi_label, classes, class_rank, holders, holder_rank, element_bytes));
    return sum.total();
}

namespace {

std::vector<GridShape> possible_grids(int ranks, const std::array<int, 3>& asked) {
    std::vector<GridShape> grids;
    for (int x = 1; x <= ranks; ++x) {
        if (ranks % x != 0) continue;
        for (int y = 1; x * y <= ranks; ++y) {
            const std::array<int, 3> size{x, y, ranks / (x * y)};
            bool fits = x * y * size[2] == ranks;
            for (std::size_t a = 0; a < 3; ++a) fits = fits && (asked[a] == 0 || asked[a] == size[a]);
            if (fits) grids.push_back(grid_of(x, y, size[2]));
        }
    }
    return grids;
}

std::int64_t received_bytes(const Problem& problem, const GridShape& grid, const EpochKind& kind) {
    std::int64_t bytes = 0;
    for (int r = 0; r < problem.ranks; ++r) {
        const Layout layout(grid, problem.model, problem.index.vertices(), r);
        bytes += payload_total(epoch_volume(layout, kind, {}, sizeof(float))).received_bytes;
    }
    return bytes;
}

/// The first of the grids whose cost is least.
template <class Cost>
GridShape cheapest(const std::vector<GridShape>& grids, const Cost& cost) {
    if (grids.size() == 1) return grids.front();
    auto least = std::numeric_limits<decltype(cost(grids.front()))>::max();
    GridShape best = grids.front();
    for (const GridShape& grid : grids) {
        const auto c = cost(grid);
        if (c >= least) continue;
        least = c;
        best = grid;
    }
    return best;
}

}  // namespace

namespace {

/// What ranks of one process share.
struct ChosenGrid {
    std::shared_ptr<const GridShape> grid;
};

}  // namespace

GridShape choose_grid(const Problem& problem, const Options& options, const EpochKind& kind) {
    auto* const chosen = problem.shared ? &problem.shared->of<ChosenGrid>().grid : nullptr;
    return *made_once(chosen, [&] {
        const std::vector<GridShape> grids = possible_grids(problem.ranks, options.size);
        if (options.choice == GridChoice::predicted)
            return cheapest(grids, [&](const GridShape& grid) {
                return predicted_s(problem, grid, kind, options.prediction);
            });
        return cheapest(grids, [&](const GridShape& grid) { return received_bytes(problem, grid, kind); });
    });
}

}  // namespace gnnbench::plexus
