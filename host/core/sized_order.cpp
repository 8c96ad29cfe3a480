#include <gnnbench/sized_order.hpp>

#include <utility>

#include <gnnbench/even_blocks.hpp>

namespace gnnbench {

IndexMap sized_map(std::vector<std::int64_t> offsets, std::shared_ptr<const SizedOrder> order) {
    return {std::move(offsets), true, {.position = {}, .vertex = {}, .memory = std::move(order)}};
}

std::shared_ptr<const SizedOrder> sized_order(const IndexMap& index) {
    if (!index.identity()) return nullptr;
    return std::static_pointer_cast<const SizedOrder>(index.places().memory);
}

IndexMap sized_parts(std::int64_t vertices, Part parts) {
    std::vector<std::int64_t> offsets;
    for (Part p = 0; p <= parts; ++p) offsets.push_back(block_begin(vertices, parts, p));
    auto order = std::make_shared<const SizedOrder>(SizedOrder{offsets});
    return sized_map(std::move(offsets), std::move(order));
}

}  // namespace gnnbench
