// What a rank's process is stated to hold, counted by hand on a path of four vertices.
#include <catch2/catch.hpp>

#include <vector>

#include <gnnbench/training/host_statement.hpp>

using namespace gnnbench;

namespace {

constexpr std::int64_t run = 65536;  // bytes that one fault maps

/// 0 – 1 – 2 – 3 with two features, in two parts {0, 1} and {2, 3}. Â has a diagonal: blocks (0, 0) and (0, 1) have 4 and
/// 1 nonzeros.
struct Path {
    std::vector<std::int64_t> indptr{0, 1, 3, 5, 6};
    std::vector<std::int32_t> indices{1, 0, 2, 1, 3, 2}, labels{0, 1, 0, 1};
    std::vector<float> features = std::vector<float>(8);
    std::vector<Split> split = std::vector<Split>(4, Split::train);
    DatasetView data{
        .name = "path",
        .graph = {.indptr = indptr, .indices = indices, .weights = {}, .symmetric = true, .self_loops = 0},
        .feature_count = 2,
        .features = features,
        .classes = 2,
        .labels = labels,
        .split = split};
    IndexMap index{{0, 2, 4}, true, {}};
    ModelSpec model{.widths = {2, 2}};
    TrainSpec train;
    Params params;
    Problem problem{data, index, model, train, params, nullptr, 2};
};

}  // namespace

TEST_CASE("host memory: the most of what is held, and of training's buffers") {
    const Path p;
    HostStatement m(p.problem, 4, true);
    m.take(100);
    m.take(50);
    m.let_go(120);
    m.take(10);
    CHECK(m.most(0).own == 150);
    CHECK(m.most(120).own == 160);  // 40 are left
    CHECK(m.most(0).mapped == 4);   // all splits
    CHECK(m.most(0).total() == 154);
    HostStatement elsewhere(p.problem, 4, false);
    elsewhere.take(30);
    CHECK(elsewhere.most(1000).own == 30);
}

TEST_CASE("host memory: blocks are let go one by one as they are prepared") {
    const Path p;
    HostStatement m(p.problem, 4, true);
    state_block_cuts(m, p.problem, 0, BlockLine::row, every_block);
    // Ids 2 · 8, scales 4 · 8, blocks 4 · 12 + 3 · 8 and 12 + 3 · 8; the first prepared: 8 for a nonzero, for a row pointer.
    const std::int64_t first = 4 * 8 + 3 * 8, second = 8 + 3 * 8;
    CHECK(m.most(0).own == 16 + 32 + 72 + 36 + first);
    CHECK(m.most(2000).own == first + second + 2000);
    CHECK(m.most(0).mapped == 4 + 2 * run);  // entries and row starts
    HostStatement elsewhere(p.problem, 4, false);
    state_block_cuts(elsewhere, p.problem, 0, BlockLine::row, every_block);
    CHECK(elsewhere.most(2000).own == 16 + 32 + 72 + 36 + 4 * 4);  // values on their way
}

TEST_CASE("host memory: a halo's matrices are held until both are prepared") {
    const Path p;
    const std::int64_t own = 4 * 8 + 3 * 8, remote = 8 + 3 * 8;
    HostStatement m(p.problem, 4, false);
    state_halo_cuts(m, p.problem, 0, Direction::forward, every_block);
    CHECK(m.most(0).own == 16 + 32 + 72 + 36);
    HostStatement both(p.problem, 4, true);
    state_halo_cuts(both, p.problem, 0, Direction::forward, every_block);
    CHECK(both.most(0).own == 72 + 36 + 4 + 4 + own + remote);  // one row is needed, one is sent
    CHECK(both.most(2000).own == own + remote + 2000);
    // Transposes too, of which the second has one row.
    HostStatement twice(p.problem, 4, true);
    state_halo_cuts(twice, p.problem, 0, Direction::forward, every_block, true);
    CHECK(twice.most(2000).own == 2 * own + remote + 8 + 2 * 8 + 2000);
}

TEST_CASE("host memory: a product copies columns of an operand whose rows it reads often") {
    const Path p;
    HostStatement m(p.problem, 4, true);
    m.prepares(2, 1, 4);
    CHECK(m.most(0).own == 2 * 64 * 4);  // while a format is chosen
    CHECK(m.most(1000).own == 4 * 8 + 3 * 8 + 1000 + 64 * 4);
    HostStatement seldom(p.problem, 4, true);
    seldom.prepares(2, 1, 3);
    CHECK(seldom.most(1000).own == 3 * 8 + 3 * 8 + 1000);
}

TEST_CASE("host memory: what goes to a device in host memory is counted once") {
    const Path p;
    HostStatement m(p.problem, 4, true);
    state_owned_rows(m, p.problem, 1);
    CHECK(m.most(0).own == 2 * 8 + 2 * (2 * 4 + 13));
    CHECK(m.most(1000).own == 2 * 8 + 1000);
    CHECK(m.most(0).mapped == 4 + 2 * run);  // features and labels
}

TEST_CASE("host memory: pages are counted once, in runs of what a fault maps") {
    MappedPages pages;
    pages.read(10, 10);
    CHECK(pages.bytes() == 0);
    pages.read(0, 1);
    pages.read(5, run);
    CHECK(pages.bytes() == run);
    pages.read(3 * run - 1, 3 * run + 1);
    CHECK(pages.bytes() == 3 * run);
}
