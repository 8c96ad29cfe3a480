// Whose volume connectivity−1 is: nets of columns and rows against counts from the graph's entries alone.
#include <set>
#include <tuple>

#include <catch2/catch.hpp>

#include <gnnbench/usize.hpp>

#include "balance.hpp"
#include "contract/hypergraph_case.hpp"
#include "multilevel.hpp"
#include "nets.hpp"
#include "partitioned.hpp"
#include "sending.hpp"

using namespace gnnbench;
using namespace gnnbench::hypergraph;

namespace {

/// What moves in Â·H, where row i needs row j of H for each entry (i, j), and in Âᵀ·G, where row j needs row i of G:
/// (owner, receiver, row), each once.
struct Moves {
    using Sent = std::tuple<PartId, PartId, std::int32_t>;
    std::set<Sent> forward, backward;

    Moves(const GraphView& graph, const std::vector<PartId>& part_of) {
        for (std::int32_t i = 0; i < graph.vertices(); ++i)
            for (std::int64_t e = graph.indptr[usize(i)]; e < graph.indptr[usize(i) + 1]; ++e) {
                const std::int32_t j = graph.indices[usize(e)];
                const PartId of_i = part_of[usize(i)], of_j = part_of[usize(j)];
                if (of_i == of_j) continue;
                forward.emplace(of_j, of_i, j);
                backward.emplace(of_i, of_j, i);
            }
    }
    std::int64_t volume(Nets nets) const {
        return (nets == Nets::rows ? 0 : std::ssize(forward)) + (nets == Nets::columns ? 0 : std::ssize(backward));
    }
    std::vector<std::int64_t> sent(Nets nets, PartId parts) const {
        std::vector<std::int64_t> rows(usize(parts));
        if (nets != Nets::rows)
            for (const auto& [from, to, row] : forward) ++rows[usize(from)];
        if (nets != Nets::columns)
            for (const auto& [from, to, row] : backward) ++rows[usize(from)];
        return rows;
    }
    std::int64_t messages(Nets nets) const {
        std::set<std::tuple<bool, PartId, PartId>> pairs;
        if (nets != Nets::rows)
            for (const auto& [from, to, row] : forward) pairs.emplace(true, from, to);
        if (nets != Nets::columns)
            for (const auto& [from, to, row] : backward) pairs.emplace(false, from, to);
        return std::ssize(pairs);
    }
};

constexpr Nets every_choice[] = {Nets::columns, Nets::rows, Nets::both};

/// The least volume of all partitions within the limit, by trying each.
std::int64_t least_volume(const GraphView& graph, const Hypergraph& h, Nets nets, PartId parts, Weight limit) {
    std::vector<PartId> part_of(h.vertex_count());
    std::int64_t least = -1;
    for (;;) {
        if (heaviest(h, part_of, parts) <= limit) {
            const std::int64_t volume = Moves(graph, part_of).volume(nets);
            if (least < 0 || volume < least) least = volume;
        }
        Id v = 0;
        while (v < h.vertex_count() && ++part_of[v] == parts) part_of[v++] = 0;
        if (v == h.vertex_count()) return least;
    }
}

}  // namespace

TEST_CASE("nets of rows and of both, by hand", "[contract][hypergraph]") {
    // 0 and 1 have entries both ways; 2's column is needed by 0 alone, its row needs nothing; row 3 needs 0 and itself.
    const auto g = graphs::from_entries("by hand", 4, {{0, 1}, {0, 2}, {1, 0}, {3, 0}, {3, 3}});
    const auto nets = [](const Hypergraph& h) {
        std::vector<std::tuple<Id, NetWeight, std::vector<Id>>> found;
        for (Id e = 0; e < h.net_count(); ++e)
            found.emplace_back(h.column[e], h.net_weight[e],
                               std::vector<Id>(h.pins_of(e).begin(), h.pins_of(e).end()));
        return found;
    };
    using Found = decltype(nets(Hypergraph{}));
    const Hypergraph rows = product_nets(g.view(), Nets::rows, false);
    CHECK(nets(rows) == Found{{0, 1, {0, 1, 2}}, {1, 1, {0, 1}}, {3, 1, {0, 3}}});
    // Column 1 is needed by row 0, and row 1 needs column 0.
    const Hypergraph both = product_nets(g.view(), Nets::both, false);
    CHECK(nets(both) ==
          Found{{0, 1, {0, 1, 3}}, {1, 2, {0, 1}}, {2, 1, {0, 2}}, {0, 1, {0, 1, 2}}, {3, 1, {0, 3}}});
    CHECK(both.vertex_weight == std::vector<Weight>{3, 2, 1, 2});
    const Hypergraph separate = separate_product_nets(g.view(), Nets::both, false);
    CHECK(separate.net_count() == 6);
    CHECK(separate.first_row_net == 3);
    CHECK(std::ranges::all_of(separate.net_weight, [](NetWeight w) { return w == 1; }));
}

TEST_CASE("connectivity−1 is the volume of the products asked for", "[contract][hypergraph]") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        for (const Nets choice : every_choice)
            for (const PartId parts : {2, 5, 40}) {
                INFO("seed " << seed << ", nets " << static_cast<int>(choice) << ", " << parts << " parts");
                const auto g = random_graph(150, 500, seed);
                const Hypergraph h = product_nets(g.view(), choice, false);
                const Hypergraph separate = separate_product_nets(g.view(), choice, false);
                const auto part_of = random_parts(h.vertex_count(), parts, seed);
                const Moves moves(g.view(), part_of);
                CHECK(by_sets(h, part_of) == moves.volume(choice));
                CHECK(connectivity_minus_one(h, part_of, parts) == moves.volume(choice));
                CHECK(by_sets(separate, part_of) == moves.volume(choice));
                const Partitioned p(separate, parts, part_of);
                CHECK(volume_sent(p) == moves.sent(choice, parts));
                CHECK(message_count(p) == moves.messages(choice));
                for (Id v = 0; v < h.vertex_count(); ++v)
                    for (const Id e : h.nets_of(v)) CHECK(std::ranges::binary_search(h.pins_of(e), v));
            }
}

