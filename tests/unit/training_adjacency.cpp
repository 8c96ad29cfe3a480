#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include <gnnbench/ordering.hpp>
#include <gnnbench/training/halo.hpp>
#include <gnnbench/training/sparse_blocks.hpp>
#include <gnnbench/transpose.hpp>

#include "contract/graphs.hpp"

using namespace gnnbench;

namespace {

/// Â as a dense matrix.
HostMatrix dense(const Adjacency& a) {
    HostMatrix m(a.vertices(), a.vertices());
    for (std::int64_t v = 0; v < a.vertices(); ++v) a.row(v, [&](std::int64_t j, double w) { m(v, j) += w; });
    return m;
}

/// 0 ← 1 (weight 2), 0 ← 2 (3), 1 ← 1 (5); vertex 2 aggregates from none.
graphs::NamedGraph three_vertices() { return {"three", {0, 2, 3, 3}, {1, 2, 1}, {2, 3, 5}, false}; }

Partition split_in(std::int64_t vertices, Part parts) {
    Partition p{.parts = parts, .part_of = {}, .column_part_of = {}};
    for (std::int64_t v = 0; v < vertices; ++v) p.part_of.push_back(static_cast<Part>((v * 7 + v / 3) % parts));
    return p;
}

}  // namespace

TEST_CASE("mean normalisation divides rows by their sums, with a missing diagonal counted as 1") {
    const auto g = three_vertices();
    const HostMatrix a = dense(Adjacency(g.view(), {.widths = {}, .normalisation = Normalisation::mean}));
    CHECK(a(0, 0) == Approx(1.0 / 6));
    CHECK(a(0, 1) == Approx(2.0 / 6));
    CHECK(a(0, 2) == Approx(3.0 / 6));
    CHECK(a(1, 1) == Approx(1));  // its own loop of weight 5 stays the only entry
    CHECK(a(2, 2) == Approx(1));
}

TEST_CASE("symmetric normalisation uses row sums and column sums; a zero degree gives 0") {
    const auto g = three_vertices();
    const Adjacency with_loops(g.view(), {.widths = {}, .normalisation = Normalisation::symmetric});
    CHECK(with_loops.nonzeros() == 5);
    const HostMatrix a = dense(with_loops);
    // row sums 6, 5, 1; column sums 1, 7, 4
    CHECK(a(0, 1) == Approx(2 / std::sqrt(6.0 * 7)));
    CHECK(a(0, 2) == Approx(3 / std::sqrt(6.0 * 4)));
    CHECK(a(1, 1) == Approx(5 / std::sqrt(5.0 * 7)));
    const HostMatrix none =
        dense(Adjacency(g.view(), {.widths = {}, .normalisation = Normalisation::symmetric, .self_loops = false}));
    CHECK(none(2, 2) == 0);
    CHECK(none(0, 2) == Approx(3 / std::sqrt(5.0 * 3)));
    // vertex 0 is nobody's neighbour: its column sum is 0, and no entry divides by it
    for (std::int64_t v = 0; v < 3; ++v) CHECK(none(v, 0) == 0);
}

TEST_CASE("GIN's matrix is the graph's with 1 + ε more on every diagonal entry, there before or not") {
    const auto g = three_vertices();
    ModelSpec gin{.kind = LayerKind::gin, .widths = {}, .normalisation = Normalisation::none, .self_loops = false};
    gin.epsilon = 0.5;
    const Adjacency with_epsilon(g.view(), gin);
    CHECK(with_epsilon.nonzeros() == 5);
    const HostMatrix a = dense(with_epsilon);
    CHECK(a(0, 0) == 1.5);
    CHECK(a(0, 1) == 2);
    CHECK(a(0, 2) == 3);
    CHECK(a(1, 1) == 5 + 1.5);
    CHECK(a(2, 2) == 1.5);
}

TEST_CASE("GraphSAGE's matrix is the mean over neighbours alone; a vertex without any gets 0") {
    const auto g = three_vertices();
    const HostMatrix a = dense(Adjacency(
        g.view(),
        {.kind = LayerKind::sage, .widths = {}, .normalisation = Normalisation::mean, .self_loops = false}));
    CHECK(a(0, 0) == 0);
    CHECK(a(0, 1) == Approx(2.0 / 5));
    CHECK(a(0, 2) == Approx(3.0 / 5));
    CHECK(a(2, 2) == 0);
}

