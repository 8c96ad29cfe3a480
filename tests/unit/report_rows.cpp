#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include <gnnbench/error.hpp>

#include "report/footnotes.hpp"
#include "report/rows.hpp"
#include "report/units.hpp"
#include "report/verify_table.hpp"

using namespace gnnbench;

namespace {

const QueryResult sample{{"name", "n", "x", "n"},
                         {{std::string("a, \"b\""), std::int64_t{1}, 0.5, std::int64_t{7}},
                          {std::string("two\nlines|"), std::int64_t{100}, std::monostate{}, std::int64_t{8}}}};

}  // namespace

TEST_CASE("an unknown format names the known ones") {
    CHECK_THROWS_AS(output_format("pdf"), SpecError);
    CHECK_THROWS_WITH(output_format("pdf"), Catch::Contains("text, markdown, latex, html, csv and json"));
    CHECK(output_format("md") == OutputFormat::markdown);
}

TEST_CASE("rows of a query in every form") {
    CHECK(render_rows(sample, OutputFormat::text) == 1 + R"(
name           n    x  n
a, "b"         1  0.5  7
two\nlines|  100       8
)");
    CHECK(render_rows(sample, OutputFormat::csv) ==
          "name,n,x,n\n\"a, \"\"b\"\"\",1,0.5,7\n\"two\nlines|\",100,,8\n");
    CHECK(render_rows(sample, OutputFormat::markdown) ==
          "| name | n | x | n |\n| --- | ---: | ---: | ---: |\n| a, \"b\" | 1 | 0.5 | 7 |\n| two lines\\| | 100 | "
          "| 8 |\n");
    const auto j = nlohmann::json::parse(render_rows(sample, OutputFormat::json));
    CHECK(j[0] == nlohmann::json{{"name", "a, \"b\""}, {"n", 1}, {"x", 0.5}, {"n_2", 7}});
    CHECK(j[1].at("x").is_null());
    CHECK(render_rows({{"n"}, {}}, OutputFormat::json) == "[]\n");
}

TEST_CASE("names from elsewhere steer neither a terminal nor a spreadsheet") {
    const QueryResult hostile{{"name", "n"},
                              {{std::string("=HYPERLINK(\"x\")"), std::int64_t{-5}},
                               {std::string("\x1b[2Jgone"), -0.5},
                               {std::string("@SUM(A1)"), std::string("-1e-3")},
                               {std::string("-1+cmd|'/C calc'!A0"), std::string("+4")}}};
    CHECK(render_rows(hostile, OutputFormat::csv) ==
          "name,n\n\"'=HYPERLINK(\"\"x\"\")\",-5\n\x1b[2Jgone,-0.5\n'@SUM(A1),-1e-3\n'-1+cmd|'/C calc'!A0,+4\n");
    const std::string shown = render_rows(hostile, OutputFormat::text);
    CHECK(shown.find('\x1b') == std::string::npos);
    CHECK(shown.find("\\x1b[2Jgone") != std::string::npos);
}

TEST_CASE("numbers keep three digits, times and sizes one unit") {
    CHECK(three_digits(0) == "0");
    CHECK(three_digits(1234.5) == "1234");
    CHECK(three_digits(99.96) == "100");
    CHECK(three_digits(12.34) == "12.3");
    CHECK(three_digits(9.996) == "10.0");
    CHECK(three_digits(0.01234) == "0.012");
    CHECK(three_digits(46204525369275998208.0) == "4.62e+19");
    CHECK(ratio(0.934) == "0.93");
    CHECK(time_unit(0.0005).name == "µs");
    CHECK(time_unit(9.9).name == "ms");
    CHECK(time_unit(12).name == "s");
    CHECK(byte_unit(999).name == "B");
    CHECK(byte_unit(2.5e9).name == "GB");
}

TEST_CASE("text is cut and broken by columns, not bytes") {
    CHECK(display_width("±1.1 µs") == 7);
    CHECK(shortened("±±±±", 4) == "±±±±");
    CHECK(shortened("±±±±±", 4) == "±±±…");
    CHECK(wrapped("one two three", 8, 2) == "one two\n  three\n");
    using Lines = std::vector<std::string>;
    CHECK(folded_to("one two three", 8) == Lines{"one two", "three"});
    CHECK(folded_to("±±±±±± two", 4) == Lines{"±±±±", "±±", "two"});
    CHECK(folded_to("two", 0) == Lines{"t", "w", "o"});
    CHECK(folded_to("", 8) == Lines{""});
    Footnotes notes;
    for (int i = 0; i < 27; ++i) notes.mark(std::to_string(i));
    CHECK(notes.mark("0") == "a");
    CHECK(notes.mark("26") == "aa");
}

TEST_CASE("verification results") {
    VerificationRow good{"lesmis", "mg-gcn", "metis", "cpu", "float32", 4, {}}, bad = good, untried = good;
    good.found.status = VerificationStatus::verified;
    good.found.loss_error = 1.23e-7;
    good.found.gradient_error = 4.5e-6;
    good.found.volume_equal = true;
    bad.gpus = 7;
    bad.found = good.found;
    bad.found.status = VerificationStatus::failed;
    bad.found.reason = "rank 3 broadcast payload: stated 96 bytes, counted 128";
    bad.found.volume_equal = false;
    bad.found.sampled_vertices = 500;
    untried.gpus = 8;
    untried.found.status = VerificationStatus::unverified;
    untried.found.reason = "not tried yet";
    const std::vector<VerificationRow> rows{good, bad, untried};
    CHECK(render_verifications(rows, OutputFormat::text) == 1 + R"(
errors: largest over epochs (and weights) against the serial float64 reference; volume: counted
  against stated bytes

dataset  scheme  partitioner  gpus  loss error  gradient error  volume   verdict
lesmis   mg-gcn  metis           4     1.2e-07         4.5e-06  equal    verified
lesmis   mg-gcn  metis           7     1.2e-07         4.5e-06  DIFFERS  FAILED on 500 vertices a
lesmis   mg-gcn  metis           8                                       unverified b

a  rank 3 broadcast payload: stated 96 bytes, counted 128
b  not tried yet
)");
    CHECK_THAT(render_verifications(rows, OutputFormat::csv),
               Catch::Contains("lesmis,mg-gcn,metis,7,cpu,float32,1.23e-07,4.5e-06,false,failed,500,"));
    CHECK(nlohmann::json::parse(render_verifications(rows, OutputFormat::json))[2].at("loss_error").is_null());
    CHECK_THAT(render_verifications(rows, OutputFormat::markdown),
               Catch::Contains("| lesmis | mg-gcn | metis | 4 | 1.2e-07 | 4.5e-06 | equal | verified | |\n"));
}
