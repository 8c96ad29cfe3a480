#include <gnnbench/training/vertex_order.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <gnnbench/random.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

namespace {

/// Fisher–Yates over positions.
std::vector<std::int32_t> shuffled(std::vector<std::int32_t> position, std::uint64_t seed, std::uint32_t salt) {
    RandomStream random(seed, Draw::partition, salt);
    for (std::size_t left = position.size(); left > 1; --left)
        std::swap(position[left - 1], position[random.below(left)]);
    return position;
}

/// Separate streams, so that they differ from the `random` partitioner's at the same seed.
constexpr std::uint32_t row_salt = 16, column_salt = 17;

}  // namespace

VertexOrders permuted_orders(const IndexMap& given, Permutation permutation, std::uint64_t seed) {
    std::vector<std::int32_t> position(usize(given.vertices()));
    for (std::size_t v = 0; v < position.size(); ++v) {
        const GlobalId id{static_cast<std::int64_t>(v)};
        position[v] = static_cast<std::int32_t>(given.position(id));
    }
    VertexOrders orders;
    orders.rows = permutation == Permutation::original ? position : shuffled(position, seed, row_salt);
    orders.columns =
        permutation == Permutation::separate ? shuffled(std::move(position), seed, column_salt) : orders.rows;
    return orders;
}

IndexMap even_index_map(std::span<const std::int32_t> position, Part k) {
    const auto n = std::ssize(position);
    Partition p{.parts = k, .part_of = {}, .column_part_of = {}, .order = {}};
    p.part_of.reserve(position.size());
    for (const std::int32_t at : position) p.part_of.push_back(block_of(n, k, at));
    p.order.resize(position.size());
    for (std::size_t v = 0; v < position.size(); ++v) p.order[usize(position[v])] = static_cast<std::int32_t>(v);
    return IndexMap(p);
}

EvenOrders::EvenOrders(const IndexMap& given, Permutation permutation, std::uint64_t seed)
    : vertices_(given.vertices()) {
    const auto sized = sized_order(given);
    if (!sized) {
        orders_ = permuted_orders(given, permutation, seed);
        return;
    }
    const auto permuted = [] { return std::make_shared<const SizedOrder>(); };
    sized_rows_ = permutation == Permutation::original ? sized : permuted();
    sized_columns_ = permutation == Permutation::separate ? permuted() : sized_rows_;
}

IndexMap EvenOrders::rows(Part k) const { return cut(orders_.rows, sized_rows_, k); }
IndexMap EvenOrders::columns(Part k) const { return cut(orders_.columns, sized_columns_, k); }

IndexMap EvenOrders::cut(std::span<const std::int32_t> position, const std::shared_ptr<const SizedOrder>& sized,
                         Part k) const {
    if (!sized) return even_index_map(position, k);
    std::vector<std::int64_t> offsets;
    for (Part p = 0; p <= k; ++p) offsets.push_back(block_begin(vertices_, k, p));
    return sized_map(std::move(offsets), sized);
}

ShardBalance shard_balance(const Adjacency& a, const VertexOrders& orders, Part row_blocks, Part column_blocks) {
    const std::int64_t n = a.vertices();
    ShardBalance b;
    b.row_blocks = row_blocks;
    b.column_blocks = column_blocks;
    b.nonzeros.resize(usize(row_blocks) * usize(column_blocks));
    for (std::int64_t v = 0; v < n; ++v) {
        const std::int64_t row_block = block_of(n, row_blocks, orders.rows[usize(v)]);
        a.row(v, [&](std::int64_t j, double) {
            const int column_block = block_of(n, column_blocks, orders.columns[usize(j)]);
            ++b.nonzeros[usize(row_block * column_blocks + column_block)];
        });
    }
    b.largest = b.nonzeros.empty() ? 0 : *std::max_element(b.nonzeros.begin(), b.nonzeros.end());
    b.mean = static_cast<double>(std::reduce(b.nonzeros.begin(), b.nonzeros.end())) /
             static_cast<double>(std::max<std::size_t>(b.nonzeros.size(), 1));
    return b;
}

}  // namespace gnnbench