namespace {

/// 0 – 1 (weight −5), 0 – 2 (1), 1 – 2 (1), 2 – 3 (2): with self-loops, rows add up to −3, −3, 5, 3.
graphs::NamedGraph signed_weights() {
    return {"signed", {0, 2, 4, 7, 8}, {1, 2, 0, 2, 0, 1, 3, 2}, {-5, 1, -5, 1, 1, 1, 2, 2}, true};
}

std::string why(const graphs::NamedGraph& g, Normalisation n, bool self_loops = true) {
    return why_weights_unusable(Adjacency(g.view(), {.widths = {}, .normalisation = n, .self_loops = self_loops}));
}

}  // namespace

TEST_CASE("weights that add up to less than 0 are refused with the sum, the row and the normalisation") {
    const auto g = signed_weights();
    for (const auto& [n, name] : {std::pair{Normalisation::symmetric, "normalisation: symmetric"},
                                  std::pair{Normalisation::mean, "normalisation: mean"}}) {
        const std::string text = why(g, n);
        CHECK_THAT(text, Catch::Contains(name) && Catch::Contains("weights") && Catch::Contains("row 0") &&
                             Catch::Contains("-3"));
    }
    CHECK(why(g, Normalisation::none).empty());
    const std::vector<GlobalId> ids{GlobalId{70}, GlobalId{71}, GlobalId{72}, GlobalId{73}};
    CHECK_THAT(why_weights_unusable(Adjacency(g.view(), {.widths = {}}), ids),
               Catch::Contains("row 70") && Catch::Contains("batch"));
}

TEST_CASE(
    "weights that attention cannot multiply exponentials by are refused with the edge, in batches by its ids") {
    graphs::NamedGraph g = signed_weights();
    const ModelSpec gat{.kind = LayerKind::gat, .widths = {}, .normalisation = Normalisation::none};
    CHECK_THAT(why_weights_unusable(Adjacency(g.view(), gat)),
               Catch::Contains("layers: gat") && Catch::Contains("from 1 to 0 has -5"));
    g.weights = {5, 1, 5, 1, 1, 1, 0, 2};
    const std::vector<GlobalId> ids{GlobalId{70}, GlobalId{71}, GlobalId{72}, GlobalId{73}};
    CHECK_THAT(why_weights_unusable(Adjacency(g.view(), gat), ids), Catch::Contains("from 73 to 72 has 0"));
    g.weights = {5, 1, 5, 1, 1, 1, 2, 2};
    CHECK(why_weights_unusable(Adjacency(g.view(), gat)).empty());
    g.weights.clear();
    CHECK(why_weights_unusable(Adjacency(g.view(), gat)).empty());
}

TEST_CASE("a sum of exactly 0 is refused where weights cancel, and not where a vertex has none") {
    graphs::NamedGraph g = signed_weights();
    g.weights = {-1, 1, -1, 1, 1, 1, 2, 2};  // without self-loops, rows 0 and 1 add up to 0
    CHECK_THAT(why(g, Normalisation::symmetric, false),
               Catch::Contains("row 0") && Catch::Contains("add up to 0"));
    CHECK(why(g, Normalisation::symmetric, true).empty());
    g.weights = {0, 1, 0, 0, 1, 0, 2, 2};  // row 1 has zeros alone
    CHECK(why(g, Normalisation::symmetric, false).empty());
    CHECK(why(three_vertices(), Normalisation::symmetric, false).empty());  // vertex 2 aggregates from none
    CHECK(why(three_vertices(), Normalisation::mean, false).empty());
}

TEST_CASE("columns of a directed graph are refused like rows, whether its transpose is at hand or not") {
    // 0 ← 1 (−2), 0 ← 2 (4), 1 ← 2 (3), 2 ← 1 (1): column 1 adds up to −1, all rows to more than 0.
    const graphs::NamedGraph g{"directed", {0, 2, 3, 4}, {1, 2, 2, 1}, {-2, 4, 3, 1}, false};
    CHECK_THAT(why(g, Normalisation::symmetric, false), Catch::Contains("column 1") && Catch::Contains("-1"));
    CHECK(why(g, Normalisation::mean, false).empty());
    const WithTranspose with(g.view());
    CHECK_THAT(why_weights_unusable(Adjacency(with.view(), {.widths = {}, .self_loops = false})),
               Catch::Contains("column 1"));
    graphs::NamedGraph cancels = g;
    cancels.weights = {-1, 4, 3, 1};
    CHECK_THAT(why(cancels, Normalisation::symmetric, false), Catch::Contains("column 1 "));
}

