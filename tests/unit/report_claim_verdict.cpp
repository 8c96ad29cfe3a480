// What decides a claim, and what cannot carry it, from cells made by hand.
#include <catch2/catch.hpp>

#include "report/claims_list.hpp"
#include "report_claim_samples.hpp"

using namespace gnnbench;
using namespace gnnbench::claim_samples;
using Catch::Contains;

namespace {

PaperClaim quotient(double factor) {
    PaperClaim c = about({{"a", {"a"}}, {"b", {"b"}}});
    c.value = "a / b";
    c.factor = factor;
    return c;
}

const std::vector<double> ten{10, 10.1, 9.9}, five{5, 5.05, 4.95};

}  // namespace

TEST_CASE("numbers that cannot carry a claim leave it undecided, and the reason says why") {
    Numbers n;
    CHECK(n.ruling(quotient(2)) == Ruling::undecided);
    CHECK(n.why(quotient(2)) == "never run");
    n.add("a", ten);
    CHECK_THAT(n.why(quotient(2)), Contains("1 of 2 numbers are missing"));
    n.add("b", five);
    CHECK(n.ruling(quotient(2)) == Ruling::reproduced);

    const auto spoilt = [&](auto change) {
        Numbers m;
        m.add("a", ten);
        change(m.add("b", five));
        CHECK(m.ruling(quotient(2)) == Ruling::undecided);
        return m.why(quotient(2));
    };
    CHECK_THAT(spoilt([](Made& m) { m.place.papers_setting = false; }), Contains("another setting"));
    CHECK_THAT(spoilt([](Made& m) { m.cell.oversubscribed = true; }), Contains("more ranks than cores"));
    CHECK_THAT(spoilt([](Made& m) { m.cell.verification.status = VerificationStatus::failed; }),
               Contains("failed its verification"));
    CHECK_THAT(spoilt([](Made& m) { m.cell.volume_differs = true; }), Contains("counted bytes"));
    CHECK_THAT(spoilt([](Made& m) { m.place.incomplete = true; }), Contains("some of the cells"));
    // A table that names no machine has simulated cells among the measured ones.
    Numbers m;
    m.add("a", ten);
    m.add("b", five).cell.simulated = "dgx-v100";
    const JudgedClaim mixed =
        judge(quotient(2), [&](const std::string&, const std::string& row, const std::string&, EvidenceKind kind) {
            return kind == EvidenceKind::measured ? &m.at(row).place : nullptr;
        });
    CHECK(mixed.measured.why == "simulated, and not measured");
    CHECK_THAT(spoilt([](Made& m) { m.place.ours = estimate(std::vector<double>{5, 5}); }),
               Contains("fewer than three trials"));
}

TEST_CASE("where numbers are missing, those that are there can contradict and nothing else") {
    Numbers n;
    n.add("fast", five);
    n.add("slow", ten);
    PaperClaim c = about({{"few", {"slow", "not there"}}, {"many", {"fast", "not there either"}}});
    c.value = "few / many";
    c.at_least = 10;
    n.add("not there", {});
    n.add("not there either", {});
    CHECK(n.ruling(c) == Ruling::contradicted);
    CHECK_THAT(n.why(c), Contains("2 of 4 numbers are missing") && Contains("those that are there contradict"));
    c.at_least = 1.5;
    CHECK(n.ruling(c) == Ruling::undecided);
    CHECK_THAT(n.why(c), Contains("2 of 4 numbers are missing"));
    // A mean is of all of them.
    c.at_least = 10;
    c.over = OverCells::mean;
    CHECK(n.ruling(c) == Ruling::undecided);

    PaperClaim order = about({{"few", {"fast", "not there"}}, {"many", {"slow", "not there either"}}});
    order.order = {"many", "few"};
    CHECK(n.ruling(order) == Ruling::contradicted);
    order.order = {"few", "many"};
    CHECK(n.ruling(order) == Ruling::undecided);
}

TEST_CASE("a field that the paper leaves open may have any value, which is shown") {
    Numbers n;
    n.add("a", ten);
    Made& m = n.add("b", five);
    m.place.papers_setting = false;
    m.place.papers_graph = true;
    m.place.unlike_paper = {"model.hidden"};
    m.cell.fields["model.hidden"] = std::string("16");
    PaperClaim c = quotient(2);
    CHECK(n.ruling(c) == Ruling::undecided);
    c.unstated = {"model.hidden"};
    CHECK(n.ruling(c) == Ruling::reproduced);
    CHECK_THAT(n.judged(c).measured.setting, Contains("with model.hidden 16, which the paper does not state"));
    m.place.unlike_paper.emplace_back("gpus");
    CHECK(n.ruling(c) == Ruling::undecided);
    m.place.unlike_paper.pop_back();
    m.place.papers_graph = false;
    CHECK(n.ruling(c) == Ruling::undecided);
}

