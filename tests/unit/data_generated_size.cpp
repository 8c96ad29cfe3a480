// What plan says of a dataset before it is generated is what is then generated.
#include <catch2/catch.hpp>

#include "data/generate.hpp"
#include "data/generated_size.hpp"

using namespace gnnbench;
using Catch::Contains;
using nlohmann::json;

namespace {

/// The sizes that are said, beside those that the generator makes.
void check_size(const std::string& kind, const json& given) {
    const GeneratedSize said = generated_size(kind, given);
    const RawDataset made = generate(kind, given);
    INFO(kind << " " << given.dump());
    CHECK(said.name == made.name);
    CHECK(said.vertices == static_cast<std::int64_t>(made.graph.indptr.size()) - 1);
    const auto entries = static_cast<double>(made.graph.indices.size());
    CHECK(static_cast<double>(said.entries) == Approx(entries).epsilon(0.03));
    CHECK(said.store_bytes > static_cast<std::int64_t>(4 * entries));
    CHECK(said.peak_bytes > said.store_bytes);
}

}  // namespace

TEST_CASE("sizes are those that are generated") {
    check_size("dcsbm", {{"vertices", 3000}, {"average_degree", 12}});
    check_size("rmat", {{"scale", 12}, {"average_degree", 8}, {"directed", true}});
    check_size("grid", {{"width", 100}, {"height", 40}});
    check_size("bter", {{"vertices", 3000}, {"average_degree", 12}, {"clustering", 0.2}});
    check_size("configuration", {{"vertices", 3000}, {"average_degree", 12}, {"multi_label", true}});
    check_size("like", {{"profile", "arxiv"}, {"scale", 0.02}});
}

TEST_CASE("what cannot be reached is said, with what can") {
    const GeneratedSize dense = generated_size("rmat", {{"vertices", 50}, {"average_degree", 100}});
    CHECK(dense.entries == 50 * 49);
    CHECK_THAT(dense.unreachable,
               Contains("average_degree 100 asks for 5000 entries, but 50 vertices have room for at most 2450"));
    const GeneratedSize blocks =
        generated_size("dcsbm", {{"vertices", 100}, {"average_degree", 60}, {"communities", 10}, {"mixing", 0}});
    CHECK(blocks.entries == 900);
    CHECK_THAT(blocks.unreachable,
               Contains("10 communities of 10 vertices with mixing 0 have room for at most 900"));
    check_size(
        "dcsbm",
        {{"vertices", 100}, {"average_degree", 60}, {"communities", 10}, {"mixing", 0}, {"order", "community"}});
    CHECK(generated_size("dcsbm", {{"vertices", 1000}}).unreachable.empty());
}
