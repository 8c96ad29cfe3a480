#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "report_samples.hpp"

#include "report/scaling_figure.hpp"

using namespace gnnbench;
using Catch::Contains;

namespace {

std::vector<std::string> line_names(const ScalingPanel& panel) {
    std::vector<std::string> names;
    for (const ScalingLine& line : panel.lines) names.push_back(line.name);
    return names;
}

ComparisonCell timed_cell(const std::string& scheme, int gpus, const std::string& partitioner, double time_s,
                          const std::string& dataset = "d") {
    return samples::compared(scheme, gpus, partitioner, {time_s, 1.01 * time_s, 0.99 * time_s}, 0, dataset);
}

}  // namespace

TEST_CASE("a line for each scheme and partitioner; one GPU without a partition begins each of its scheme's") {
    ComparisonData data;
    data.experiment = "sweep";
    data.cells = {timed_cell("serial", 1, "none", 0.08),   timed_cell("mg-gcn", 1, "none", 0.1),
                  timed_cell("mg-gcn", 2, "random", 0.06), timed_cell("mg-gcn", 4, "random", 0.04),
                  timed_cell("mg-gcn", 2, "metis", 0.05),  timed_cell("mg-gcn", 4, "metis", 0.03)};
    const auto panels = scaling_panels(data);
    REQUIRE(panels.size() == 1);
    CHECK(line_names(panels[0]) == std::vector<std::string>{"serial", "mg-gcn, random", "mg-gcn, metis"});
    REQUIRE(panels[0].lines[1].points.size() == 3);
    CHECK(panels[0].lines[1].points[0].epoch_s.median == Approx(0.1));
    CHECK(panels[0].lines[2].points[2].epoch_s.median == Approx(0.03));
    CHECK(panels[0].base_name == "serial");
    CHECK(panels[0].base.epoch_s.median == Approx(0.08));
    CHECK(shows_scaling(data));
}

TEST_CASE("without serial the ideal begins at the shortest time on the fewest GPUs") {
    ComparisonData data;
    data.cells = {timed_cell("slow", 2, "random", 0.2), timed_cell("fast", 2, "random", 0.1),
                  timed_cell("fast", 4, "random", 0.05)};
    const auto panels = scaling_panels(data);
    CHECK(line_names(panels[0]) == std::vector<std::string>{"slow", "fast"});
    CHECK(panels[0].base_name == "fast");
    CHECK(panels[0].base.gpus == 2);
}

TEST_CASE("the script has intervals, the ideal line, and open marks where ranks share cores") {
    ComparisonData data;
    data.experiment = "sweep";
    data.cells = {timed_cell("serial", 1, "none", 0.08), timed_cell("mg-gcn", 2, "random", 0.06),
                  timed_cell("mg-gcn", 4, "random", 0.04)};
    data.cells[2].oversubscribed = true;
    const std::string script = scaling_script(data, FigureFormat::pdf);
    CHECK_THAT(script, Contains("pdfcairo") && Contains("with yerrorlines") && Contains("set logscale x 2"));
    CHECK_THAT(script, Contains("1 80\n4 20\n"));  // the ideal, in ms
    CHECK_THAT(script, Contains("ideal: serial ÷ gpus") && Contains("open marks: oversubscribed"));
    CHECK_THAT(script, Contains("d, sweep: time of an epoch"));
    CHECK_THAT(scaling_script(data, {FigureFormat::svg, FigureHeading::left_out}), !Contains("time of an epoch"));
}

TEST_CASE("under weak scaling the ideal is the base's time, and efficiency the base's time over the time") {
    ComparisonData data;
    data.experiment = "sweep";
    data.scaling = {ScalingAxis::Kind::weak, "vertices"};
    data.cells = {timed_cell("mg-gcn", 1, "none", 0.08), timed_cell("mg-gcn", 4, "random", 0.16)};
    const std::string time = scaling_script(data, FigureFormat::svg);
    CHECK_THAT(time, Contains("1 80\n4 80\n") && Contains("ideal: mg-gcn") && !Contains("÷ gpus"));
    const std::string efficiency = scaling_script(data, FigureFormat::svg, ScalingQuantity::efficiency);
    CHECK_THAT(efficiency, Contains("weak efficiency") && Contains("4 0.5 ") && Contains("ideal: 1"));
}