TEST_CASE("an undirected graph has its column nets, whatever is asked for", "[contract][hypergraph]") {
    graphs::Entries entries;
    const auto directed = random_graph(100, 300, 4);
    for (std::int32_t i = 0; i < 100; ++i)
        for (std::int64_t e = directed.indptr[usize(i)]; e < directed.indptr[usize(i) + 1]; ++e) {
            entries.emplace_back(i, directed.indices[usize(e)]);
            entries.emplace_back(directed.indices[usize(e)], i);
        }
    const auto g = graphs::from_entries("undirected", 101, entries);  // vertex 100 is alone
    const Hypergraph columns = column_nets(g.view(), false);
    for (const Nets choice : every_choice)
        for (const Hypergraph& h :
             {product_nets(g.view(), choice, false), separate_product_nets(g.view(), choice, false)}) {
            CHECK(h.pins == columns.pins);
            CHECK(h.net_offsets == columns.net_offsets);
            CHECK(h.net_weight == columns.net_weight);
            CHECK(h.column == columns.column);
            CHECK(h.nets == columns.nets);
        }
}

TEST_CASE("tiny directed graphs: near the least volume of exhaustive search", "[contract][hypergraph]") {
    for (const Nets choice : every_choice) {
        double ours = 0, best = 0;
        for (std::uint64_t seed = 1; seed <= 15; ++seed)
            for (const PartId parts : {2, 3}) {
                INFO("seed " << seed << ", nets " << static_cast<int>(choice) << ", " << parts << " parts");
                const auto g = random_graph(8, 18, seed);
                const Hypergraph h = product_nets(g.view(), choice, false);
                const Weight limit = part_limit(h, parts, 0.3);
                const auto part_of = partition_multilevel(h, parts, limit, fast, seed);
                CHECK(heaviest(h, part_of, parts) <= limit);
                const std::int64_t found = Moves(g.view(), part_of).volume(choice);
                const std::int64_t least = least_volume(g.view(), h, choice, parts, limit);
                CHECK(found >= least);
                CHECK(static_cast<double>(found) <= 1.5 * static_cast<double>(least) + 1);
                ours += static_cast<double>(found), best += static_cast<double>(least);
            }
        INFO("nets " << static_cast<int>(choice) << ": all together " << ours << ", optimum " << best);
        CHECK(ours <= 1.1 * best);
    }
}

TEST_CASE("what is asked for is what falls most", "[contract][hypergraph]") {
    // volume[a][b]: of nets b where nets a were partitioned.
    double volume[3][3] = {};
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        const auto g = random_graph(600, 2400, seed);
        for (const Nets asked : every_choice) {
            const Hypergraph h = product_nets(g.view(), asked, false);
            const Moves moves(g.view(), partition_multilevel(h, 8, part_limit(h, 8, 0.05), fast, seed));
            for (const Nets counted : every_choice)
                volume[static_cast<int>(asked)][static_cast<int>(counted)] +=
                    static_cast<double>(moves.volume(counted));
        }
    }
    for (int counted = 0; counted < 3; ++counted)
        for (int asked = 0; asked < 3; ++asked) {
            INFO("nets " << counted << ": " << volume[counted][counted] << " where asked for, "
                         << volume[asked][counted] << " where nets " << asked << " were");
            if (asked != counted) CHECK(volume[counted][counted] < volume[asked][counted]);
        }
}

TEST_CASE("lowering sends of both products", "[contract][hypergraph]") {
    for (const Sending objective : {Sending::max_volume, Sending::messages}) {
        double before = 0, after = 0;
        for (std::uint64_t seed = 1; seed <= 10; ++seed) {
            INFO("seed " << seed << ", objective " << static_cast<int>(objective));
            constexpr PartId parts = 12;
            const auto value = [&](const Moves& m) {
                const auto sent = m.sent(Nets::both, parts);
                return objective == Sending::messages ? m.messages(Nets::both) : *std::ranges::max_element(sent);
            };
            const auto g = random_graph(400, 1600, seed);
            const Hypergraph h = separate_product_nets(g.view(), Nets::both, false);
            const Weight limit = part_limit(h, parts, 0.05);
            const auto start = partition_multilevel(h, parts, limit, fast, seed);
            Partitioned p(h, parts, start);
            lower_sending(p, objective, {.part_weight = limit, .more_volume = 0.05});
            const Moves first(g.view(), start), last(g.view(), p.assignment());
            CHECK(value(last) <= value(first));
            CHECK(p.connectivity_minus_one() == last.volume(Nets::both));
            CHECK(static_cast<double>(last.volume(Nets::both)) <=
                  1.05 * static_cast<double>(first.volume(Nets::both)));
            CHECK(heaviest(h, p.assignment(), parts) <= limit);
            before += static_cast<double>(value(first)), after += static_cast<double>(value(last));
        }
        INFO("all together " << before << " before and " << after << " after");
        CHECK(after < (objective == Sending::messages ? 0.97 : 0.95) * before);
    }
}
