#include <set>
#include <utility>

#include <catch2/catch.hpp>

#include <gnnbench/random.hpp>
#include <gnnbench/usize.hpp>
#include <gnnbench/vertex_copies.hpp>

#include "contract/graphs.hpp"

using namespace gnnbench;

namespace {

/// Entries and roots in parts at random; a root need not have an entry of its vertex.
Partition random_cut(const GraphView& graph, Part parts, std::uint64_t seed) {
    RandomStream draw(seed, Draw::partition);
    const auto any = [&] { return static_cast<Part>(draw.below(static_cast<std::uint64_t>(parts))); };
    Partition p{.parts = parts, .part_of = {}, .column_part_of = {}};
    for (std::int64_t v = 0; v < graph.vertices(); ++v) p.part_of.push_back(any());
    for (std::int64_t e = 0; e < graph.edges(); ++e) p.part_of_entry.push_back(any());
    return p;
}

}  // namespace

TEST_CASE("copies of vertices are those of its definition: of rows, columns and roots") {
    for (const auto& g : graphs::of_every_kind())
        for (const Part parts : {1, 2, 5, 70}) {
            INFO(g.name << ", " << parts << " parts");
            const GraphView graph = g.view();
            const Partition p = random_cut(graph, parts, 8);
            const IndexMap index(p);
            std::set<std::pair<Part, std::int64_t>> copies;  // part, vertex; no roots
            std::vector<std::int64_t> entries(usize(parts));
            std::int64_t missing = graph.vertices();
            for (std::int64_t v = 0; v < graph.vertices(); ++v)
                for (auto e = graph.indptr[usize(v)]; e < graph.indptr[usize(v) + 1]; ++e) {
                    const Part part = p.part_of_entry[usize(e)];
                    ++entries[usize(part)];
                    missing -= graph.indices[usize(e)] == v;
                    for (const std::int64_t end : {v, std::int64_t{graph.indices[usize(e)]}})
                        if (p.part_of[usize(end)] != part) copies.emplace(part, end);
                }
            std::set<std::pair<Part, std::int64_t>> held, lent;
            std::int64_t nonzeros = 0;
            const std::vector<PartQuality> together = measure_copies(graph, p);
            for (Part part = 0; part < parts; ++part) {
                const VertexCopies c(graph, index, part);
                CHECK(c.entries() == entries[usize(part)]);
                for (const GlobalId v : c.held_vertices()) held.emplace(part, value(v));
                for (Part other = 0; other < parts; ++other)
                    for (const std::int32_t local : c.lent()[usize(other)])
                        lent.emplace(other, value(index.global(part, LocalId{local})));
                CHECK(c.quality().vertices == index.size(part) + c.held_rows());
                nonzeros += c.quality().nonzeros;
                CHECK(together[usize(part)].vertices == c.quality().vertices);
                CHECK(together[usize(part)].nonzeros == c.quality().nonzeros);
                CHECK(together[usize(part)].needed == c.held_rows());
            }
            CHECK(held == copies);
            CHECK(lent == copies);
            CHECK(nonzeros == graph.edges() + missing);
            CHECK(measure_quality(graph, p).connectivity_minus_one == std::ssize(copies));
            CHECK(measure_quality(graph, p).edge_cut == 0);
        }
}