TEST_CASE("blocks put together are the matrix, backward its transpose") {
    const auto g = graphs::directed_random(40, 200, true);
    const Adjacency a(g.view(), {});
    const HostMatrix whole = dense(a);
    const Partition partition = split_in(40, 3);
    const IndexMap index(partition);
    for (const Direction d : {Direction::forward, Direction::backward})
        for (Part i = 0; i < 3; ++i) {
            const auto blocks = block_row(a, index, i, d);
            for (Part j = 0; j < 3; ++j) {
                const Csr& b = blocks[static_cast<std::size_t>(j)];
                HostMatrix again(b.rows, b.cols);
                for (std::int64_t r = 0; r < b.rows; ++r)
                    for (auto e = b.indptr[static_cast<std::size_t>(r)];
                         e < b.indptr[static_cast<std::size_t>(r) + 1]; ++e) {
                        const auto k = static_cast<std::size_t>(e);
                        if (k > static_cast<std::size_t>(b.indptr[static_cast<std::size_t>(r)]))
                            CHECK(b.indices[k - 1] < b.indices[k]);
                        again(r, b.indices[k]) = b.values[k];
                    }
                for (std::int64_t r = 0; r < b.rows; ++r)
                    for (std::int64_t c = 0; c < b.cols; ++c) {
                        const auto row = value(index.global(i, LocalId{static_cast<std::int32_t>(r)}));
                        const auto col = value(index.global(j, LocalId{static_cast<std::int32_t>(c)}));
                        CHECK(again(r, c) == (d == Direction::forward ? whole(row, col) : whole(col, row)));
                    }
            }
        }
}

TEST_CASE("a column of blocks is made of the rows' blocks, in both directions") {
    const auto g = graphs::directed_random(40, 200, true);
    const Adjacency a(g.view(), {});
    const Partition partition = split_in(40, 3);
    const IndexMap index(partition);
    for (const Direction d : {Direction::forward, Direction::backward})
        for (Part j = 0; j < 3; ++j) {
            const auto column = block_column(a, index, j, d);
            REQUIRE(column.size() == 3);
            for (Part i = 0; i < 3; ++i) {
                const Csr wanted = block_row(a, index, i, d)[static_cast<std::size_t>(j)];
                const Csr& found = column[static_cast<std::size_t>(i)];
                CHECK(found.rows == wanted.rows);
                CHECK(found.cols == wanted.cols);
                CHECK(found.indptr == wanted.indptr);
                CHECK(found.indices == wanted.indices);
                CHECK(found.values == wanted.values);
            }
        }
}

TEST_CASE(
    "what is cut with the transpose at hand, and on four threads, is what a walk over the whole graph cuts") {
    for (const bool weighted : {false, true})
        for (const bool by_id : {true, false}) {
            const auto g = graphs::directed_random(60, 500, weighted);
            const auto both = graphs::with_transpose(g);
            Partition p = split_in(60, 4);
            if (!by_id)
                for (std::int32_t v = 0; v < 60; ++v) p.order.push_back((v * 7 + 3) % 60);
            const IndexMap index(p);
            for (const Normalisation n : {Normalisation::symmetric, Normalisation::mean, Normalisation::none}) {
                const ModelSpec model{.widths = {}, .normalisation = n};
                const Adjacency walked(g.view(), model), read(both.view(), model, 4);
                CHECK_FALSE(walked.reads(Direction::backward));
                CHECK(walked.nonzeros() == read.nonzeros());
                for (const Direction d : {Direction::forward, Direction::backward})
                    for (Part i = 0; i < 4; ++i) {
                        CHECK(block_row(walked, index, i, d) == block_row(read, index, i, d));
                        const HoldsBlock some = [](Part j) { return j != 2; };
                        const Halo a = make_halo(walked, index, i, d, some),
                                   b = make_halo(read, index, i, d, some);
                        CHECK(a.needed == b.needed);
                        CHECK(a.sent == b.sent);
                        CHECK(a.own == b.own);
                        CHECK(a.remote == b.remote);
                    }
            }
        }
}

