// A paper's claims as a file: what is wrong in one is said with its place.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include <gnnbench/error.hpp>

#include "spec/claims_file.hpp"

using namespace gnnbench;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

constexpr const char* claimed_table =
    "title: T\nsource: S\nexperiments: e\ncell: {metric: epoch_s}\nrow_head: GPUs\n"
    "rows: {over: gpus, values: [1, 2, 4]}\ncolumns: {over: scheme, values: [a, b]}\n";

/// A folder with one table and these claims.
class PaperFolder {
public:
    explicit PaperFolder(const std::string& claims) : folder_(fs::temp_directory_path() / "gnnbench-claims-test") {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        std::ofstream(folder_ / "table-1.yaml") << claimed_table;
        std::ofstream(folder_ / "claims.yaml") << "paper: P\nsource: S\nclaims:\n" << claims;
    }
    ~PaperFolder() { fs::remove_all(folder_); }
    ClaimsFile load() const { return load_claims_file(folder_ / "claims.yaml"); }

private:
    fs::path folder_;
};

ClaimsFile claims_in(const std::string& claims) { return PaperFolder(claims).load(); }

std::string claim_mistakes(const std::string& claims) {
    try {
        claims_in(claims);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

/// A claim about two names of numbers, `one` with one place and `many` with three.
std::string claim_text(const std::string& more) {
    return "  - id: c\n    at: section 1\n    says: It holds.\n    numbers:\n"
           "      one: {table: table-1, row: 1, column: a}\n"
           "      many: {table: table-1, row: [1, 2, 4], column: a}\n" +
           more;
}

}  // namespace

TEST_CASE("what is wrong with a claim is said with its line, its name and what is allowed") {
    CHECK_THAT(claim_mistakes(claim_text("    value: one / man\n    is: 1\n")),
               Contains("c.value") && Contains("'man'"));
    CHECK_THAT(claim_mistakes(claim_text("    value: one) FROM cell; SELECT (1\n    is: 1\n")),
               Contains("it ends early"));
    CHECK_THAT(claim_mistakes(claim_text("    matches: man\n")),
               Contains("there are no numbers 'man'; allowed: many, one"));
    CHECK_THAT(claim_mistakes(claim_text("    is: 1\n")), Contains("c.value: expected an expression"));
    CHECK_THAT(claim_mistakes(claim_text("    value: one\n")), Contains("expected a relation"));
    CHECK_THAT(claim_mistakes(claim_text("")), Contains("claims.yaml:4:5: c.missing: expected a relation"));
    CHECK_THAT(claim_mistakes(claim_text("    matches: one\n    missing: a GPU\n")),
               Contains("is given beside a relation"));
    CHECK_THAT(claim_mistakes(claim_text("    value: one\n    is: 1\n    factor: 1\n")),
               Contains("conflicts with is"));
    CHECK_THAT(claim_mistakes(claim_text("    value: one\n    factor: 0\n")),
               Contains("expected a number above 0"));
    CHECK_THAT(claim_mistakes(claim_text("    rises: one\n")), Contains("expected two or more places"));
    CHECK_THAT(claim_mistakes(claim_text("    order: [one]\n")), Contains("expected two or more names"));
    CHECK_THAT(claim_mistakes(claim_text("    matches: one\n    settings: [measured]\n")),
               Contains("allowed: paper, scaled, simulated"));
    CHECK_THAT(claim_mistakes(claim_text("    matches: one\n    within: 2\n")), Contains("a number from 0 to 1"));
    CHECK_THAT(claim_mistakes(claim_text("    matchez: one\n")), Contains("did you mean 'matches'?"));
    CHECK_THAT(claim_mistakes(claim_text("    matches: one\n") + claim_text("    matches: one\n")),
               Contains("two claims have this id"));
}

TEST_CASE("a claim's numbers are places of a table that is there, as many of each name, or one") {
    const auto numbers = [](const std::string& places, const std::string& relation) {
        return claim_mistakes("  - id: c\n    at: a\n    says: b\n    numbers:\n" + places + relation);
    };
    CHECK_THAT(numbers("      x: {table: table-2, row: 1, column: a}\n", "    matches: x\n"),
               Contains("there is no table 'table-2' in this folder"));
    CHECK_THAT(numbers("      x: {table: ../table-1, row: 1, column: a}\n", "    matches: x\n"),
               Contains("there is no table '../table-1'"));
    CHECK_THAT(numbers("      x: {table: table-1, row: 3, column: a}\n", "    matches: x\n"),
               Contains("table-1 has no row '3'; allowed: 1, 2, 4"));
    CHECK_THAT(numbers("      x: {table: table-1, row: 1, column: c}\n", "    matches: x\n"),
               Contains("table-1 has no column 'c'"));
    CHECK_THAT(numbers("      X-1: {table: table-1, row: 1, column: a}\n", "    matches: X-1\n"),
               Contains("expected small letters, digits and _"));
    CHECK_THAT(numbers("      order: {table: table-1, row: 1, column: a}\n", "    matches: order\n"),
               Contains("order: is a word of SQL"));
    CHECK_THAT(numbers("      x: {table: table-1, row: [1, 2], column: a}\n"
                       "      y: {table: table-1, row: [1, 2, 4], column: b}\n",
                       "    order: [x, y]\n"),
               Contains("that have 2 and 3 places"));
}

TEST_CASE("names in a value have no case, as in SQL") {
    const ClaimsFile file = claims_in(claim_text("    value: ONE / Many\n    is: 1\n"));
    CHECK(file.claims.at(0).names_in_value() == std::vector<std::string>{"one", "many"});
}

TEST_CASE("a file of claims is read with the tables that it names") {
    const ClaimsFile file =
        claims_in(claim_text("    value: one / many\n    over: mean\n    at_least: 2\n    settings: scaled\n") +
                  "  - {id: d, at: b, says: c, missing: a GPU}\n");
    CHECK(file.name == "gnnbench-claims-test");
    REQUIRE(file.claims.size() == 2);
    const PaperClaim& c = file.claims.front();
    CHECK(c.judged());
    CHECK(c.over == OverCells::mean);
    CHECK(c.at_least == 2);
    CHECK(c.settings == std::vector{ClaimSetting::scaled});
    CHECK(c.numbers.at("many").rows == std::vector<std::string>{"1", "2", "4"});
    CHECK(!file.claims.back().judged());
    CHECK(file.tables.contains("table-1"));
    CHECK(is_claims_file("claims: []\n"));
    CHECK(!is_claims_file(claimed_table));
}
