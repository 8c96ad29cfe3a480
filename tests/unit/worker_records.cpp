#include <catch2/catch.hpp>

#include "worker/records.hpp"

using namespace gnnbench;

TEST_CASE("what ranks say is written once where they say the same") {
    CHECK(merged_by_rank({"csr"}) == "csr");
    CHECK(merged_by_rank({"csr", "csr", "csr"}) == "csr");
    CHECK(merged_by_rank({"", ""}) == "");
    CHECK(merged_by_rank({"TN", "NN", "TN", ""}) == "ranks 0, 2: TN\nrank 1: NN\nrank 3: ");
}
