// The four papers: every table and figure has its file, every shipped table renders in all formats, and published.csv
// names only cells that there are.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <nlohmann/json.hpp>

#include "report/figure.hpp"
#include "report/paper_table.hpp"
#include "report/table_render.hpp"
#include "spec/table_definition.hpp"

using namespace gnnbench;
namespace fs = std::filesystem;

namespace {

const fs::path experiments = fs::path(GNNBENCH_SOURCE_DIR) / "experiments";

const std::map<std::string, std::vector<std::string>> papers{
    {"mg-gcn",
     {"table-1", "table-2", "table-3", "figure-5", "figure-6", "figure-7", "figure-8", "figure-9", "figure-10",
      "figure-11", "figure-12", "figure-13"}},
    {"gossip", {"table-3-1",  "table-3-2",  "table-3-3",  "table-3-4",  "table-3-5", "table-3-6", "table-3-7",
                "table-3-8",  "table-3-9",  "table-3-10", "table-3-11", "table-4-1", "table-4-2", "table-4-3",
                "table-4-4",  "table-4-5",  "table-4-6",  "table-4-7",  "table-4-8", "table-4-9", "figure-3-4",
                "figure-3-5", "figure-3-6", "figure-4-6", "figure-4-7", "figure-4-8"}},
    {"plexus",
     {"table-2-1", "table-4-1", "table-5-1", "table-6-1", "figure-4-1", "figure-4-1-predicted", "figure-5-1",
      "figure-6-1", "figure-7-1", "figure-7-2", "figure-7-3", "figure-7-4", "figure-7-5", "figure-7-5-frontier"}},
    {"demirci",
     {"table-1", "table-2", "table-3", "table-4", "figure-3", "figure-4a", "figure-4b", "figure-4c", "figure-5"}}};

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}

ResolvedTable unmeasured(const TableDefinition& t) {
    static const MeasuredCells nothing;
    return resolve(t, nothing, "small", [](std::int64_t, const Measure&) { return std::nullopt; });
}

/// Every table and figure in experiments/, of the papers or not.
std::vector<TableDefinition> shipped_tables() {
    std::vector<TableDefinition> all;
    for (const auto& entry : fs::recursive_directory_iterator(experiments)) {
        if (entry.path().extension() != ".yaml") continue;
        std::ifstream in(entry.path());
        const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
        if (is_table_definition(text)) all.push_back(load_table_definition(entry.path()));
    }
    return all;
}

void check_renders(const TableDefinition& t) {
    const Table table = paper_table(unmeasured(t));
    const std::string text = render(table, OutputFormat::text);
    for (const auto& [place, given] : t.published) {
        INFO(place.first << ", " << place.second);
        CHECK(text.find(given.text.substr(0, 12)) != std::string::npos);
    }
    CHECK(text.find("\n\n") != std::string::npos);
    CHECK(count(render(table, OutputFormat::markdown), "\n|") == t.rows.size() + 2);
    const std::string latex = render(table, OutputFormat::latex);
    CHECK(count(latex, "\\begin{") == count(latex, "\\end{"));
    const std::string html = render(table, OutputFormat::html);
    CHECK(count(html, "<tr>") >= t.rows.size() + 2);
    CHECK(count(html, "<tr>") == count(html, "</tr>"));
    const auto j = nlohmann::json::parse(render(table, OutputFormat::json));
    CHECK(j.at("cells").size() == t.rows.size() * t.columns.size());
    std::size_t given = 0;
    for (const auto& cell : j.at("cells")) {
        // No trial was run, so what is there was counted by a command and says so.
        const bool counted = t.counted.contains({cell.at("row"), cell.at("column")});
        CHECK(cell.at("ours").is_null() != counted);
        if (counted) CHECK_THAT(cell.at("remarks").get<std::string>(), Catch::Contains("counted on"));
        given += !cell.at("published").is_null();
    }
    CHECK(given == t.published.size());
    CHECK(render(table, OutputFormat::csv).starts_with("row,column,metric,unit,ours,"));
}

}  // namespace

TEST_CASE("every shipped table renders in every format") {
    const std::vector<TableDefinition> tables = shipped_tables();
    CHECK(tables.size() > 100);
    for (const TableDefinition& t : tables) {
        INFO(t.name);
        check_renders(t);
    }
}

