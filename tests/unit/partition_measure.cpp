#include <set>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/random.hpp>
#include <gnnbench/undirected.hpp>

#include "contract/graphs.hpp"
#include "partition/measure.hpp"
#include "partition/ordered.hpp"
#include "partition/picture.hpp"

using namespace gnnbench;
using Catch::Matchers::Contains;

namespace {

Partition parts_of(Part parts, std::vector<Part> part_of) {
    return {.parts = parts, .part_of = std::move(part_of), .column_part_of = {}};
}

}  // namespace

TEST_CASE("what a partition costs, by hand") {
    // Row 0 needs 2 and 3, row 1 needs 2, row 4 needs 0. Parts: {0, 1}, {2, 3}, {4}, {}.
    const auto g = graphs::from_entries("by hand", 5, {{0, 2}, {0, 3}, {1, 2}, {4, 0}, {2, 2}});
    const PartitionCost c = measure_cost(g.view(), parts_of(4, {0, 0, 1, 1, 2}), true);
    CHECK(c.edge_cut == 4);
    CHECK(c.connectivity_minus_one == 3);
    CHECK(c.backward_connectivity_minus_one ==
          3);  // rows 0 and 1 are needed by columns 2 and 3, row 4 by column 0
    CHECK(c.cut_nets == 3);
    CHECK(c.empty_parts == 1);
    CHECK(c.rows_between == std::vector<std::int64_t>{0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    CHECK(c.parts[0].sent_rows == 1);
    CHECK(c.parts[0].received_rows == 2);
    CHECK(c.parts[0].sent_messages == 1);
    CHECK(c.parts[0].received_messages == 1);
    CHECK(c.parts[0].nonzeros == 5);  // with the diagonals of rows 0 and 1
    CHECK(c.parts[1].nonzeros == 2);  // row 2 stores its own
    CHECK(c.parts[1].sent_rows == 2);
    CHECK(c.parts[2].received_rows == 1);
    CHECK(c.parts[3].vertices == 0);
    const Spread sent = c.spread(&PartCost::sent_rows);
    CHECK(sent.mean == Approx(0.75));
    CHECK(sent.maximum == 2);
    CHECK(sent.imbalance() == Approx(2 / 0.75));
}

TEST_CASE("what a vertex cut costs, by hand") {
    // Entries (0, 2), (0, 3), (1, 2), (4, 0), (2, 2) in parts 0, 1, 1, 0, 1; roots {0, 4}, {1, 2, 3}.
    const auto g = graphs::from_entries("by hand", 5, {{0, 2}, {0, 3}, {1, 2}, {4, 0}, {2, 2}});
    Partition p = parts_of(3, {0, 1, 1, 1, 0});
    p.part_of_entry = {0, 1, 1, 1, 0};  // in the graph's order: rows 0, 0, 1, 2, 4
    const PartitionCost c = measure_cost(g.view(), p, true);
    CHECK(c.edge_cut == 0);
    CHECK(c.connectivity_minus_one == 2);  // of vertex 2 in part 0, of vertex 0 in part 1
    CHECK(c.cut_nets == 2);
    CHECK(c.replication == Approx(7 / 5.0));
    CHECK(c.empty_parts == 1);
    CHECK(c.parts[0].vertices == 3);
    CHECK(c.parts[1].vertices == 4);
    CHECK(c.parts[0].nonzeros == 4);   // two entries, and the diagonals of 0 and 4
    CHECK(c.parts[1].nonzeros == 5);   // three, of which one is the diagonal of 2, and those of 1 and 3
    CHECK(c.parts[0].sent_rows == 2);  // its copy's to the root, its root's to the copy
    CHECK(c.parts[0].received_rows == 2);
    CHECK(c.parts[0].sent_messages == 2);
    CHECK(c.rows_between == std::vector<std::int64_t>{0, 2, 0, 2, 0, 0, 0, 0, 0});
    p.part_of_entry.clear();
    CHECK(measure_cost(g.view(), p).replication == 0);
}

TEST_CASE("what a partition costs equals its definition on random graphs, and the quality that records have") {
    RandomStream draw(5, Draw::partition);
    for (const Part parts : {1, 2, 5, 70}) {
        const auto g = graphs::directed_random(120, 900, false);
        std::vector<Part> part_of;
        for (int v = 0; v < 120; ++v)
            part_of.push_back(static_cast<Part>(draw.below(static_cast<std::uint64_t>(parts))));
        const Partition p = parts_of(parts, part_of);
        const PartitionCost c = measure_cost(g.view(), p, true);

        std::set<std::tuple<Part, Part, std::int32_t>> sent;  // from, to, row
        std::set<std::int32_t> nets;
        std::set<std::pair<Part, std::size_t>> sent_back;  // to, row
        for (std::size_t v = 0; v < 120; ++v)
            for (auto e = g.indptr[v]; e < g.indptr[v + 1]; ++e) {
                const std::int32_t u = g.indices[static_cast<std::size_t>(e)];
                const Part from = part_of[static_cast<std::size_t>(u)];
                if (from == part_of[v]) continue;
                sent.emplace(from, part_of[v], u);
                nets.insert(u);
                sent_back.emplace(from, v);
            }
        INFO(parts << " parts");
        CHECK(c.connectivity_minus_one == std::ssize(sent));
        CHECK(c.backward_connectivity_minus_one == std::ssize(sent_back));
        CHECK(c.cut_nets == std::ssize(nets));
        std::vector<std::int64_t> between(static_cast<std::size_t>(parts * parts));
        for (const auto& [from, to, row] : sent) ++between[static_cast<std::size_t>(from * parts + to)];
        CHECK(c.rows_between == between);
        const PartitionQuality q = measure_quality(g.view(), p);
        CHECK(c.connectivity_minus_one == q.connectivity_minus_one);
        CHECK(c.edge_cut == q.edge_cut);
        CHECK(c.spread(&PartCost::vertices).imbalance() == Approx(q.vertex_imbalance));
        CHECK(c.spread(&PartCost::nonzeros).imbalance() == Approx(q.nonzero_imbalance));
        std::vector<std::int64_t> weight(static_cast<std::size_t>(parts));  // as partitioners weigh rows
        const std::vector<std::int64_t> of_row = row_nonzeros(g.view());
        for (std::size_t v = 0; v < of_row.size(); ++v) weight[static_cast<std::size_t>(part_of[v])] += of_row[v];
        for (std::size_t part = 0; part < weight.size(); ++part) CHECK(c.parts[part].nonzeros == weight[part]);
        std::int64_t rows = 0;
        for (const PartCost& part : c.parts) rows += part.sent_rows - part.received_rows;
        CHECK(rows == 0);
    }
}

TEST_CASE("a picture of 512 parts stays small, and says the numbers") {
    const auto g = graphs::directed_random(2000, 20000, false);
    std::vector<Part> part_of;
    for (int v = 0; v < 2000; ++v) part_of.push_back(v % 512);
    const PartitionCost c = measure_cost(g.view(), parts_of(512, part_of), true);
    const std::string svg = picture(c, "a < b & c");
    CHECK(svg.size() < 2'000'000);
    CHECK_THAT(svg, Contains("a &lt; b &amp; c") && Contains(std::to_string(c.connectivity_minus_one)));
    CHECK_THROWS_AS(measure_cost(g.view(), parts_of(4000, part_of), true), LogicError);
}

TEST_CASE("a picture of parts that exchange nothing") {
    const auto g = graphs::without_edges(6);
    const std::string svg = picture(measure_cost(g.view(), parts_of(3, {0, 0, 1, 1, 2, 2}), true), "nothing");
    CHECK_THAT(svg, Contains("0 of 6 pairs"));
    CHECK_THAT(svg, !Contains("nan") && !Contains("inf"));
    CHECK_NOTHROW(picture(measure_cost(g.view(), parts_of(1, {0, 0, 0, 0, 0, 0}), true), "one part"));
}

namespace {

/// All vertices in part 0, in an order of its own where asked to.
class Plain final : public Partitioner {
public:
    explicit Plain(std::vector<std::int32_t> order = {}) : order_(std::move(order)) {}
    std::string why_unsupported(const GraphSize&, const PartitionNeed&, const Params&) const override {
        return {};
    }
    Partition partition(const PartitionTask& task) const override {
        return {.parts = task.need.parts,
                .part_of = std::vector<Part>(static_cast<std::size_t>(task.dataset.graph.vertices())),
                .column_part_of = {},
                .order = order_};
    }

private:
    std::vector<std::int32_t> order_;
};

}  // namespace

TEST_CASE("a partitioner's vertices lie in the order that the parameter asks for") {
    static constexpr ParamDecl declared = {"order", ParamType::choice,           "natural", 0,
                                           0,       "natural|random|degree|rcm", ""};
    const auto g = graphs::from_entries("uneven", 5, {{1, 0}, {3, 0}, {3, 1}, {4, 2}});
    const DatasetView data = graphs::bare(g.view());
    const auto order = [&](const Partitioner& partitioner, const char* word) {
        Params params;
        if (word) params.set(declared, word);
        return partition_in_order(partitioner, {.dataset = data, .model = {}, .need = {}, .params = params}).order;
    };
    const std::vector<std::int32_t> own = {4, 3, 2, 1, 0};
    CHECK(order(Plain(), nullptr).empty());
    CHECK(order(Plain(), "natural").empty());
    CHECK(order(Plain(own), "natural") == own);
    CHECK(order(Plain(own), "degree") == std::vector<std::int32_t>{3, 1, 4, 0, 2});
    CHECK(order(Plain(), "random").size() == 5);
    CHECK(order(Plain(), "rcm").size() == 5);
    CHECK_THROWS_WITH(order(Plain({0, 0, 1, 2, 3}), "degree"), "a partition's order holds vertex 0 twice");
}
