// BTER and the configuration model: what they reach of what is asked, the same on any number of threads.
#include <algorithm>
#include <map>

#include <omp.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/catalog.hpp>
#include <data/content.hpp>
#include <data/describe.hpp>
#include <data/generate.hpp>
#include <data/profile.hpp>
#include <data/store.hpp>
#include <unit/data_support.hpp>

using namespace gnnbench;
using namespace gnnbench::test;
using nlohmann::json;

namespace {

/// Kolmogorov and Smirnov's distance at most 0.02, clustering by degree off by at most 10% on average.
void check_reached(const std::string& kind, const json& given) {
    INFO(kind << " " << given.dump());
    const auto d = generate(kind, given);
    const auto& degrees = d.report["degrees"];
    const auto& clustering = d.report["clustering"];
    INFO(d.report.dump(1));
    CHECK(degrees["kolmogorov_smirnov"] <= 0.02);
    CHECK(degrees["reached_mean"].get<double>() == Approx(degrees["wanted_mean"].get<double>()).epsilon(0.001));
    CHECK(clustering["mean_error"] <= 0.1);
    // Every scale of degrees that has vertices enough to tell, not only the many small ones; but where next to no
    // clustering is wanted, edges at random already have more.
    int judged = 0;
    for (const auto& bin : d.report["by_degree"]) {
        const double wanted = bin["wanted_clustering"], reached = bin["reached_clustering"];
        if (bin["wanted_vertices"] < 1000 || wanted < 0.1) continue;
        INFO("degrees " << bin["from"] << " to " << bin["to"]);
        CHECK(reached == Approx(wanted).epsilon(0.15));
        ++judged;
    }
    CHECK(judged > 0);
}

}  // namespace

TEST_CASE("BTER reaches degrees and clustering on 100,000 vertices") {
    // 100,849 vertices with the degrees and clustering of a real graph, measured.
    check_reached("like", {{"profile", "amazon0601"}, {"scale", 0.25}, {"features", 1}});
    check_reached("bter", {{"vertices", 100000}, {"average_degree", 14}, {"clustering", 0.25}, {"features", 1}});
    check_reached("bter", {{"vertices", 100000},
                           {"average_degree", 8},
                           {"distribution", "power-law"},
                           {"clustering", 0.15},
                           {"features", 1}});
}

TEST_CASE("the report's distance and clustering are those of the graph") {
    const auto profile = profile_degrees(read_profile(profile_text("cora"), "cora"), 1, 5416);
    const auto d = generate("like", {{"profile", "cora"}, {"scale", 2}, {"features", 1}});
    const auto g = d.graph.view();
    const auto row = [&](std::int64_t v) {
        return g.indices.subspan(usize(g.indptr[usize(v)]), usize(g.indptr[usize(v) + 1] - g.indptr[usize(v)]));
    };
    std::map<std::int64_t, double> share, triangles;
    for (std::int64_t v = 0; v < 5416; ++v) {
        const auto degree = static_cast<double>(row(v).size());
        share[std::ssize(row(v))] += 1.0 / 5416;
        double closed = 0;
        for (auto u : row(v))
            for (auto w : row(v)) closed += u != w && std::ranges::binary_search(row(u), w);
        if (degree > 1) triangles[std::ssize(row(v))] += closed / degree / (degree - 1) / 5416;
    }
    double difference = 0, distance = 0, clustering = 0;
    for (std::int64_t degree = 0; degree <= 168; ++degree) {
        for (const auto& c : profile) difference += c.degree == degree ? c.share : 0;
        difference -= share[degree];
        distance = std::max(distance, std::abs(difference));
        clustering += triangles[degree];
    }
    CHECK(distance < 0.001);
    CHECK(d.report["clustering"]["reached_mean"].get<double>() == Approx(clustering).margin(0.003));
    CHECK(clustering == Approx(mean_clustering(profile)).epsilon(0.05));
}

TEST_CASE("BTER reaches them where degrees are equal, and where the graph is dense") {
    check_reached("like", {{"profile", "arxiv"}, {"scale", 0.2}, {"features", 1}});
    check_reached("bter", {{"vertices", 30000}, {"average_degree", 20}, {"spread", 0.05}, {"clustering", 0.5}});
    check_reached("bter", {{"vertices", 20000}, {"average_degree", 150}, {"clustering", 0.4}});
}