TEST_CASE("a time of 0 has no place on an axis of powers") {
    ComparisonData data;
    data.experiment = "fast";
    data.cells = {timed_cell("serial", 1, "none", 0), timed_cell("serial", 2, "none", 0.08)};
    CHECK_THAT(scaling_script(data, FigureFormat::svg), Contains("set logscale y") && !Contains("inf"));
    CHECK(shows_scaling(data));
    CHECK_THROWS_WITH(scaling_script(data, FigureFormat::svg, ScalingQuantity::efficiency),
                      Contains("the time of its base is 0"));
    data.cells[1] = timed_cell("serial", 2, "none", 0);
    CHECK_FALSE(shows_scaling(data));  // a report leaves such a figure out
    CHECK_THROWS_WITH(scaling_script(data, FigureFormat::svg), Contains("all its times are 0"));
}

TEST_CASE("several datasets are panels, and nothing measured is refused") {
    ComparisonData data;
    data.experiment = "two";
    data.cells = {timed_cell("serial", 1, "none", 0.08, "a"), timed_cell("serial", 1, "none", 0.8, "b")};
    CHECK_THAT(scaling_script(data, FigureFormat::svg),
               Contains("set multiplot") && Contains("\"a\"") && Contains("\"b\""));
    CHECK_FALSE(shows_scaling(data));
    data.cells.clear();
    CHECK_THROWS_WITH(scaling_script(data, FigureFormat::svg), Contains("'two' has no measured time to draw"));
}

TEST_CASE("intervals are of four trials and more, and lines of one number of GPUs stand beside each other") {
    ComparisonData data;
    data.experiment = "sweep";
    data.cells = {timed_cell("serial", 1, "none", 0.08), timed_cell("mg-gcn", 1, "none", 0.04)};
    data.cells[1].epoch_s = estimate(std::vector<double>{0.03, 0.04, 0.04, 0.05});
    const std::string script = scaling_script(data, FigureFormat::svg);
    CHECK_THAT(script, Contains("0.990148 80 80 80\n"));  // of three trials
    CHECK_THAT(script, Contains("1.00995 40 "));
    CHECK_THAT(script, !Contains("40 40 40\n"));
}

TEST_CASE("efficiency and volume over GPUs") {
    ComparisonData data;
    data.experiment = "sweep";
    data.cells = {timed_cell("mg-gcn", 1, "none", 0.08), timed_cell("mg-gcn", 4, "random", 0.04)};
    CHECK_THAT(scaling_script(data, FigureFormat::svg, ScalingQuantity::efficiency),
               Contains("parallel efficiency") && Contains("4 0.5\n") && Contains("4 1\n") &&
                   Contains("set yrange [0:") && !Contains("logscale y"));
    CHECK_THROWS_WITH(scaling_script(data, FigureFormat::svg, ScalingQuantity::volume),
                      Contains("all its bytes are 0"));
    data.cells[1].sent_bytes_per_epoch = 3e6;
    CHECK_THAT(scaling_script(data, FigureFormat::svg, ScalingQuantity::volume),
               Contains("sent in an epoch (MB)") && Contains("4 3\n") && !Contains("ideal"));
}

TEST_CASE("efficiency is over the base of a line's own setting") {
    ComparisonData data;
    data.experiment = "sweep";
    data.other_keys = {"model.hidden"};
    for (const auto& [hidden, serial_s, four_s] :
         {std::tuple("64", 0.01, 0.005), std::tuple("256", 0.04, 0.012)}) {
        data.cells.push_back(timed_cell("serial", 1, "none", serial_s));
        data.cells.back().speed_up = {.value = 1, .over_serial = true};
        data.cells.push_back(timed_cell("mg-gcn", 4, "random", four_s));
        data.cells.back().speed_up = {.value = serial_s / four_s, .over_serial = true};
        for (std::size_t i = data.cells.size() - 2; i < data.cells.size(); ++i) data.cells[i].others = {hidden};
    }
    const std::string script = scaling_script(data, FigureFormat::svg, ScalingQuantity::efficiency);
    CHECK_THAT(script, Contains(" 0.5\n") && Contains(" 0.83333") && !Contains(" 0.25\n"));
}

TEST_CASE("a figure of a given width is as wide, with text of the size that is asked for") {
    ComparisonData data;
    data.experiment = "sweep";
    data.cells = {timed_cell("serial", 1, "none", 0.08)};
    FigureLook look(FigureFormat::pdf, FigureHeading::left_out);
    look.width_mm = 88;
    look.font_pt = 6.5;
    look.font = "Times";
    CHECK_THAT(scaling_script(data, look), Contains("size 3.465in,") && Contains("fontscale 0.5 ") &&
                                               Contains("font \"Times,13\"") && !Contains("time of an epoch"));
    look.heading = FigureHeading::title;
    CHECK_THAT(scaling_script(data, look), Contains("time of an epoch") && !Contains("columns:"));
}