TEST_CASE("every table and figure of the papers has its file, and figures have a script") {
    for (const auto& [paper, names] : papers)
        for (const std::string& name : names) {
            INFO(paper << "/" << name);
            const fs::path file = experiments / paper / (name + ".yaml");
            REQUIRE(fs::exists(file));
            const TableDefinition t = load_table_definition(file);
            CHECK(t.name == paper + "/" + name);
            CHECK(t.plot.has_value() >= name.starts_with("figure"));
            if (t.plot) {
                CHECK(figure_script(unmeasured(t), FigureFormat::svg).find("plot ") != std::string::npos);
                CHECK(figure_script(unmeasured(t), FigureFormat::png).find("pngcairo") != std::string::npos);
            }
        }
}

TEST_CASE("every number in published.csv has a table") {
    for (const auto& [paper, names] : papers) {
        const auto tables = published_tables(experiments / paper / "published.csv");
        CHECK(tables.size() > 5);
        for (const auto& [table, line] : tables) {
            INFO(paper << "/published.csv:" << line << ": " << table);
            REQUIRE(fs::exists(experiments / paper / (table + ".yaml")));
            CHECK(!load_table_definition(experiments / paper / (table + ".yaml")).published.empty());
        }
    }
}

TEST_CASE("tables of scaling are there, and derive numbers from others") {
    for (const char* name :
         {"quickstart-scaling", "mg-gcn/scaling-analysis", "plexus/overtaking", "demirci/payback"}) {
        INFO(name);
        const TableDefinition t = load_table_definition(experiments / (std::string(name) + ".yaml"));
        const auto derived = [](const TableLine& c) {
            return c.measure && c.measure->against > Against::relative_to;
        };
        CHECK(std::any_of(t.columns.begin(), t.columns.end(), derived));
    }
}

TEST_CASE("slips of the papers are told") {
    const auto erratum = [](const char* file, const char* row, const char* column) {
        return load_table_definition(experiments / file).published.at({row, column}).erratum;
    };
    CHECK_THAT(erratum("mg-gcn/table-1.yaml", "Cora", "vertices"), Catch::Contains("CiteSeer"));
    CHECK_THAT(erratum("plexus/table-6-1.yaml", "ogbn-papers100M", "features"), Catch::Contains("128"));
    CHECK_THAT(erratum("demirci/figure-4b.yaml", "8", "HP, d = 100"), Catch::Contains("40x"));
    CHECK_THAT(erratum("plexus/table-6-1.yaml", "ogbn-papers100M", "non-zeros"), Catch::Contains("directed"));
    CHECK_THAT(erratum("gossip/table-4-8.yaml", "F1-score", "Gossip 1"), Catch::Contains("0.9609"));
    CHECK_THAT(erratum("gossip/table-4-9.yaml", "F1-score", "Gossip 1"), Catch::Contains("0.7721"));
    CHECK_THAT(erratum("mg-gcn/stated.yaml", "GCN models set against DistGNN", "times"), Catch::Contains("three"));
}

TEST_CASE("what the papers' texts give for all settings stands at each, and averages stand apart") {
    const auto given = [](const char* file, const char* row, const char* column) {
        return load_table_definition(experiments / file).published.at({row, column}).text;
    };
    for (const char* gpus : {"1", "3", "9", "15", "21", "27"})
        CHECK(given("demirci/figure-4c.yaml", gpus, "HP") == "75");
    for (const char* gpus : {"16", "32", "64", "128", "256", "512", "1024"})
        for (const char* system : {"SA", "SA+GVB"}) CHECK(given("plexus/figure-7-2.yaml", gpus, system) == "OOM");
    CHECK(given("demirci/figure-5-volume.yaml", "average", "HP over SHP") == "1.1");
    CHECK(given("demirci/stated.yaml", "GP under RP, running time, most", "value") == "80");
    CHECK(given("plexus/figure-4-1.yaml", "points of the fit", "value") == "67");
    CHECK(given("plexus/stated.yaml", "BNS-GCN, partitioning papers100M, given up after", "value") == "5");
    CHECK(given("gossip/table-3-3.yaml", "hidden units", "Amazon") == "512");
}
