#include <catch2/catch.hpp>

#include <sstream>

#include <nlohmann/json.hpp>

#include <gnnbench/error.hpp>

#include "report/table.hpp"
#include "report/table_render.hpp"
#include "report_samples.hpp"

using namespace gnnbench;
using samples::compared;
using samples::ended;

namespace {

std::string text_of(const ComparisonData& d) { return render_comparison(d, OutputFormat::text); }

std::size_t widest_line(const std::string& text) {
    std::istringstream lines(text);
    std::size_t widest = 0;
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
    return widest;
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}

ComparisonData of(std::vector<ComparisonCell> cells) {
    ComparisonData d;
    d.experiment = "sample";
    d.machine = "Sample CPU, 4 cores";
    d.kernels = "cpu";
    d.cells = std::move(cells);
    return d;
}

}  // namespace

TEST_CASE("the quickstart's table") {
    const std::string text = text_of(samples::quickstart());
    CAPTURE(text);
    CHECK(widest_line(text) <= table_width());
    CHECK_THAT(text,
               Catch::StartsWith("quickstart: time of an epoch, median of 3 trials (low–high: its 95% interval"));
    CHECK_THAT(text,
               Catch::Contains("\nAMD EPYC 9R14, 2 cores; kernel cpu; 1 to 2 threads per rank; 20 epochs after 2 "
                               "for warm-up\n"));
    CHECK_THAT(text, Catch::Contains("× speed-up over serial on 1"));
    for (const char* cell :
         {"| 41.2 40.2–42.5  1.00", "| 37.1 36.2–38.2  1.00", "| 44.2 42.7–46.1    0.93     0", "| skipped b",
          "| 22.1 21.4–23.0    1.86  5.12", "33.6 32.4–35.0 *a   1.23     0", "16.8 16.2–17.5 *a   2.46  5.12",
          "15.1 14.6–15.7 *ac  2.46  15.4", "| 19.9 19.2–20.7 c  1.86  15.4"})
        CHECK_THAT(text, Catch::Contains(cell));
    CHECK_THAT(text, Catch::Contains(R"(
a  aggregated input (ÂX computed once, at set-up)
b  skipped: serial runs on one device; 2 to 4 given
c  oversubscribed (more ranks × threads than cores: no scaling result)
)"));
}

TEST_CASE("a time with sparse features is marked") {
    ComparisonCell sparse = compared("serial", 1, "block", {0.1}, 0);
    sparse.sparse_features = true;
    CHECK_THAT(
        text_of(of({sparse, compared("mg-gcn", 1, "block", {0.1}, 0)})),
        Catch::Contains("\na  sparse features (X is a sparse operand where the scheme multiplies X itself)\n"));
}

TEST_CASE("declared scaling has a column of efficiencies, and says what they are") {
    ComparisonData d = of({compared("mg-gcn", 1, "none", {0.1}, 0), compared("mg-gcn", 4, "random", {0.05}, 10)});
    d.cells[0].efficiency = 1;
    d.cells[1].efficiency = 0.5;
    d.scaling = {ScalingAxis::Kind::strong};
    const std::string strong = text_of(d);
    CHECK_THAT(strong, Catch::Contains("eff") && Catch::Contains("0.50"));
    CHECK_THAT(strong, Catch::Contains("eff parallel efficiency, speed-up ÷ (gpus ÷ gpus of its"));
    d.scaling = {ScalingAxis::Kind::weak, "vertices"};
    CHECK_THAT(text_of(d), Catch::Contains("eff weak efficiency, time of the base ÷ time, as vertices grow with"));
    d.cells[0].efficiency = d.cells[1].efficiency = {};
    CHECK(count(text_of(d), "eff") == 0);
}

TEST_CASE("nothing to show is said, and nothing is invented") {
    CHECK_THAT(text_of(of({})), Catch::Contains("nothing measured yet") && Catch::Contains("has no cells"));
    // A cell never measured is empty.
    const std::string text =
        text_of(of({compared("serial", 1, "block", {}, 0), compared("mg-gcn", 1, "block", {}, 0)}));
    CHECK_THAT(text, Catch::Contains("   1  block       |        |\n"));
    CHECK(count(text, "×") == 0);
}

TEST_CASE("how a cell ended stands in place of its time, with its reason below") {
    const std::string text =
        text_of(of({ended("a", 1, "block", "oom", "rank 0: 3 GiB were asked for, 2 GiB are left"),
                    ended("b", 1, "block", "timeout", "over its limit of 60 s"),
                    ended("c", 1, "block", "crashed", "signal 11 (segmentation fault)\nmore"),
                    ended("d", 1, "block", "diverged", ""), ended("e", 1, "block", "failed", "x"),
                    compared("f", 1, "block", {0.001}, 0)}));
    CHECK_THAT(text, Catch::Contains("| OOM a | timeout b | crashed c | diverged | failed d |"));
    CHECK_THAT(text, Catch::Contains("\na  oom: rank 0: 3 GiB were asked for, 2 GiB are left\n"));
    CHECK_THAT(text, Catch::Contains("\nc  crashed: signal 11 (segmentation fault)\n"));
    CHECK(text.find("more\n") == std::string::npos);
}

TEST_CASE("what is not proven is marked with its reason; what fails its proof is loud") {
    auto a = compared("a", 2, "block", {0.001}, 10), b = compared("b", 2, "block", {0.002}, 10),
         c = compared("c", 2, "block", {0.003}, 10);
    a.verification = {};
    a.verification.status = VerificationStatus::unverified;
    a.verification.reason = "the graph is too large for the reference here";
    b.verification.status = VerificationStatus::failed;
    b.verification.reason = "gradient of W1 at epoch 2: 3e-2";
    b.volume_differs = true;
    c.verification.sampled_vertices = 5000;
    c.approximation = "stale halos";
    c.other_trials = "1 of 3 trials ended otherwise (crashed: signal 9)";
    const std::string text = text_of(of({a, b, c}));
    CHECK_THAT(text, Catch::Contains("a  unverified (the graph is too large for the reference here)\n"));
    CHECK_THAT(text, Catch::Contains("VERIFICATION FAILED (gradient of W1 at epoch 2: 3e-2)\n"));
    CHECK_THAT(text, Catch::Contains("VOLUME DIFFERS"));
    CHECK_THAT(text, Catch::Contains("verified on a part of the graph\n") && !Catch::Contains("5000"));
    CHECK_THAT(text, Catch::Contains("approximate (stale halos)\n"));
    CHECK_THAT(text, Catch::Contains("1 of 3 trials ended otherwise (crashed: signal 9)\n"));
    CHECK_THAT(text, Catch::Contains("1.00 a "));
    CHECK_THAT(text, Catch::Contains("2.00 bc "));
}

TEST_CASE("the head says what speed-ups are over; a cell without one has none") {
    ComparisonData d =
        of({compared("x", 2, "block", {0.4}, 8, "first"), compared("x", 8, "block", {0.1}, 8, "first"),
            compared("serial", 1, "block", {0.9}, 0, "second"), compared("x", 2, "metis", {0.3}, 8, "second")});
    CHECK(text_of(d).find("speed-up") == std::string::npos);
    d.cells[1].speed_up = {4, false};
    CHECK_THAT(text_of(d), Catch::Contains("speed-up over the same scheme and partitioner on the fewest gpus"));
    d.cells[3].speed_up = {3, true};
    CHECK_THAT(text_of(d), Catch::Contains("over serial on 1 gpu (where it was not measured"));
    const auto j = nlohmann::json::parse(render_comparison(d, OutputFormat::json));
    CHECK(j.at("cells").at(0).at("speed_up").is_null());
    CHECK_THAT(text_of(d), Catch::Contains("\ndataset first\n") && Catch::Contains("\ndataset second\n"));
}

TEST_CASE("the fastest is marked only where intervals decide; one trial has no interval") {
    const auto star = [](const ComparisonData& d) {
        return text_of(d).find("where intervals decide") != std::string::npos;
    };
    CHECK(star(of({compared("a", 1, "none", {0.0101, 0.0100, 0.0102}, 0),
                   compared("b", 1, "none", {0.02, 0.0201, 0.0199}, 0)})));
    CHECK_FALSE(star(of({compared("a", 1, "none", {0.010, 0.015, 0.009}, 0),
                         compared("b", 1, "none", {0.011, 0.016, 0.010}, 0)})));
    const ComparisonData single =
        of({compared("a", 1, "none", {0.01}, 0), compared("b", 1, "none", {0.02, 0.0201, 0.0199}, 0)});
    CHECK_FALSE(star(single));
    const auto j = nlohmann::json::parse(render_comparison(single, OutputFormat::json)).at("cells");
    for (const auto& c : j) {
        CHECK(c.at("fastest") == false);
        CHECK(c.at("epoch_low_s").is_null() == (c.at("scheme") == "a"));
        CHECK(c.at("epoch_high_s").is_null() == (c.at("scheme") == "a"));
    }
    // What was shown as 21.8 +-86.7.
    CHECK_THAT(text_of(of({compared("a", 1, "none", {0.0218, 0.0046, 0.0723}, 0)})),
               Catch::Contains("21.8 0.") && !Catch::Contains("±"));
}

TEST_CASE("borrowed trials, an unfinished rerun and a noisy machine are said in the head") {
    ComparisonData d = of({compared("a", 1, "none", {0.01, 0.011, 0.012}, 0)});
    CHECK(text_of(d).find("NOISY") == std::string::npos);
    d.trials = 3;
    d.borrowed = 2;
    d.lenders = {"other"};
    d.awaiting_rerun = 1;
    d.timed = d.noisy = 3;
    d.highest_load = 7.25;
    d.cores = 2;
    d.cells[0].of_other_builds = 1;
    d.cells[0].program = "00c0ffee00c0ffee";
    const std::string text = text_of(d);
    CHECK_THAT(text, Catch::Contains("2 of 3 trials are of other experiments (other)"));
    CHECK_THAT(text, Catch::Contains("a rerun is unfinished: 1 of 3 trials are from before it"));
    CHECK_THAT(text,
               Catch::Contains(
                   "NOISY MACHINE: 3 of 3 measured trials began under a load average of up to 7.2 on 2 cores") ||
                   Catch::Contains("up to 7.3 on 2 cores"));
    CHECK_THAT(text, Catch::Contains("1 of 3 trials measured by another build of its code"));
    CHECK_THAT(text, Catch::Contains("whose files have the digest 00c0ffee00c0ffee"));
}

TEST_CASE("two trials show their median, three an interval, too") {
    const auto shown = [](std::vector<double> times) {
        return text_of(of({compared("serial", 1, "none", std::move(times), 0)}));
    };
    const std::string two = shown({0.0012, 0.0590}), three = shown({0.0300, 0.0301, 0.0302});
    CHECK_THAT(two, Catch::Contains("30.1") && !Catch::Contains("–") && !Catch::Contains("interval"));
    CHECK_THAT(three, Catch::Contains("30.1") && Catch::Contains("–") && Catch::Contains("its 95% interval"));
}

TEST_CASE("many and long schemes go on in further blocks within 100 columns") {
    std::vector<ComparisonCell> cells;
    for (int s = 0; s < 9; ++s)
        for (const int gpus : {1, 16}) {
            cells.push_back(compared(
                "scheme-" + std::to_string(s) + "(overlap=false, order=fixed)", gpus, "metis(objective=volume)",
                {12.3 * (s + 1) / gpus, 12.4 * (s + 1) / gpus, 12.3 * (s + 1) / gpus}, 1e9 * s));
            cells.back().test_score = 0.8155;
            cells.back().score_metric = "accuracy";
        }
    cells.push_back(compared(std::string(130, 'x'), 1, "metis(objective=volume)", {1.0}, 0));
    const std::string text = text_of(of(cells));
    CHECK(widest_line(text) <= table_width());
    CHECK(count(text, "gpus  partitioner") >= 5);
    CHECK_THAT(text, !Catch::Contains("…"));
    CHECK(count(text, "xx") >= 126);  // a word wider than the table continues on the next line
    CHECK_THAT(text, Catch::Contains("median of 1 to 3 trials (low–high: its 95% interval, Student's t of"));
    CHECK_THAT(text, Catch::Contains("% test accuracy, median of"));
    CHECK_THAT(text, Catch::Contains("  81.5\n") || Catch::Contains("  81.6\n"));
}

TEST_CASE("a table says what its scores are of") {
    auto one = compared("serial", 1, "block", {0.1}, 0), several = compared("serial", 2, "block", {0.2}, 0);
    one.test_score = several.test_score = 0.5;
    one.score_metric = "accuracy";
    several.score_metric = "micro-F1";
    CHECK_THAT(text_of(of({one})), Catch::Contains("% test accuracy, median"));
    CHECK_THAT(text_of(of({several})), Catch::Contains("% test micro-F1, median"));
    CHECK_THAT(text_of(of({one, several})), Catch::Contains("or micro-F1 where vertices have several"));
}

TEST_CASE("titles wider than their columns fold, and so do long names of rows") {
    Table t;
    t.keys = {{"row", true, 10}, {"n", false}};
    t.groups = {{"mg-gcn(overlap=false, ordering=original)", {{"ms"}}}, {"serial", {{"ms"}}}};
    t.rows = {{"", {"one two three four", "7"}, {{{{"1.5"}}, {}}, {{{"20.5"}}, {}}}},
              {"", {"five", "12"}, {{{{"2.5"}}, {}}, {{{"30.5"}}, {}}}}};
    CHECK(table_text(t) ==
          "\n"
          "               | mg-gcn(overlap=false, |\n"
          "               | ordering=original)    | serial\n"
          "row          n |  ms                   |   ms\n"
          "one two      7 | 1.5                   | 20.5\n"
          "three four     |                       |\n"
          "five        12 | 2.5                   | 30.5\n");
}

TEST_CASE("fields that tell cells apart are columns of their own") {
    auto a = compared("serial", 1, "block", {0.1}, 0), b = compared("serial", 1, "block", {0.2}, 0);
    a.others = {"1"};
    b.others = {"2"};
    ComparisonData d = of({a, b});
    d.other_keys = {"seed"};
    CHECK_THAT(text_of(d),
               Catch::Contains("gpus  partitioner  seed | ") && Catch::Contains("   1  block        2    | 200"));
    CHECK_THAT(render_comparison(d, OutputFormat::csv), Catch::Contains("dcsbm-20000,1,block,2,serial,ok,"));
}

TEST_CASE("an HTML table that is too wide for a page continues in a further one") {
    const auto tables = [](const ComparisonData& d) {
        const std::string html = render_comparison(d, OutputFormat::html);
        std::size_t n = 0;
        for (auto at = html.find("<table>"); at != std::string::npos; at = html.find("<table>", at + 1)) ++n;
        return n;
    };
    const auto cells = [](int schemes) {
        std::vector<ComparisonCell> all;
        for (int s = 0; s < schemes; ++s)
            all.push_back(compared("a-scheme-with-a-name-" + std::string(1, static_cast<char>('a' + s)), 2,
                                   "random", {0.1}, 1000));
        return all;
    };
    CHECK(tables(of(cells(2))) == 1);
    CHECK(tables(of(cells(8))) > 1);
}

TEST_CASE("Markdown, CSV and JSON say the same") {
    const ComparisonData d = samples::quickstart();
    const std::string markdown = render_comparison(d, OutputFormat::markdown);
    CHECK_THAT(markdown,
               Catch::Contains(
                   "| dcsbm-20000 | 2 | random | skipped <sup>b</sup> | 22.1 21.4–23.0 ms · 1.86× · 5.12 MB | "
                   "**16.8 16.2–17.5 ms** · 2.46× · 5.12 MB <sup>a</sup> |\n"));
    CHECK_THAT(markdown, Catch::Contains("<sup>b</sup> skipped: serial runs on one device; 2 to 4 given"));

    const auto j = nlohmann::json::parse(render_comparison(d, OutputFormat::json));
    CHECK(j.at("cells").size() == d.cells.size());
    CHECK(j.at("cells")[0].at("epoch_s") == 0.0412);
    CHECK(j.at("cells")[0].at("interval") == "log-student-t");
    CHECK(j.at("cells")[2].at("fastest") == true);

    const std::string csv = render_comparison(d, OutputFormat::csv);
    CHECK(count(csv, "\n") == d.cells.size() + 1);
    CHECK_THAT(csv,
               Catch::Contains(
                   "\ndcsbm-20000,2,random,serial,skipped,serial runs on one device; 2 given,0,,,,,,,false,"));
    CHECK_THAT(csv, Catch::Contains(",\"graph, features\","));
}

TEST_CASE("LaTeX and HTML have the same cells, and nothing that they take for markup") {
    ComparisonData d = of({compared("a_b<1>", 1, "block", {0.1}, 0), compared("mg-gcn", 1, "block", {0.2}, 0)});
    d.experiment = "50% & more";
    const std::string latex = render_comparison(d, OutputFormat::latex);
    CHECK_THAT(latex,
               Catch::Contains("50\\% \\& more") && Catch::Contains("& a\\_b\\textless{}1\\textgreater{} &"));
    CHECK_THAT(latex, Catch::Contains("1 & block & 100 & 200 \\\\\n"));
    CHECK(count(latex, "\\begin{") == count(latex, "\\end{"));
    const std::string html = render_comparison(d, OutputFormat::html);
    CHECK_THAT(html, Catch::Contains("<title>50% &amp; more") && Catch::Contains("a_b&lt;1&gt;</th>"));
    CHECK_THAT(html, Catch::Contains("<td>100</td><td>200</td>"));
    CHECK(count(html, "<td") == count(html, "</td>"));
    CHECK_THAT(render_comparison(samples::quickstart(), OutputFormat::html),
               Catch::Contains("<td class=\"word\">skipped<sup>b</sup></td><td></td>"));
}

TEST_CASE("speed-ups of one column over several cells each say which; over one cell, however named, none does") {
    auto one = compared("mg-gcn", 2, "random", {0.004}, 0), two = compared("mg-gcn", 4, "random", {0.002}, 0),
         other = compared("mg-gcn", 4, "metis", {0.001}, 0), alone = compared("cagnet-1d", 4, "metis", {0.003}, 0);
    one.speed_up = {1, false, "mg-gcn, random, on 2 gpus, 2 threads per rank", 1};
    two.speed_up = {2, false, "mg-gcn, random, on 2 gpus", 1};
    other.speed_up = {1, false, "mg-gcn, metis, on 4 gpus", 2};
    alone.speed_up = {1, false, "cagnet-1d, metis, on 4 gpus", 3};
    const std::string text = text_of(of({one, two, other, alone}));
    CAPTURE(text);
    CHECK_THAT(text, Catch::Contains("a  × over mg-gcn, random, on 2 gpus, 2 threads per rank\n"));
    CHECK_THAT(text, Catch::Contains("b  × over mg-gcn, metis, on 4 gpus\n"));
    CHECK(count(text, "2.00 a") == 1);
    CHECK(text.find("cagnet-1d, metis, on 4 gpus") == std::string::npos);
    const auto j = nlohmann::json::parse(render_comparison(of({one, other}), OutputFormat::json));
    CHECK(j.at("cells")[0].at("speed_up_over") == "mg-gcn, random, on 2 gpus, 2 threads per rank");
    CHECK_THAT(text_of(of({one, two})), !Catch::Contains("× over"));
}

TEST_CASE("the load of a machine is told of the measured trials, and a predicted table is of no processor") {
    ComparisonData d = of({compared("mg-gcn", 2, "random", {0.004, 0.005}, 0)});
    d.trials = 12, d.timed = 2, d.noisy = 1, d.highest_load = 9, d.cores = 4;
    CHECK_THAT(text_of(d), Catch::Contains("NOISY MACHINE: 1 of 2 measured trials"));
    CHECK_THAT(text_of(d), Catch::Contains("\nSample CPU, 4 cores;"));
    for (ComparisonCell& c : d.cells) c.simulated = "perlmutter";
    CHECK_THAT(text_of(d), Catch::Contains("\ncomputed on Sample CPU, 4 cores;"));
}
