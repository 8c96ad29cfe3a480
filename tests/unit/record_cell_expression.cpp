#include <catch2/catch.hpp>

#include "record/cell_expression.hpp"

using namespace gnnbench;

namespace {

/// What each cell's expression holds for, as CellFilter sees it.
void check_that_each_chooses_its_own(const std::vector<CellFields>& cells) {
    const std::vector<std::string> expressions = cell_expressions(cells);
    const CellFilter filter(cells);
    REQUIRE(expressions.size() == cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
        INFO(expressions[i]);
        const std::vector<bool> held = filter.where(expressions[i]);
        for (std::size_t other = 0; other < cells.size(); ++other) CHECK(held[other] == (other == i));
    }
}

CellFields cell(const std::string& scheme, std::int64_t gpus) {
    return {{"scheme", scheme}, {"gpus", gpus}, {"dataset", std::string("ring")}};
}

}  // namespace

TEST_CASE("One cell needs no expression, and cells that are the same get none of their own") {
    CHECK(cell_expressions(std::vector{cell("serial", 1)}) == std::vector<std::string>{""});
    CHECK(cell_expressions(std::vector{cell("serial", 1), cell("serial", 1)}) == std::vector<std::string>{"", ""});
    CHECK(cell_expressions({}).empty());
}

TEST_CASE("An expression names what tells its cell apart, and no more") {
    const std::vector cells{cell("serial", 1), cell("mg-gcn", 1), cell("mg-gcn", 4)};
    CHECK(cell_expressions(cells) == std::vector<std::string>{"scheme = 'serial'",
                                                              "scheme = 'mg-gcn' AND gpus = 1",
                                                              "scheme = 'mg-gcn' AND gpus = 4"});
    check_that_each_chooses_its_own(cells);
}

TEST_CASE("Parameters that only some schemes have, numbers and quotes choose too") {
    std::vector cells{cell("mg-gcn", 2), cell("mg-gcn", 2), cell("bns-gcn", 2), cell("bns-gcn", 2),
                      cell("it's", 2)};
    cells[0]["scheme.overlap"] = std::int64_t{1};
    cells[1]["scheme.overlap"] = std::int64_t{0};
    cells[2]["scheme.rate"] = 0.1;
    cells[3]["scheme.rate"] = 0.30000000000000004;
    check_that_each_chooses_its_own(cells);
}