TEST_CASE("graphs of given degrees are the same at 1, 2 and 4 threads") {
    for (const auto& [kind, given] : {std::pair<std::string, json>{"bter", {{"vertices", 5000}}},
                                      {"configuration", {{"vertices", 5000}}},
                                      {"like", {{"profile", "products"}, {"scale", 0.002}, {"features", 4}}}}) {
        INFO(kind);
        std::vector<std::string> digests, reports;
        for (int threads : {1, 2, 4}) {
            omp_set_num_threads(threads);
            const auto made = generate(kind, given);
            digests.push_back(content_digest(content_of(made)));
            reports.push_back(made.report.dump());
        }
        omp_set_num_threads(omp_get_num_procs());
        CHECK(digests == std::vector<std::string>(3, digests[0]));
        CHECK(reports == std::vector<std::string>(3, reports[0]));
        auto other = given;
        other["seed"] = 2;
        CHECK(content_digest(content_of(generate(kind, other))) != digests[0]);
    }
}

TEST_CASE("BTER at its edges") {
    const auto two = generate("bter", {{"vertices", 2}, {"average_degree", 1}, {"clustering", 0}});
    CHECK(two.graph.indices == std::vector<std::int32_t>{1, 0});
    const auto complete = generate("bter", {{"vertices", 6}, {"average_degree", 5}, {"clustering", 0.95}});
    CHECK(complete.graph.indices.size() == 30);
    const auto pairs = generate("configuration", {{"vertices", 10}, {"average_degree", 1}});
    CHECK(pairs.report["components"] == 5);
    CHECK(pairs.report["degrees"]["reached_maximum"] == 1);
    CHECK_FALSE(pairs.report["clustering"].contains("wanted_mean"));
    // By degree, ids ascend with it.
    const auto sorted = generate("bter", {{"vertices", 500}, {"average_degree", 9}, {"order", "degree"}}).graph;
    for (std::size_t v = 1; v < 500; ++v)
        CHECK(sorted.indptr[v + 1] - sorted.indptr[v] >= sorted.indptr[v] - sorted.indptr[v - 1]);
}

TEST_CASE("what no graph can have is refused, with what it can") {
    const auto refused = [](const std::string& kind, const json& given) {
        return message_of<SpecError>([&] { generate(kind, given); });
    };
    CHECK_THAT(refused("bter", {{"vertices", 1}}),
               says("average_degree is 40; of 1 vertices, each has at most 0"));
    CHECK_THAT(refused("bter", {{"vertices", 10}}), says("of 10 vertices, each has at most 9 neighbours"));
    CHECK_THAT(refused("bter", {{"vertices", 100}, {"average_degree", 5}, {"max_degree", 100}}),
               says("max_degree is 100; of 100 vertices, each has at most 99"));
    CHECK_THAT(refused("configuration", {{"average_degree", 50}, {"max_degree", 20}}),
               says("average_degree is 50; with a largest degree of 20, 1 to 20 are allowed"));
    CHECK_THAT(refused("bter", {{"average_degree", 2}, {"clustering", 0.9}}), says("clustering is 0.9"));
    CHECK_THAT(refused("bter", {{"average_degree", 0.5}}), says("average_degree"));
    CHECK_THAT(refused("bter", {{"distribution", "pareto"}}), says("distribution"));
    CHECK_THAT(refused("like", {{"profile", "redit"}}), says("profile is 'redit'; known are"));
    CHECK_THAT(refused("like", {{"profile", "redit"}}), says("reddit"));
    CHECK_THAT(refused("like", json::object()), says("profile is ''; known are"));
    CHECK_THAT(refused("like", {{"profile", "reddit"}, {"scale", 0.001}}),
               says("profile reddit with scale 0.001 and density 1: average_degree is 491.99; of 233 vertices"));
    CHECK_THAT(refused("like", {{"profile", "papers100m"}, {"scale", 100}}), says("scale is 100"));
    CHECK_THAT(message_of<DataError>(
                   [] { generate("like", {{"profile", "mine"}, {"profile_file", "/nowhere/mine.json"}}); }),
               says("cannot read /nowhere/mine.json"));
}

TEST_CASE("every profile that comes with the program is whole, and says where its numbers come from") {
    REQUIRE(profile_names().size() >= 5);
    for (const auto& name : profile_names()) {
        INFO(name);
        const auto p = read_profile(profile_text(name), name);
        CHECK(p.name == name);
        CHECK_FALSE(p.sources.empty());
        CHECK((p.assumptions.empty() == std::holds_alternative<DegreeProfile>(p.degrees)));
        if (const auto* fitted = std::get_if<Profile::Fitted>(&p.degrees)) {
            const auto degrees = profile_degrees(p, 1, p.vertices);
            CHECK(mean_degree(degrees) == Approx(fitted->mean_degree).epsilon(1e-4));
            CHECK(mean_clustering(degrees) == Approx(fitted->clustering).epsilon(1e-4));
        }
    }
}

