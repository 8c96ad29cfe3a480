#include <gnnbench/error.hpp>
#include <gnnbench/random.hpp>

#include <data/edges.hpp>
#include <unit/data_support.hpp>

using namespace gnnbench;
using namespace gnnbench::test;

namespace {

using Ids = std::vector<std::int32_t>;

/// 0 → 1 twice, 1 → 0, 2 → 2, 2 → 0; weights 1 2 3 4 5.
EdgeList listed(bool weighted) {
    EdgeList e{.vertices = 3,
               .source = {0, 0, 1, 2, 2},
               .target = {1, 1, 0, 2, 0},
               .weight = {},
               .line = {},
               .file = "e.txt"};
    if (weighted) e.weight = {1, 2, 3, 4, 5};
    return e;
}

}  // namespace

TEST_CASE("a repeat under `repeats: error` names both lines") {
    auto edges = listed(false);
    edges.line = {1, 2, 3, 4, 7};
    auto message =
        message_of<DataError>([&] { build_graph(edges, {Listing::directed, Loops::keep, Repeats::error}); });
    CHECK_THAT(message, says("e.txt:2: edge 0 → 1"));
    CHECK_THAT(message, says("first on line 1"));
}

TEST_CASE("a listed edge u v is entry u of row v") {
    auto g = build_graph(listed(true), {Listing::directed, Loops::keep, Repeats::drop});
    CHECK(g.indptr == std::vector<std::int64_t>{0, 2, 3, 4});
    CHECK(g.indices == Ids{1, 2, 0, 2});
    CHECK(g.weights == std::vector<float>{3, 5, 1, 4});  // of repeats the first counts
    CHECK(g.listed_edges == 5);
    CHECK(g.repeats_merged == 1);
    CHECK(g.loops_dropped == 0);
}

TEST_CASE("repeats add up, loops go") {
    auto g = build_graph(listed(true), {Listing::directed, Loops::drop, Repeats::sum});
    CHECK(g.indices == Ids{1, 2, 0});
    CHECK(g.weights == std::vector<float>{3, 5, 3});
    CHECK(g.loops_dropped == 1);
    g = build_graph(listed(false), {Listing::directed, Loops::keep, Repeats::sum});
    CHECK(g.weights == std::vector<float>{1, 1, 2, 1});
}

TEST_CASE("undirected edges are stored both ways, and their reverse is a repeat") {
    auto g = build_graph(listed(true), {Listing::undirected, Loops::keep, Repeats::sum});
    CHECK(g.indptr == std::vector<std::int64_t>{0, 2, 3, 5});
    CHECK(g.indices == Ids{1, 2, 0, 0, 2});
    CHECK(g.weights == std::vector<float>{6, 5, 6, 5, 4});
    CHECK(g.repeats_merged == 2);
    auto again = listed(false);
    again.source.push_back(2);
    again.target.push_back(2);
    CHECK(build_graph(again, {Listing::undirected, Loops::keep, Repeats::drop}).repeats_merged == 3);
}

TEST_CASE("a mirrored listing must list both ends, a completed one gets them") {
    EdgeList e{.vertices = 3,
               .source = {1, 0, 2},
               .target = {0, 1, 0},
               .weight = {},
               .line = {2, 3, 4},
               .file = "g.graph"};
    auto message = message_of<DataError>([&] { build_graph(e, {.listing = Listing::mirrored}); });
    CHECK_THAT(message, says("g.graph:4: vertex 1 lists 3, but 3 does not list 1"));
    auto g = build_graph(e, {.listing = Listing::completed});
    CHECK(g.indices == Ids{1, 2, 0, 0});
    CHECK(g.listed_edges == 3);
    e.source.push_back(0), e.target.push_back(2), e.weight = {1, 1, 2, 3}, e.line.push_back(5);
    CHECK_THAT(message_of<DataError>([&] { build_graph(e, {.listing = Listing::mirrored}); }), says("has weight"));
    e.weight = {1, 1, 2, 2};
    CHECK(build_graph(e, {.listing = Listing::mirrored}).indices == Ids{1, 2, 0, 0});
}

TEST_CASE("unweighted edges are built faster, and the same, with the same counts") {
    RandomStream draw(3, Draw::graph);
    EdgeList e{.vertices = 40, .source = {}, .target = {}, .weight = {}, .line = {}, .file = "e.txt"};
    for (int i = 0; i < 900; ++i) {  // repeats of every kind, loops among them
        e.source.push_back(static_cast<std::int32_t>(draw.below(38)));
        e.target.push_back(i % 10 == 0 ? e.source.back() : static_cast<std::int32_t>(draw.below(38)));
    }
    EdgeList weighted = e;
    weighted.weight.assign(900, 1);
    for (const Listing listing : {Listing::directed, Listing::undirected, Listing::completed})
        for (const Loops loops : {Loops::keep, Loops::drop}) {
            const RawGraph fast = build_graph(e, {listing, loops, Repeats::drop});
            const RawGraph slow = build_graph(weighted, {listing, loops, Repeats::drop});
            CHECK(fast.indptr == slow.indptr);
            CHECK(fast.indices == slow.indices);
            CHECK(fast.weights.empty());
            CHECK(fast.listed_edges == slow.listed_edges);
            CHECK(fast.loops_dropped == slow.loops_dropped);
            CHECK(fast.repeats_merged == slow.repeats_merged);
        }
}

TEST_CASE("patterns agree with the general builder, and unite") {
    auto g = build_pattern(3, {0, 0, 1, 2, 2}, {1, 1, 0, 2, 0}, false);
    auto same = build_graph(listed(true), {Listing::undirected, Loops::drop, Repeats::drop});
    CHECK(g.indices == same.indices);
    CHECK(g.indptr == same.indptr);
    CHECK(g.repeats_merged == 2);
    CHECK(g.loops_dropped == 1);
    auto all = merge_patterns(g, build_pattern(3, {1, 0}, {2, 2}, true));
    CHECK(all.indptr == std::vector<std::int64_t>{0, 2, 3, 5});
    CHECK(all.indices == Ids{1, 2, 0, 0, 1});
}