TEST_CASE("times of different numbers of ranks on one machine's cores are no speed-up") {
    Numbers n;
    n.add("a", ten, 1).cell.fields = {{"kernel", std::string("cpu")}};
    n.add("b", five, 2).cell.fields = {{"kernel", std::string("cpu")}};
    CHECK(n.ruling(quotient(2)) == Ruling::undecided);
    CHECK_THAT(n.why(quotient(2)), Contains("different numbers of ranks"));
    for (const char* row : {"a", "b"}) n.at(row).measure = measure_of("mean_sent_bytes", "B");
    CHECK(n.ruling(quotient(2)) == Ruling::reproduced);  // bytes are exact
}

TEST_CASE("a factor is met within its share, missed by 2 at most, or contradicted") {
    Numbers n;
    n.add("a", ten);
    n.add("b", five);
    CHECK(n.ruling(quotient(1.9)) == Ruling::reproduced);
    CHECK(n.ruling(quotient(3)) == Ruling::within_2);
    CHECK(n.ruling(quotient(3.1)) == Ruling::contradicted);
    CHECK(n.ruling(quotient(0.9)) == Ruling::contradicted);  // near, but the other way round
    CHECK(n.ruling(quotient(1.5)) == Ruling::within_2);      // 1 is twice 0.5
    CHECK(n.ruling(quotient(1.4)) == Ruling::contradicted);
    // Small gains: 1.12 is within a tenth of 1.05, whatever their gains' quotient; 0.98 is a loss.
    n.add("c", {11.2, 11.2, 11.2});
    n.add("d", {9.8, 9.8, 9.8});
    PaperClaim small = about({{"c", {"c"}}, {"a", {"a"}}});
    small.value = "c / a";
    small.factor = 1.05;
    CHECK(n.ruling(small) == Ruling::reproduced);
    small.numbers["c"].rows = {"d"};
    CHECK(n.ruling(small) == Ruling::contradicted);
    PaperClaim plain = quotient(0.99);
    std::swap(plain.is, plain.factor);
    plain.value = "a / b / 2";
    CHECK(n.ruling(plain) == Ruling::reproduced);
    plain.is = 0;
    CHECK(n.ruling(plain) == Ruling::contradicted);
}

TEST_CASE("a bound is decided where the whole interval agrees") {
    Numbers n;
    n.add("a", {10, 12, 8});
    PaperClaim c = about({{"a", {"a"}}});
    c.value = "a";
    c.at_least = 3;
    CHECK(n.ruling(c) == Ruling::reproduced);
    c.at_least = 9.9;
    CHECK(n.ruling(c) == Ruling::undecided);
    CHECK_THAT(n.why(c), Contains("has 9.90 inside"));
    c.at_least = 19;
    CHECK(n.ruling(c) == Ruling::within_2);
    c.at_least = 30;
    CHECK(n.ruling(c) == Ruling::contradicted);
    c.at_least.reset();
    c.at_most = 1;  // an order, which is right or wrong
    CHECK(n.ruling(c) == Ruling::contradicted);
}

TEST_CASE("a value that an interval's end leaves without bounds decides nothing") {
    Numbers n;
    n.add("a", {1, 1, 1});
    n.add("b", {2, 2, 2});
    PaperClaim c = about({{"a", {"a"}}, {"b", {"b"}}});
    c.value = "a / (b - 1)";
    c.at_most = 2;
    CHECK(n.ruling(c) == Ruling::reproduced);
    n.at("b").place.ours->low = 1;
    CHECK(n.ruling(c) == Ruling::undecided);
}

TEST_CASE("an order needs intervals that do not overlap, and holds place by place") {
    Numbers n;
    n.add("a", five);
    n.add("b", ten);
    n.add("b2", {9, 10, 11});
    PaperClaim c = about({{"low", {"a", "a"}}, {"high", {"b", "b2"}}});
    c.order = {"low", "high"};
    CHECK(n.ruling(c) == Ruling::reproduced);
    c.order = {"high", "low"};
    CHECK(n.ruling(c) == Ruling::contradicted);
    PaperClaim rises = about({{"many", {"a", "b", "b2"}}});
    rises.rises = "many";
    CHECK(n.ruling(rises) == Ruling::undecided);
    rises.numbers["many"].rows = {"a", "b"};
    CHECK(n.ruling(rises) == Ruling::reproduced);
    std::swap(rises.rises, rises.falls);
    CHECK(n.ruling(rises) == Ruling::contradicted);
}

TEST_CASE("numbers are compared with those that the paper gives, words too") {
    Numbers n;
    n.add("a", ten, 1, "10.5");
    n.add("b", five, 1, "9");
    PaperClaim c = about({{"many", {"a"}}});
    c.matches = "many";
    CHECK(n.ruling(c) == Ruling::reproduced);
    c.numbers["many"].rows = {"a", "b"};
    CHECK(n.ruling(c) == Ruling::within_2);  // the worst of them counts
    CHECK_THAT(n.judged(c).measured.ours, Contains("5.00 s (paper 9"));
    n.add("full", {}, 1, "OOM").place.word = "OOM";
    c.numbers["many"].rows = {"a", "full"};
    CHECK(n.ruling(c) == Ruling::reproduced);
    n.at("full").place.word = "failed";
    CHECK(n.ruling(c) == Ruling::undecided);
    n.at("a").given.value = n.at("a").place.published = std::nullopt;  // the paper's is a word, ours a number
    n.at("a").given.text = "OOM";
    CHECK(n.ruling(c) == Ruling::contradicted);
}

