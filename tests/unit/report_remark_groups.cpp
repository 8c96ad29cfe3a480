// Remarks on places of a table: said once for whatever they hold for, and few marks.
#include <catch2/catch.hpp>

#include "report/alike_remarks.hpp"
#include "report/remark_groups.hpp"

using namespace gnnbench;

namespace {

using Places = std::vector<std::vector<RemarkedPlace>>;

/// `text[row]` has a character for each column: '.' a number without a remark, ' ' nothing, else one named by the
/// letter.
Places places(const std::vector<std::string>& text) {
    Places all;
    for (const std::string& row : text) {
        auto& line = all.emplace_back();
        for (const char c : row) {
            RemarkedPlace p;
            p.has_number = c != ' ';
            if (c != ' ' && c != '.') p.remarks.emplace_back(1, c);
            line.push_back(p);
        }
    }
    return all;
}

RemarkGroups grouped(const std::vector<std::string>& text, const std::vector<RemarkedLine>& columns) {
    std::vector<RemarkedLine> rows;
    for (std::size_t i = 0; i < text.size(); ++i) rows.push_back({"", "r" + std::to_string(i)});
    return grouped_remarks(places(text), rows, columns, "GPUs", "ours");
}

int marks(const RemarkGroups& g) {
    std::size_t n = 0;
    for (const auto& row : g.marks)
        for (const auto& place : row) n += place.size();
    return static_cast<int>(n);
}

const std::vector<RemarkedLine> three{{"", "A"}, {"S", "B"}, {"S", "C"}};

}  // namespace

TEST_CASE("what holds for all numbers is one line and no mark") {
    const RemarkGroups g = grouped({"aa ", "aaa"}, three);
    CHECK(g.lines == std::vector<std::string>{"all of ours: a"});
    CHECK(marks(g) == 0);
}

TEST_CASE("what holds for rows or columns is said once for them") {
    CHECK(grouped({"aa.", "aa."}, three).lines == std::vector<std::string>{"columns A, S B: a"});
    const std::vector<RemarkedLine> long_names{{"", "serial fraction"}, {"", "efficiency"}, {"", "C"}};
    CHECK(grouped({"aa.", "aa."}, long_names).lines == std::vector<std::string>{"all of ours but column C: a"});
    CHECK(grouped({".aa", ".aa", ".aa"}, three).lines == std::vector<std::string>{"columns S: a"});
    CHECK(grouped({"...", "aaa", "...", "aaa"}, three).lines == std::vector<std::string>{"GPUs r1, r3: a"});
    const RemarkGroups both =
        grouped({"...a", "...a", "aaaa", "...a"}, {{"", "A"}, {"", "B"}, {"", "C"}, {"", "D"}});
    CHECK(both.lines == std::vector<std::string>{"GPUs r2 and column D: a"});
    CHECK(marks(both) == 0);
}

TEST_CASE("what holds for one place is a mark beside it") {
    const RemarkGroups g = grouped({".a.", "...", "..."}, three);
    CHECK(g.lines.empty());
    CHECK(g.marks[0][1] == std::vector<std::string>{"a"});
    CHECK(marks(g) == 1);
}

TEST_CASE("places without an order do not fill a table with marks") {
    std::vector<std::string> text(40);
    std::vector<RemarkedLine> columns;
    for (std::size_t i = 0; i < text.size(); ++i)
        for (std::size_t c = 0; c < 10; ++c)
            text[i] += (i * 7 + c * 3) % 5 < 2 ? 'a' : (i + c) % 4 == 0 ? 'b' : '.';
    for (int c = 0; c < 10; ++c) columns.push_back({"", std::to_string(c)});
    const RemarkGroups g = grouped(text, columns);
    CHECK(marks(g) <= most_marks);
    REQUIRE(g.lines.size() == 2);
    CHECK_THAT(g.lines[0], Catch::EndsWith("of 400 numbers: a"));
}

TEST_CASE("few scattered places are named") {
    const RemarkGroups g = grouped({"a.a..", ".a.a.", "a...a", ".a..a", "..a.a"},
                                   {{"", "1"}, {"", "2"}, {"", "4"}, {"", "8"}, {"", "9"}});
    CHECK(marks(g) == 0);
    REQUIRE(g.lines.size() == 1);
    CHECK(g.lines[0] == "r0: 1, 4; r1: 2, 8; r2: 1, 9; r3: 2, 9; r4: 4, 9: a");
}

TEST_CASE("why cells have no number is said once for a column of them") {
    Places all = places({". ", ". ", ". "});
    for (auto& row : all) row[1] = {false, true, {"skipped: not installed"}};
    const RemarkGroups g =
        grouped_remarks(all, {{"", "x"}, {"", "y"}, {"", "z"}}, {{"", "A"}, {"", "DGL"}}, "dataset", "ours");
    CHECK(g.lines == std::vector<std::string>{"column DGL: skipped: not installed"});
}

TEST_CASE("remarks that differ in numbers alone are one, with the range of each") {
    AlikeRemarks alike;
    const auto all = {"volumes are expectations ± 0.29%; see 3",
                      "volumes are expectations ± 0.025%; see 3",
                      "volumes are expectations ± 1.7%; see 3",
                      "has no memory for 9,000 bytes: 800 in use.",
                      "has no memory for 10,000 bytes: 7 in use.",
                      "no more than 2.5e-05",
                      "no more than 3e-07",
                      "as cagnet-1d on dgx-a100",
                      "as cagnet-2d on dgx-v100",
                      "layer 2: wide",
                      "layer: wide"};
    for (const char* text : all) alike.add(text);
    CHECK(alike.of("volumes are expectations ± 0.29%; see 3") ==
          "volumes are expectations ± 0.025% to 1.7%; see 3");
    CHECK(alike.of("has no memory for 9,000 bytes: 800 in use.") ==
          "has no memory for 9,000 to 10,000 bytes: 7 to 800 in use.");
    CHECK(alike.of("no more than 3e-07") == "no more than 3e-07 to 2.5e-05");
    for (const char* alone :
         {"as cagnet-1d on dgx-a100", "as cagnet-2d on dgx-v100", "layer 2: wide", "layer: wide"})
        CHECK(alike.of(alone) == alone);
    CHECK(alike.of("never added: 7") == "never added: 7");
}