namespace {

std::vector<graphs::NamedGraph> graphs_to_tile() {
    return {graphs::without_edges(3),
            graphs::directed_star(9),
            graphs::looped_path(17),
            graphs::known_symmetric(graphs::disconnected(3)),
            graphs::directed_random(60, 400, false),
            graphs::directed_random(40, 200, true)};
}

/// Vertices in `parts` runs.
IndexMap runs(std::int64_t n, Part parts) {
    std::vector<std::int64_t> offsets;
    for (Part p = 0; p <= parts; ++p) offsets.push_back(n * p / parts);
    return {std::move(offsets), true, {}};
}

}  // namespace

TEST_CASE("blocks cut from tiles are those cut from rows, to the bit") {
    const std::vector<std::pair<std::int64_t, std::int64_t>> shapes{{1, 1}, {1, 4}, {3, 5}, {7, 2}, {100, 100}};
    for (const auto& g : graphs_to_tile())
        for (const auto& [down, across] : shapes)
            for (const Normalisation normalisation : {Normalisation::symmetric, Normalisation::mean}) {
                const auto tiled = graphs::in_tiles(g, down, across);
                INFO(tiled.name);
                const ModelSpec model{.widths = {}, .normalisation = normalisation};
                const Adjacency from_rows(g.view(), model), from_tiles(tiled.view(), model, 2);
                const std::int64_t n = from_rows.vertices();
                for (const IndexMap& index : {runs(n, 3), IndexMap(split_in(n, 3))})
                    for (const Direction d : {Direction::forward, Direction::backward})
                        for (const std::vector<Part>& panels : {std::vector<Part>{1}, {0, 1}, {2}, {0, 2}, {}})
                            for (Part i = 0; i < 3; ++i) {
                                const PartRange rows{.first = i, .count = 1};
                                CHECK(sparse_blocks(from_tiles, index, rows, panels, d) ==
                                      sparse_blocks(from_rows, index, rows, panels, d));
                                CHECK(block_nonzeros(from_tiles, index, rows, panels, d) ==
                                      block_nonzeros(from_rows, index, rows, panels, d));
                            }
            }
}

TEST_CASE("what needs some of the columns reads their tiles alone") {
    const auto g = graphs::in_tiles(graphs::directed_random(60, 900, false), 4, 6);
    const std::vector<std::int32_t> unreadable(g.indices.size(), -1);
    GraphView broken = g.view();
    broken.indices = unreadable;
    broken.self_loops = 0;
    auto few = g.tiles;
    for (std::int64_t r = 0; r < few.down; ++r)  // of the six tiles beside one another, the last four
        for (auto e = few.starts[usize(r * 6 + 2)]; e < few.starts[usize(r * 6 + 6)]; ++e)
            few.indices[usize(e)] = -1;
    broken.tiles = few.view();
    const ModelSpec model{.widths = {}, .normalisation = Normalisation::none, .self_loops = false};
    const Adjacency whole(g.view(), model), tiled(broken, model);
    const Part panel[] = {0};  // columns 0 … 19 of 60: the first two tiles
    for (Part i = 0; i < 3; ++i)
        CHECK(sparse_blocks(tiled, runs(60, 3), {.first = i, .count = 1}, panel, Direction::forward) ==
              sparse_blocks(whole, runs(60, 3), {.first = i, .count = 1}, panel, Direction::forward));
    const auto chosen = [&](std::vector<ColumnRange> columns) {
        return tiled.tiles_of(Direction::forward, columns).across;
    };
    CHECK(chosen({{0, 60}}).empty());
    CHECK(chosen({{20, 21}}) == std::vector<std::int64_t>{2});
    CHECK(chosen({{5, 12}, {12, 15}, {41, 60}}) == std::vector<std::int64_t>{0, 1, 4, 5});
}

TEST_CASE("a transpose on four threads is that on one") {
    const auto g = graphs::directed_random(60, 2000, true);
    const Adjacency a(g.view(), {});
    const Csr whole = block_row(a, IndexMap::one_part(60), 0, Direction::forward)[0];
    REQUIRE(whole.nonzeros() > 4 * whole.cols);  // so that each thread counts for itself
    const Csr once = transposed(whole);
    CHECK(transposed(whole, 4) == once);
    CHECK(transposed(once, 3) == whole);
    CHECK(once == block_row(a, IndexMap::one_part(60), 0, Direction::backward)[0]);
    CHECK(transposed(Csr(), 4).nonzeros() == 0);
}

