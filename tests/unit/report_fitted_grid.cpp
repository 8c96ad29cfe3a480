#include <catch2/catch.hpp>

#include "report/fitted_grid.hpp"
#include "report/rows.hpp"

using namespace gnnbench;

namespace {

using Align = TextGrid::Align;
using GridLines = std::vector<std::vector<std::string>>;

std::size_t widest_grid_line(const std::string& text) {
    std::size_t widest = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        widest = std::max(widest, display_width(text.substr(at, end - at)));
        at = end + 1;
    }
    return widest;
}

const GridLines grid_sample{{"verdict", "scheme", "bytes", "why"},
                            {"skipped", "serial", "1234567890", "trains on one device; 2 ranks were given to it"},
                            {"run", "mg-gcn", "12", ""}};
const std::vector<Align> grid_columns{Align::left, Align::left, Align::right, Align::left};

}  // namespace

TEST_CASE("a grid that fits, or that nobody's terminal limits, is not folded") {
    const std::string whole =
        "verdict  scheme       bytes  why\n"
        "skipped  serial  1234567890  trains on one device; 2 ranks were given to it\n"
        "run      mg-gcn          12\n";
    CHECK(fitted_grid(grid_sample, grid_columns, "  ", 0) == whole);
    CHECK(fitted_grid(grid_sample, grid_columns, "  ", 200) == whole);
}

TEST_CASE("texts fold within their column") {
    CHECK(fitted_grid(grid_sample, grid_columns, "  ", 60) ==
          "verdict  scheme       bytes  why\n"
          "skipped  serial  1234567890  trains on one device; 2 ranks\n"
          "                             were given to it\n"
          "run      mg-gcn          12\n");
}

TEST_CASE("where columns do not fit, each line becomes a block, and no number is cut") {
    const std::string text = fitted_grid(grid_sample, grid_columns, "  ", 30);
    CHECK(text ==
          "verdict  skipped\n"
          "scheme   serial\n"
          "bytes    1234567890\n"
          "why      trains on one device;\n"
          "         2 ranks were given to\n"
          "         it\n"
          "\n"
          "verdict  run\n"
          "scheme   mg-gcn\n"
          "bytes    12\n");
    CHECK(widest_grid_line(text) <= 30);
}

TEST_CASE("people read rounded numbers, programs all digits") {
    CHECK(rounded_text(0.008461234) == "0.008461");
    CHECK(rounded_text(12345.678) == "12346");
    CHECK(rounded_text(3.0) == "3");
    CHECK(rounded_text(-2.50001) == "-2.5");
    CHECK(rounded_text(0.0) == "0");
    CHECK(rounded_text(1.23456e-7) == "1.235e-07");
    CHECK(rounded_text(std::int64_t{1234567}) == "1234567");
    const QueryResult row{{"epoch_s"}, {{0.0123456789}}};
    CHECK(render_rows(row, OutputFormat::text) == "epoch_s\n0.01235\n");
    CHECK(render_rows(row, OutputFormat::csv) == "epoch_s\n0.0123456789\n");
    CHECK(render_rows(row, OutputFormat::json).find("0.0123456789") != std::string::npos);
}
