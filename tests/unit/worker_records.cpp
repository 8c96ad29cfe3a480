#include <catch2/catch.hpp>

#include "worker/records.hpp"

using namespace gnnbench;

TEST_CASE("what ranks say is written once where they say the same") {
    CHECK(told_by_ranks({"csr"}) == "csr");
    CHECK(told_by_ranks({"csr", "csr", "csr"}) == "csr");
    CHECK(told_by_ranks({"", ""}) == "");
    CHECK(told_by_ranks({"TN", "NN", "TN", ""}) == "ranks 0, 2: TN\nrank 1: NN\nrank 3: ");
}