TEST_CASE("like a dataset: its widths, classes, split and degrees at any scale and density") {
    const auto d = generate("like", {{"profile", "reddit"}, {"scale", 0.01}});
    CHECK(d.name == "like-reddit-0.01");
    CHECK(d.graph.vertices() == 2330);
    CHECK(d.feature_count == 602);
    CHECK(d.classes == 41);
    CHECK(static_cast<double>(std::ranges::count(d.masks, Split::train)) / 2330 == Approx(0.66).margin(0.04));
    CHECK(d.report["degrees"]["reached_mean"].get<double>() == Approx(491.99).epsilon(0.01));
    const auto denser =
        generate("like", {{"profile", "arxiv"}, {"scale", 0.05}, {"density", 8}, {"features", 3}, {"classes", 2}});
    CHECK(denser.name.starts_with("like-arxiv-0.05-8x-"));
    CHECK(denser.report["degrees"]["reached_mean"].get<double>() == Approx(8 * 13.7).epsilon(0.01));
    CHECK(denser.feature_count == 3);
    CHECK(denser.classes == 2);
}

TEST_CASE("a measured profile makes a graph like the one that was measured") {
    const auto cora = profile_degrees(read_profile(profile_text("cora"), "cora"), 1, 2708);
    CHECK(mean_degree(cora) == Approx(10556.0 / 2708));
    CHECK(cora.back().degree == 168);
    const TempFolder folder;
    const auto original =
        generate("bter", {{"vertices", 5000}, {"average_degree", 12}, {"clustering", 0.3}, {"features", 2}});
    write_store(folder / "original", original);
    auto measured = measured_profile(Store::open(folder / "original"));
    CHECK(measured["vertices"] == 5000);
    CHECK(measured["features"] == 0);  // they are synthetic
    const auto file = folder.write("mine.json", measured.dump());
    const json given = {{"profile", "mine"}, {"profile_file", file.string()}};
    const auto made = generate("like", given);
    CHECK(made.report["degrees"]["kolmogorov_smirnov"] < 0.001);
    CHECK(made.report["degrees"]["reached_mean"].get<double>() ==
          Approx(original.report["degrees"]["reached_mean"].get<double>()).epsilon(0.001));
    CHECK(made.report["clustering"]["reached_mean"].get<double>() ==
          Approx(original.report["clustering"]["reached_mean"].get<double>()).epsilon(0.05));
    measured["vertices"] = 5;
    measured["measured"] = {{0, 5, 0}};
    folder.write("mine.json", measured.dump());
    CHECK(generate("like", given).report["components"] == 5);
    // Another content of the file is another dataset.
    const auto before = generator_identity("like", given);
    measured["about"] = "something else";
    folder.write("mine.json", measured.dump());
    CHECK(generator_identity("like", given) != before);
    CHECK_FALSE(generator_identity("rmat", json::object()).contains("input"));

    const auto refused = [&](const json& patch) {
        auto broken = measured;
        broken.merge_patch(patch);
        return message_of<DataError>([&] { read_profile(broken.dump(), "mine.json"); });
    };
    CHECK_THAT(refused({{"vertices", 6}}),
               says("mine.json: the entries of \"measured\" have 5 vertices, expected 6"));
    CHECK_THAT(refused({{"vertices", "many"}}),
               says("\"vertices\" is \"many\", allowed is a whole number from 1"));
    CHECK_THAT(refused({{"about", nullptr}}), says("\"about\" is missing"));
    CHECK_THAT(refused({{"name", ""}}), says("\"name\" has 0 characters"));
    CHECK_THAT(refused({{"measred", 1}}), says("unknown field \"measred\""));
    CHECK_THAT(refused({{"measured", {{3, 5000, 2}}}}), says("entry 0 of \"measured\" is [3,5000,2]"));
    CHECK_THAT(refused({{"split", {{"train", 5}, {"validation", 1}, {"test", 0}}}}), says("more vertices"));
    CHECK_THAT(message_of<DataError>([] { read_profile("{", "mine.json"); }), says("it is not JSON"));
}

TEST_CASE("a report is kept in the manifest, and only where there is one") {
    const TempFolder folder;
    auto made = generate("configuration", {{"vertices", 50}, {"average_degree", 4}});
    write_store(folder / "made", made);
    CHECK(Store::open(folder / "made").manifest().report == made.report);
    CHECK(describe(Store::open(folder / "made"))["report"]["components"] == made.report["components"]);
    made.report["components"] = "many";
    write_store(folder / "broken", made);
    CHECK_THAT(message_of<DataError>([&] { Store::open(folder / "broken"); }),
               says("\"report/components\" is no number"));
    write_store(folder / "plain", tiny_dataset());
    CHECK(Store::open(folder / "plain").manifest().report.is_null());
}
