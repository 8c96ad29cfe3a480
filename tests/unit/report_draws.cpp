// Claims over draws: what numbers over the same seeds have in common is no doubt.
#include <catch2/catch.hpp>

#include <map>
#include <string>

#include "report/draws.hpp"
#include "report_claim_samples.hpp"

using namespace gnnbench;
using namespace gnnbench::claim_samples;
using Catch::Contains;

namespace {

/// A simulated mean over draws, which differ in their seed.
void mean_of(Numbers& n, const std::string& row, const std::map<std::string, double>& draws) {
    double sum = 0;
    for (const auto& [seed, value] : draws) sum += value;
    const auto count = static_cast<double>(draws.size());
    ResolvedCell& place = n.simulated(row, sum / count).place;
    place.without.clear();
    for (const auto& [seed, value] : draws) place.without[seed] = (sum - value) / (count - 1);
    place.ours = with_errors(*place.ours, place.without);
}

}  // namespace

TEST_CASE("what draws have in common is no doubt about a quotient, an order or a growth") {
    Numbers n;
    mean_of(n, "a", {{"1", 1.0}, {"2", 2.0}, {"3", 3.0}, {"4", 4.0}});
    mean_of(n, "b", {{"1", 1.31}, {"2", 2.59}, {"3", 3.89}, {"4", 5.21}});  // 1.3 times as much, draw for draw
    REQUIRE(n.at("a").place.ours->high > n.at("b").place.ours->low);
    PaperClaim bound = about({{"a", {"a"}}, {"b", {"b"}}});
    bound.value = "b / a";
    bound.at_least = 1.29;
    CHECK(n.ruling(bound) == Ruling::reproduced);
    bound.at_least = 1.31;
    CHECK(n.ruling(bound) == Ruling::within_2);
    PaperClaim order = about({{"low", {"a"}}, {"high", {"b"}}});
    order.order = {"low", "high"};
    CHECK(n.ruling(order) == Ruling::reproduced);
    order.order = {"high", "low"};
    CHECK(n.ruling(order) == Ruling::contradicted);
    PaperClaim growth = about({{"many", {"a", "b"}}});
    growth.rises = "many";
    CHECK(n.ruling(growth) == Ruling::reproduced);
    bound.numbers = {{"a", {"t", {"a", "a"}, {"c"}, {}}}, {"b", {"t", {"b", "b"}, {"c"}, {}}}};
    bound.at_least = 1.29;
    bound.over = OverCells::geometric_mean;
    CHECK(n.ruling(bound) == Ruling::reproduced);

    // The same draws in another order have nothing in common, and those of other seeds may have nothing.
    mean_of(n, "b", {{"4", 1.31}, {"3", 2.59}, {"2", 3.89}, {"1", 5.21}});
    CHECK(n.ruling(order) == Ruling::undecided);
    CHECK_THAT(n.judged(order).simulated.why, Contains("two standard errors of their difference"));
    mean_of(n, "b", {{"5", 1.31}, {"6", 2.59}, {"7", 3.89}, {"8", 5.21}});
    CHECK(n.ruling(order) == Ruling::undecided);
    // An interval of trials is another doubt, so that both intervals count.
    order.order = {"low", "high"};
    order.numbers["high"].rows = {"wide"};
    n.simulated("wide", 3.25).place.ours->high = 4;
    CHECK_THAT(n.judged(order).simulated.why, Contains("the intervals of two numbers overlap"));
}
