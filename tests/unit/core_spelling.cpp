#include <catch2/catch.hpp>

#include <gnnbench/spelling.hpp>

using namespace gnnbench;

TEST_CASE("spelling: nothing near gives nothing", "[core]") {
    const std::vector<std::string> words = {"block", "random", "metis"};
    CHECK(nearest("hypergraph", words).empty());
    CHECK(nearest("", words).empty());
    CHECK(nearest("metis", std::vector<std::string>{}).empty());
}

TEST_CASE("spelling: one letter more, less, other or swapped", "[core]") {
    CHECK(spelling_distance("metis", "metis") == 0);
    CHECK(spelling_distance("", "abc") == 3);
    CHECK(spelling_distance("metsi", "metis") == 1);
    CHECK(spelling_distance("mtis", "metis") == 1);
    CHECK(spelling_distance("mettis", "metis") == 1);
    CHECK(spelling_distance("netis", "metis") == 1);
    CHECK(spelling_distance("kitten", "sitting") == 3);
}

TEST_CASE("spelling: the nearest wins, the first of equals", "[core]") {
    const std::vector<std::string> words = {"cagnet-1d", "cagnet-2d", "mg-gcn"};
    CHECK(nearest("cagnet1d", words) == "cagnet-1d");
    CHECK(nearest("cagnet-3d", words) == "cagnet-1d");
    CHECK(nearest("mggcn", words) == "mg-gcn");
}
