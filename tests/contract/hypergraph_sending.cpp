// What the refinement of sends promises, against counts from the graph's entries alone.
#include <numeric>
#include <set>

#include <catch2/catch.hpp>

#include "balance.hpp"
#include "contract/hypergraph_case.hpp"
#include "multilevel.hpp"
#include "sending.hpp"

using namespace gnnbench;
using namespace gnnbench::hypergraph;

namespace {

/// What every part sends, and to how many: part p sends vertex j, which it owns, to each part with an entry in column
/// j.
struct Sends {
    std::vector<std::int64_t> volume;
    std::int64_t messages = 0;
    std::int64_t most() const { return *std::max_element(volume.begin(), volume.end()); }
    std::int64_t total() const { return std::accumulate(volume.begin(), volume.end(), std::int64_t{0}); }
};

Sends sends_of(const GraphView& graph, const std::vector<PartId>& part_of, PartId parts) {
    std::set<std::pair<std::int32_t, PartId>> sent;  // vertex, receiver
    std::set<std::pair<PartId, PartId>> pairs;
    for (std::int64_t i = 0; i < graph.vertices(); ++i)
        for (std::int64_t e = graph.indptr[static_cast<std::size_t>(i)];
             e < graph.indptr[static_cast<std::size_t>(i) + 1]; ++e) {
            const std::int32_t j = graph.indices[static_cast<std::size_t>(e)];
            const PartId to = part_of[static_cast<std::size_t>(i)], from = part_of[static_cast<std::size_t>(j)];
            if (from == to) continue;
            sent.emplace(j, to);
            pairs.emplace(from, to);
        }
    Sends result{.volume = std::vector<std::int64_t>(static_cast<std::size_t>(parts)),
                 .messages = static_cast<std::int64_t>(pairs.size())};
    for (const auto& [vertex, to] : sent)
        ++result.volume[static_cast<std::size_t>(part_of[static_cast<std::size_t>(vertex)])];
    return result;
}

std::int64_t objective_of(const Sends& sends, Sending objective) {
    return objective == Sending::messages ? sends.messages : sends.most();
}

}  // namespace

TEST_CASE("volume sent and messages are those of the graph's entries", "[contract][hypergraph]") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
        for (const PartId parts : {1, 2, 5, 40}) {
            INFO("seed " << seed << ", " << parts << " parts");
            const auto g = random_graph(120, 500, seed);
            const Hypergraph h = column_nets(g.view(), false);
            const Partitioned p(h, parts, random_parts(h.vertex_count(), parts, seed));
            const Sends sends = sends_of(g.view(), p.assignment(), parts);
            CHECK(volume_sent(p) == sends.volume);
            CHECK(message_count(p) == sends.messages);
            CHECK(p.connectivity_minus_one() == sends.total());
        }
}

TEST_CASE("lowering sends: the objective falls, the volume stays within its allowance, parts within the limit",
          "[contract][hypergraph]") {
    for (const Sending objective : {Sending::max_volume, Sending::messages}) {
        double before = 0, after = 0;
        for (std::uint64_t seed = 1; seed <= 10; ++seed)
            for (const PartId parts : {2, 6, 20}) {
                INFO("seed " << seed << ", " << parts << " parts, objective " << static_cast<int>(objective));
                const auto g = random_graph(600, 2400, seed);
                const Hypergraph h = column_nets(g.view(), false);
                const Weight limit = part_limit(h, parts, 0.05);
                const auto start = partition_multilevel(h, parts, limit, fast, seed);
                const Sends first = sends_of(g.view(), start, parts);

                Partitioned p(h, parts, start);
                lower_sending(p, objective, {.part_weight = limit, .more_volume = 0.05});
                const Sends last = sends_of(g.view(), p.assignment(), parts);
                CHECK(objective_of(last, objective) <= objective_of(first, objective));
                CHECK(static_cast<double>(last.total()) <= 1.05 * static_cast<double>(first.total()));
                CHECK(p.connectivity_minus_one() == last.total());
                CHECK(heaviest(h, p.assignment(), parts) <= limit);
                before += static_cast<double>(objective_of(first, objective));
                after += static_cast<double>(objective_of(last, objective));

                Partitioned again(h, parts, start);
                lower_sending(again, objective, {.part_weight = limit, .more_volume = 0.05});
                CHECK(again.assignment() == p.assignment());

                // With nothing to spend the volume does not rise.
                Partitioned spared(h, parts, start);
                lower_sending(spared, objective, {.part_weight = limit, .more_volume = 0});
                CHECK(sends_of(g.view(), spared.assignment(), parts).total() <= first.total());
            }
        INFO("all together " << before << " before and " << after << " after");
        CHECK(after < (objective == Sending::messages ? 0.95 : 0.9) * before);
    }
}

TEST_CASE("lowering sends from any partition: the objective never ends higher", "[contract][hypergraph]") {
    for (const Sending objective : {Sending::max_volume, Sending::messages})
        for (std::uint64_t seed = 1; seed <= 300; ++seed)
            for (const PartId parts : {3, 8}) {
                INFO("seed " << seed << ", " << parts << " parts, objective " << static_cast<int>(objective));
                const auto g = random_graph(40, 120, seed);
                const Hypergraph h = column_nets(g.view(), false);
                const auto start = seed % 2 == 0
                                       ? pack(h, parts)
                                       : partition_multilevel(h, parts, part_limit(h, parts, 0.3), fast, seed);
                Partitioned p(h, parts, start);
                lower_sending(p, objective, {.part_weight = part_limit(h, parts, 0.3), .more_volume = 0.2});
                CHECK(objective_of(sends_of(g.view(), p.assignment(), parts), objective) <=
                      objective_of(sends_of(g.view(), start, parts), objective));
            }
}
