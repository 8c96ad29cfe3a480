#include "training/block_counts.hpp"

namespace gnnbench {
namespace {

/// Tells cut orders apart that live at the same time.
struct OrderKey {
    explicit OrderKey(const CutOrder& o)
        : order(o.index.identity() ? o.index.places().memory.get()
                                   : static_cast<const void*>(o.index.places().position.data())),
          offsets(o.index.offsets()),
          runs(o.runs) {}
    const void* order;
    std::vector<std::int64_t> offsets;
    int runs;
    auto operator<=>(const OrderKey&) const = default;
};

/// What ranks of one process share of it: by rows and columns.
struct KeptCounts {
    std::map<std::pair<OrderKey, OrderKey>, std::shared_ptr<const CountedBlocks>> of;
};

}  // namespace

CountedBlocks::CountedBlocks(const Adjacency& a, const CutOrder& rows, const CutOrder& columns)
    : columns_(std::int64_t{columns.index.parts()} * columns.runs),
      nonzeros_(sparsity_of(a).of_blocks(a, rows, columns)),
      row_order_(rows.index),
      column_order_(columns.index) {}

std::shared_ptr<const CountedBlocks> counted_blocks(const Adjacency& a, const CutOrder& rows,
                                                    const CutOrder& columns) {
    auto* const place =
        a.shared() ? &a.shared()->of<KeptCounts>().of[{OrderKey(rows), OrderKey(columns)}] : nullptr;
    return made_once(place, [&] { return CountedBlocks(a, rows, columns); });
}

}  // namespace gnnbench
