// Ranks of a grid, of a store in tiles: each reads the tiles of its own columns, and no row.
#include <catch2/catch.hpp>

#include "contract/strategy_case.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

/// Directed, 40 vertices, without self-loops.
graphs::NamedGraph in_unreadable_rows(std::int64_t down, std::int64_t across) {
    graphs::Entries entries;
    for (std::int32_t v = 0; v < 40; ++v)
        for (const std::int32_t u : {(v * 7 + 3) % 40, (v * 11 + 5) % 40, (v * v + 1) % 40})
            if (u != v) entries.emplace_back(v, u);
    auto g = graphs::in_tiles(graphs::from_entries("without self-loops", 40, entries), down, across);
    g.rows_unreadable = true;
    return g;
}

}  // namespace

TEST_CASE("on a grid that cuts rows and columns, ranks read tiles in place of rows") {
    if (ProcessGroup::world().size() != 8) return;  // 2 x 2 x 2: no rank has all columns
    const std::map<std::string, std::string> plexus{
        {"grid", "given"}, {"x", "2"}, {"y", "2"}, {"z", "2"}, {"permutation", "none"}};
    for (const auto& [name, set] : {std::pair{"plexus-3d", plexus}, {"cagnet-3d", {}}})
        for (const auto& [down, across] : {std::pair{4, 4}, {3, 8}}) {
            const StrategyVariant s = variants(name, set).front();
            const Outcome o = run(s, "block", {"reference", DType::f64}, {.name = "default"},
                                  in_unreadable_rows(down, across));
            INFO(name << " on " << down << " x " << across << " tiles: loss error " << o.agreement.loss_error
                      << ", gradient error " << o.agreement.gradient_error << " at " << o.agreement.worst);
            REQUIRE(o.skipped == "");
            CHECK(o.agreement.holds());
            CHECK(o.volume_difference == "");
        }
}
