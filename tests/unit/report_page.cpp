#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "report/html.hpp"
#include "report/report_origins.hpp"
#include "report/report_parts.hpp"
#include "report/report_timelines.hpp"

using namespace gnnbench;
using Catch::Contains;

namespace {

CellOrigin skipped_cell(const std::string& digest, std::int64_t gpus, std::int64_t trial) {
    CellOrigin cell;
    cell.digest = digest;
    cell.dataset = "ring";
    cell.scheme = "serial";
    cell.gpus = gpus;
    TrialOrigin& t = cell.trials.emplace_back();
    t.id = trial;
    t.status = TrialStatus::skipped;
    t.reason = "one device <only>";
    return cell;
}

}  // namespace

TEST_CASE("A page with two parts of one id is refused") {
    const ReportPage page{"t", "", {}, {{"a", "A", "", {{"x", "X", ""}, {"x", "Y", ""}}}}};
    CHECK_THROWS_WITH(report_page(page), Contains("'x'"));
    CHECK_THROWS_AS(filled_page("no-such-file", {}), LogicError);
    CHECK_THROWS_WITH(filled_page("page", {{"title", ""}}), Contains("'style'"));
}

TEST_CASE("A page shows its sections, lists them, and leaves out those without parts") {
    const std::string html =
        report_page({"Mine & yours",
                     "now",
                     {{"trials", "3"}},
                     {{"a", "A < B", "", {{"x", "X", "<p>1</p>"}, {"y", "Y", ""}}, true}, {"b", "None", "", {}}}});
    CHECK_THAT(html, Contains("<h1>Mine &amp; yours</h1>"));
    CHECK_THAT(html, Contains("<a href=\"#a\">A &lt; B</a>"));
    CHECK_THAT(html, Contains("<a href=\"#y\">Y</a>"));
    CHECK_THAT(html, Contains("<dt>trials</dt><dd>3</dd>"));
    CHECK_THAT(html, Contains("<p>1</p>"));
    CHECK_THAT(html, !Contains("None"));
    CHECK_THAT(html, !Contains("{{"));
}

TEST_CASE("Text that would be markup, or that HTML does not allow, is neither") {
    CHECK(html_escaped("<a href=\"x\">&\x1b[31m\n") == "&lt;a href=&quot;x&quot;&gt;&amp;[31m\n");
    CHECK(anchor("a/b c_1") == "a.2fb.20c_1");
    CHECK(anchor("a.b") != anchor("a-b"));  // two experiments
}

TEST_CASE("A drawing on a page has ids of its own, and nothing that only files have") {
    const std::string svg =
        "<?xml version=\"1.0\"?>\n<svg width=\"9\"><defs><circle id='p0'/></defs><use xlink:href='#p0'/>"
        "<g id=\"q\" fill=\"url(#q)\"/></svg>\n";
    CHECK(inlined_svg(svg, "f1", "a <b>") ==
          "<svg role=\"img\" aria-label=\"a &lt;b&gt;\" width=\"9\"><defs><circle id='f1-p0'/></defs>"
          "<use xlink:href='#f1-p0'/><g id=\"f1-q\" fill=\"url(#f1-q)\"/></svg>\n");
    CHECK(inlined_svg("nothing drawn", "f1", "").empty());
}

TEST_CASE("A command is one that a shell takes as it was meant") {
    CHECK(shell_word("epochs=5") == "epochs=5");
    CHECK(shell_word("gpus = 4 AND scheme = 'a'") == "\"gpus = 4 AND scheme = 'a'\"");
    CHECK(shell_word("it's $HOME") == "'it'\\''s $HOME'");
    CHECK(shell_word("") == "\"\"");
    CHECK(run_command({"my exp.yaml", "small", {"epochs=5"}, true}) ==
          "gnnbench run \"my exp.yaml\" --profile small --set epochs=5");
}

TEST_CASE("Failures are told with their reasons, alike ones once; where there are none it says so") {
    ExperimentOrigin e;
    e.name = "exp";
    e.cells = {skipped_cell("d1", 2, 1), skipped_cell("d2", 4, 2)};
    const std::vector<ExperimentOrigin> all{e};
    const ReportSection failures = failures_section(all);
    REQUIRE(failures.parts.size() == 1);
    CHECK_THAT(failures.parts[0].html, Contains("one device &lt;only&gt;"));
    CHECK_THAT(failures.parts[0].html, Contains("serial on 2 gpus, ring; serial on 4 gpus, ring"));
    CHECK_THAT(failures_section({}).parts[0].html, Contains("No trial ended without a result"));
    const CellAnchors anchors = cell_anchors(all);
    CHECK(anchors.at(1) == "cell-d1");
    CHECK_THAT(origins_section(all).parts[0].html, Contains("id=\"cell-d1\""));
}

namespace {

CellOrigin traced_cell(const std::string& digest, const std::string& uuid) {
    CellOrigin cell;
    cell.digest = digest;
    TrialOrigin& t = cell.trials.emplace_back();
    t.uuid = uuid;
    t.status = TrialStatus::ok;
    t.traced = true;
    return cell;
}

Timeline read_sample(const std::string& trial) {
    return {.trial = trial,
            .experiment = "a",
            .dataset = "ring",
            .scheme = "serial",
            .partitioner = "none",
            .kernel = "cpu",
            .machine = "Sample CPU",
            .started = "",
            .ranks = 1,
            .threads_per_rank = 1,
            .wall_s = 0.01,
            .spans = {{0, false, "spmm", "spmm", 0, 0.01, 0, 0}}};
}

}  // namespace

TEST_CASE("A traced trial that counts for two experiments is shown once, with both names") {
    ExperimentOrigin a, b;
    a.name = "a", b.name = "b & c";
    a.cells = {traced_cell("d1", "t1"), traced_cell("d2", "t2")};
    b.cells = {traced_cell("d1", "t1"), traced_cell("d3", "t3")};
    const std::vector<ExperimentOrigin> all{a, b};
    const ReportSection section = timelines_section(all, read_sample);
    REQUIRE(section.parts.size() == 3);
    CHECK_THAT(section.parts[0].html, Contains("The experiment b &amp; c has this cell, too."));
    CHECK_THAT(section.parts[1].html, !Contains("has this cell, too"));
    CHECK_NOTHROW(report_page({"t", "", {}, {section}}));
}

TEST_CASE("Of many traced cells a page shows the first eight, and counts the others") {
    ExperimentOrigin a;
    for (int i = 0; i < 10; ++i) a.cells.push_back(traced_cell("d" + std::to_string(i), "t" + std::to_string(i)));
    const std::vector<ExperimentOrigin> all{a};
    const ReportSection section = timelines_section(all, read_sample);
    REQUIRE(section.parts.size() == 8);
    CHECK_THAT(section.parts.back().html, Contains("2 more cells of this experiment are traced"));
}