TEST_CASE("simulated numbers that differ in their last digits have no order") {
    Numbers n;
    n.simulated("a", 1);
    n.simulated("b", 1 + 1e-9);
    PaperClaim c = about({{"low", {"a"}}, {"high", {"b"}}});
    c.order = {"low", "high"};
    CHECK(n.ruling(c) == Ruling::undecided);
    n.simulated("c", 1.01);
    c.numbers["high"].rows = {"c"};
    CHECK(n.ruling(c) == Ruling::reproduced);
}

TEST_CASE("a relation looks at its own numbers alone") {
    Numbers n;
    n.add("a", five);
    n.add("b", ten);
    n.add("c", {20, 20.1, 19.9});
    n.add("full", {}).place.word = "OOM";
    PaperClaim c = about({{"low", {"a"}}, {"high", {"b"}}, {"many", {"a", "b", "c"}}, {"out", {"full"}}});
    c.order = {"low", "high"};
    c.rises = "many";
    c.out_of_memory = "out";
    CHECK(n.ruling(c) == Ruling::reproduced);
    c.value = "high / low";
    c.factor = 2;
    CHECK(c.names_in_value() == std::vector<std::string>{"high", "low"});
    CHECK(n.ruling(c) == Ruling::reproduced);
}

TEST_CASE("what fits and what does not") {
    Numbers n;
    n.add("fits", ten);
    n.add("full", {}).place.word = "OOM";
    PaperClaim c = about({{"eight", {"fits"}}, {"four", {"full"}}});
    c.runs = "eight";
    c.out_of_memory = "four";
    CHECK(n.ruling(c) == Ruling::reproduced);
    std::swap(c.runs, c.out_of_memory);
    CHECK(n.ruling(c) == Ruling::contradicted);
    n.at("full").place.word = "failed";
    std::swap(c.runs, c.out_of_memory);
    CHECK(n.ruling(c) == Ruling::undecided);
}

TEST_CASE("a simulated number that constants were fitted to reproduces nothing") {
    Numbers n;
    n.simulated("a", 10);
    n.simulated("b", 5);
    CHECK(n.ruling(quotient(2)) == Ruling::reproduced);
    CHECK(n.judged(quotient(2)).simulated.setting == "SIMULATED on dgx-v100");
    CHECK(n.judged(quotient(2)).measured.ruling == Ruling::undecided);
    n.at("b").place.fitted = true;
    CHECK(n.ruling(quotient(2)) == Ruling::fitted);
    CHECK(n.ruling(quotient(50)) == Ruling::fitted);
    n.at("b").place.papers_setting = false;
    CHECK(n.ruling(quotient(2)) == Ruling::undecided);
}

TEST_CASE("several values are combined as the claim says, and counts keep both kinds apart") {
    Numbers n;
    for (const char* row : {"a", "b"}) n.simulated(row, row[0] == 'a' ? 1 : 9);
    PaperClaim c = about({{"many", {"a", "b"}}});
    c.value = "many";
    c.is = 5;
    c.over = OverCells::mean;
    CHECK(n.ruling(c) == Ruling::reproduced);
    CHECK(stated(c) == "mean of many = 5.00");
    c.over = OverCells::geometric_mean;
    CHECK(n.ruling(c) == Ruling::within_2);
    c.over = OverCells::only;
    CHECK(n.ruling(c) == Ruling::contradicted);
    PaperClaim left;
    left.id = "d";
    left.missing = "a GPU";
    const std::vector<JudgedClaim> both{n.judged(c), n.judged(left)};
    const RulingCounts counts = count_rulings(both);
    CHECK(counts.claims == 2);
    CHECK(counts.undecided == 1);
    CHECK(counts.of(EvidenceKind::simulated, Ruling::contradicted) == 1);
    CHECK(counts.of(EvidenceKind::measured, Ruling::contradicted) == 0);
    ClaimsFile file;
    file.name = "p";
    const ClaimsView view{&file, both};
    CHECK_THAT(claims_text(view, true, 80),
               Contains("UNDECIDED  p/d") && Contains("missing: a GPU") && !Contains("p/c"));
    CHECK_THAT(claims_text(view, false, 80), Contains("2 claims, by measurement / by simulation"));
    CHECK(claims_json(view, false, [](const ClaimVerdict&) { return std::vector<CellSource>(); })
              .at("claims")[0]
              .at("verdict") == "CONTRADICTED");
}
