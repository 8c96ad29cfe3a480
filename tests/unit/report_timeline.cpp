#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include <gnnbench/error.hpp>

#include "report/timeline.hpp"
#include "report/timeline_lanes.hpp"

using namespace gnnbench;
using nlohmann::json;

namespace {

/// Rank 0: two stages, the second broadcast under way during the first SpMM, then a GEMM and a lone all-reduce.
/// Rank 1: two messages at once.
Timeline sample() {
    return {.trial = "t1",
            .experiment = "sample",
            .dataset = "a<b",
            .scheme = "mg-gcn",
            .partitioner = "random",
            .kernel = "cpu",
            .machine = "Sample CPU",
            .started = "2026-01-01T00:00:00.000Z",
            .ranks = 2,
            .threads_per_rank = 1,
            .epoch = 3,
            .wall_s = 0.010,
            .spans = {{0, true, "comm", "broadcast", 0, 0.001, 100, 2},
                      {0, false, "spmm", "spmm", 0.001, 0.004, 0, 0},
                      {0, true, "comm", "broadcast", 0.0015, 0.003, 200, 2},
                      {0, false, "spmm", "spmm", 0.004, 0.006, 0, 0},
                      {0, false, "gemm", "gemm", 0.006, 0.008, 0, 0},
                      {0, true, "comm", "all-reduce", 0.008, 0.0095, 50, 2},
                      {1, true, "comm", "point-to-point", 0.001, 0.003, 10, 2},
                      {1, true, "comm", "point-to-point", 0.002, 0.004, 20, 2}}};
}

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}

}  // namespace

TEST_CASE("stages are numbered within a product, and what is under way at once lies apart") {
    const Timeline t = sample();
    const auto places = places_of(t);
    std::vector<int> stages, lanes;
    for (const SpanPlace& p : places) {
        stages.push_back(p.stage);
        lanes.push_back(p.lane);
    }
    CHECK(stages == std::vector<int>{1, 1, 2, 2, 0, 0, 1, 2});
    CHECK(lanes == std::vector<int>{0, 0, 0, 0, 0, 0, 0, 1});
    CHECK(lane_count(t, places, 0, true) == 1);
    CHECK(lane_count(t, places, 1, true) == 2);
    CHECK(lane_count(t, places, 1, false) == 1);
}

TEST_CASE("a Chrome trace: a process a rank, a thread a stream, microseconds") {
    const std::string text = timeline_chrome(sample());
    const json j = json::parse(text);
    CHECK(j.at("otherData").at("scheme") == "mg-gcn");
    const json& events = j.at("traceEvents");
    // 2 ranks × (name, order) + (2 + 3 threads) × (name, order) + 8 spans
    REQUIRE(events.size() == 4 + 10 + 8);
    CHECK(events[0] ==
          json::parse(R"({"ph":"M","name":"process_name","pid":0,"tid":0,"args":{"name":"rank 0"}})"));
    CHECK(text.find(R"({"args":{"name":"communication"},"name":"thread_name","ph":"M","pid":0,"tid":2})") !=
          std::string::npos);
    CHECK(text.find(R"~({"args":{"name":"communication (2)"},"name":"thread_name","ph":"M","pid":1,"tid":4})~") !=
          std::string::npos);
    CHECK(events[16] == json::parse(R"({"ph":"X","name":"broadcast","cat":"comm","pid":0,"tid":2,"ts":1500.0,
        "dur":1500.0,"args":{"phase":"comm","bytes":200,"group_size":2,"stage":2}})"));
    CHECK(events[18] ==
          json::parse(R"({"ph":"X","name":"gemm","cat":"gemm","pid":0,"tid":1,"ts":6000.0,"dur":2000.0,
        "args":{"phase":"gemm"}})"));
}

TEST_CASE("a figure: bars where their times are, computation above communication") {
    const std::string svg = timeline_svg(sample());
    CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1000\""));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(svg.find("a&lt;b, random partition, 2 ranks of 1 thread, cpu kernel, epoch 3") != std::string::npos);
    // 10 ms are 830 pixels from 150 on; lanes are 22 high, the second 25 below the first.
    CHECK(
        svg.find("<rect x=\"233.00\" y=\"78\" width=\"249.00\" height=\"22\" fill=\"#0072b2\" stroke=\"#333333\" "
                 "stroke-width=\"0.5\"><title>spmm: 3.00 ms</title></rect>\n<text x=\"357.50\" y=\"92.5\" "
                 "text-anchor=\"middle\" font-size=\"10\" fill=\"#ffffff\">1</text>") != std::string::npos);
    CHECK(
        svg.find("<rect x=\"274.50\" y=\"103\" width=\"124.50\" height=\"22\" fill=\"#d55e00\" stroke=\"#333333\" "
                 "stroke-width=\"0.5\"><title>broadcast: 1.50 ms, 200 bytes, 2 ranks</title></rect>") !=
        std::string::npos);
    CHECK(occurrences(svg, "<title>") == 8);
    CHECK(occurrences(svg, ">computation<") == 2);
    // Each communication by its name: in the legend, and in bars that have room.
    for (const char* kind : {"broadcast", "all-reduce", "point-to-point"})
        CHECK(svg.find(std::string("y=\"64\">") + kind + "</text>") != std::string::npos);
    CHECK(svg.find(">comm</text>") == std::string::npos);
    CHECK(svg.find(">broadcast 2</text>") != std::string::npos);
    CHECK(svg.find("fill=\"#cc79a7\"") != std::string::npos);
    CHECK(svg.find(">spmm</text>") != std::string::npos);
    CHECK(svg.find(">optimizer</text>") == std::string::npos);  // the legend has what the figure has
    CHECK(occurrences(svg, "stroke=\"#cccccc\"") == 11);        // 0, 1, … 10 ms
    CHECK(svg.find("more ranks than cores") == std::string::npos);
    Timeline crowded = sample();
    crowded.oversubscribed = true;
    CHECK(timeline_svg(crowded).find("more ranks than cores") != std::string::npos);
}

TEST_CASE("a part of an epoch as a figure") {
    CHECK_THROWS_AS(timeline_svg(sample(), {0.02, 0.03}), SpecError);
    CHECK_THROWS_WITH(timeline_svg(sample(), {0.02, 0.03}), Catch::Contains("--from"));
    CHECK_THROWS_AS(timeline_svg(sample(), {0.004, 0.004}), SpecError);
    const std::string svg = timeline_svg(sample(), {0.0065, 0.0085});
    CHECK(occurrences(svg, "<title>") == 2);
    // The GEMM began before and is cut off.
    CHECK(svg.find("<rect x=\"150.00\" y=\"78\" width=\"622.50\"") != std::string::npos);
    CHECK(svg.find(">spmm</text>") == std::string::npos);
    CHECK(svg.find(">7.0</text>") != std::string::npos);
}

TEST_CASE("an epoch without spans is an empty figure") {
    Timeline t = sample();
    t.spans.clear();
    CHECK(occurrences(timeline_svg(t), "<title>") == 0);
    CHECK(json::parse(timeline_chrome(t)).at("traceEvents").size() == 12);
}