TEST_CASE("a halo's columns are its blocks' without the empty ones, in the order of what is received") {
    const auto g = graphs::directed_random(60, 500, true);
    const Adjacency a(g.view(), {});
    const IndexMap index(split_in(60, 4));
    for (Part i = 0; i < 4; ++i) {
        const Halo h = make_halo(a, index, i, Direction::forward, every_block);
        const auto blocks = block_row(a, index, i, Direction::forward);
        CHECK(h.own == blocks[usize(i)]);
        std::vector<Csr> cut(4);
        h.each_block([&](Part j, Csr b) { cut[usize(j)] = std::move(b); });
        for (Part j = 0; j < 4; ++j) {
            if (j == i) continue;
            Csr block = blocks[usize(j)];
            const auto& needed = h.needed[usize(j)];
            CHECK(std::ranges::is_sorted(needed));
            for (std::int32_t& c : block.indices) {
                const auto at = std::ranges::lower_bound(needed, c);
                REQUIRE(at != needed.end());
                REQUIRE(*at == c);
                c = static_cast<std::int32_t>(at - needed.begin());
            }
            block.cols = std::ssize(needed);
            CHECK(cut[usize(j)] == block);
        }
    }
}

TEST_CASE("partition report, halo and block counts give one number: the sum of connectivity - 1") {
    for (const auto& g :
         {graphs::directed_random(60, 400, false), graphs::directed_star(9), graphs::disconnected(3)}) {
        const auto n = g.view().vertices();
        const Partition partition = split_in(n, 4);
        const IndexMap index(partition);
        const Adjacency a(g.view(), {});
        std::int64_t counted = 0, needed = 0, sent = 0;
        for (Part i = 0; i < 4; ++i) {
            const Halo h = make_halo(a, index, i, Direction::forward, every_block);
            needed += h.needed_rows();
            sent += h.sent_rows();
            const BlockCounts counts(a, index, i);
            for (Part j = 0; j < 4; ++j)
                if (i != j) counted += counts.nonzero_columns(i, j);
        }
        INFO(g.name);
        CHECK(counted == measure_quality(g.view(), partition).connectivity_minus_one);
        CHECK(needed == counted);
        CHECK(sent == counted);
    }
}

TEST_CASE("columns of a block's rows ascend, whatever the order inside parts") {
    const auto g = graphs::directed_random(60, 500, true);
    const Adjacency a(g.view(), {});
    Partition p{.parts = 3, .part_of = {}, .column_part_of = {}, .order = random_order(60, 1)};
    for (std::int64_t v = 0; v < 60; ++v) p.part_of.push_back(static_cast<Part>(v % 3));
    const IndexMap index(p);
    for (const Direction d : {Direction::forward, Direction::backward})
        for (const Csr& block : block_row(a, index, 1, d))
            for (std::size_t r = 0; r + 1 < block.indptr.size(); ++r)
                CHECK(std::is_sorted(block.indices.begin() + block.indptr[r],
                                     block.indices.begin() + block.indptr[r + 1]));
}

TEST_CASE("lines with few entries bring the scales of their columns alone, the same to the bit") {
    for (const graphs::NamedGraph& g : graphs::of_every_kind())
        for (const Normalisation n : {Normalisation::symmetric, Normalisation::mean, Normalisation::none})
            for (const Direction d : {Direction::forward, Direction::backward}) {
                INFO(g.name << ", normalisation " << static_cast<int>(n) << ", direction " << static_cast<int>(d));
                const GraphView graph = g.view();
                const Adjacency a(graph, {.widths = {}, .normalisation = n});
                if (!a.reads(d)) continue;
                for (std::int64_t v = 0; v < a.vertices(); ++v) {
                    // One line has no more entries than there are columns.
                    const Lines one(a, d, {GlobalId{v}}, Entries::values);
                    std::vector<std::pair<std::int64_t, double>> found, wanted;
                    one.visit(0, [&](GlobalId c, double w) { found.emplace_back(value(c), w); });
                    a.line(d, v, {}, [&](std::int64_t c, double w) { wanted.emplace_back(c, w); });
                    CHECK(found == wanted);
                }
            }
}
