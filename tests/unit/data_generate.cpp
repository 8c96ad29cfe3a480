#include <algorithm>
#include <cmath>
#include <map>

#include <omp.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/content.hpp>
#include <data/fill.hpp>
#include <data/generate.hpp>
#include <data/store.hpp>
#include <unit/data_support.hpp>

using namespace gnnbench;
using namespace gnnbench::test;
using nlohmann::json;

namespace {

/// Share of vertices of the test mask whose nearest class mean (of the train mask) is their own.
double nearest_mean_accuracy(const RawDataset& d, const std::vector<float>& x) {
    auto f = static_cast<std::size_t>(d.feature_count), classes = static_cast<std::size_t>(d.classes);
    std::vector<double> mean(classes * f), count(classes);
    for (std::size_t v = 0; v < d.labels.size(); ++v) {
        if (d.masks[v] != Split::train) continue;
        auto c = static_cast<std::size_t>(d.labels[v]);
        ++count[c];
        for (std::size_t i = 0; i < f; ++i) mean[c * f + i] += x[v * f + i];
    }
    int right = 0, all = 0;
    for (std::size_t v = 0; v < d.labels.size(); ++v) {
        if (d.masks[v] != Split::test) continue;
        std::vector<double> distance(classes);
        for (std::size_t c = 0; c < classes; ++c)
            for (std::size_t i = 0; i < f; ++i)
                distance[c] += std::pow(x[v * f + i] - mean[c * f + i] / count[c], 2);
        ++all;
        right += std::ranges::min_element(distance) - distance.begin() == d.labels[v];
    }
    return static_cast<double>(right) / all;
}

std::vector<float> averaged(const RawDataset& d) {
    auto f = static_cast<std::size_t>(d.feature_count);
    std::vector<float> x(d.features.size());
    for (std::size_t v = 0; v < d.labels.size(); ++v) {
        auto degree = static_cast<float>(d.graph.indptr[v + 1] - d.graph.indptr[v]);
        for (auto e = d.graph.indptr[v]; e < d.graph.indptr[v + 1]; ++e)
            for (std::size_t i = 0; i < f; ++i)
                x[v * f + i] +=
                    d.features[static_cast<std::size_t>(d.graph.indices[static_cast<std::size_t>(e)]) * f + i] /
                    degree;
    }
    return x;
}

}  // namespace

TEST_CASE("generators check their parameters") {
    auto refused = [](const std::string& kind, const json& p) {
        return message_of<SpecError>([&] { generate(kind, p); });
    };
    CHECK_THAT(refused("dcsmb", json::object()), says("unknown generator 'dcsmb'; known are"));
    CHECK_THAT(refused("dcsbm", {{"degree", 3}}), says("unknown key 'degree'"));
    CHECK_THAT(refused("dcsbm", {{"vertices", 0}}), says("parameter 'vertices' is '0'"));
    CHECK_THAT(refused("dcsbm", {{"mixing", 1.5}}), says("mixing"));
    CHECK_THAT(refused("rmat", {{"a", 0.6}, {"b", 0.3}, {"c", 0.3}}), says("a + b + c is 1.2"));
    CHECK_THAT(refused("regular", {{"degree", 3}}), says("degree is 3; in an undirected graph"));
    CHECK_THAT(refused("regular", {{"vertices", 4}, {"degree", 4}}), says("degree is 4, at most 3 are allowed"));
    CHECK_THAT(refused("grid", {{"width", 100000}, {"height", 100000}}), says("at most 2147483647 vertices"));
    for (const auto& kind : generator_kinds()) CHECK_NOTHROW(Params(generator_params(kind)));
}

TEST_CASE("the same parameters give the same dataset on any number of threads") {
    for (const auto& [kind, p] :
         {std::pair<std::string, json>{"dcsbm", {{"vertices", 5000}, {"average_degree", 20}}},
          {"dcsbm", {{"vertices", 5000}, {"average_degree", 20}, {"multi_label", true}}},
          {"rmat", {{"scale", 10}, {"average_degree", 8}}},
          {"rmat", {{"scale", 10}, {"average_degree", 8}, {"multi_label", true}}},
          {"grid", {{"width", 50}, {"height", 7}, {"order", "random"}}},
          {"regular", {{"vertices", 5000}, {"degree", 6}}}}) {
        INFO(kind);
        int threads = omp_get_max_threads();
        omp_set_num_threads(1);
        auto one = content_digest(content_of(generate(kind, p)));
        omp_set_num_threads(5);
        auto five = content_digest(content_of(generate(kind, p)));
        omp_set_num_threads(threads);
        CHECK(one == five);
        auto other = p;
        other["seed"] = 2;
        CHECK(content_digest(content_of(generate(kind, other))) != one);
    }
}

TEST_CASE("dcsbm: size, degrees, communities") {
    auto d = generate(
        "dcsbm",
        {{"vertices", 10000}, {"average_degree", 30}, {"classes", 5}, {"label_noise", 0}, {"mixing", 0.3}});
    auto g = d.graph.view();
    CHECK(std::abs(static_cast<double>(g.edges()) / 1e4 - 30) < 0.3);
    CHECK(measure_symmetry(g).pattern);
    CHECK(count_self_loops(g) == 0);
    std::int64_t crossing = 0, largest = 0;
    for (std::size_t v = 0; v < 10000; ++v) {
        largest = std::max(largest, g.indptr[v + 1] - g.indptr[v]);
        for (auto e = g.indptr[v]; e < g.indptr[v + 1]; ++e)
            crossing += d.labels[v] != d.labels[static_cast<std::size_t>(g.indices[static_cast<std::size_t>(e)])];
    }
    CHECK(static_cast<double>(crossing) / static_cast<double>(g.edges()) == Approx(0.3).margin(0.02));
    CHECK(largest > 300);   // a power law has hubs …
    CHECK(largest < 1000);  // … but none beyond √entries = 548 by much
    CHECK(d.synthetic == std::vector<std::string>{"graph", "features", "labels", "masks"});
    CHECK(d.name == "dcsbm-10000x30-" + d.name.substr(15));

    auto uniform =
        generate("dcsbm", {{"vertices", 2000}, {"average_degree", 30}, {"exponent", 100}, {"order", "community"}});
    CHECK(std::ranges::is_sorted(
        generate("dcsbm", {{"vertices", 2000}, {"label_noise", 0}, {"order", "community"}}).labels));
    std::int64_t most = 0;
    for (std::size_t v = 0; v < 2000; ++v)
        most = std::max(most, uniform.graph.indptr[v + 1] - uniform.graph.indptr[v]);
    CHECK(most < 70);
}

TEST_CASE("regular: every row and column has the degree, but for what permutations have in common") {
    for (const bool directed : {false, true})
        for (const std::int64_t n : {5, 1000, 4096}) {
            const auto d = generate("regular", {{"vertices", n}, {"degree", 4}, {"directed", directed}});
            INFO(n << (directed ? " directed" : " undirected"));
            const RawGraph& g = d.graph;
            CHECK_NOTHROW(check_content(content_of(d), "made"));
            CHECK(count_self_loops(g.view()) == 0);
            if (!directed || n > 5) CHECK(measure_symmetry(g.view()).pattern == !directed);
            const auto stored = std::ssize(g.indices);
            CHECK(g.listed_edges == (directed ? 4 : 2) * n);
            CHECK(g.listed_edges == g.loops_dropped + g.repeats_merged + (directed ? stored : stored / 2));
            CHECK(g.repeats_merged >= 0);
            if (n == 5) continue;
            CHECK(stored >= 4 * n - 60);
            std::vector<std::int64_t> of_column(usize(n));
            for (const std::int32_t j : g.indices) ++of_column[usize(j)];
            CHECK(*std::ranges::max_element(of_column) == 4);
            // random: neighbours are n/3 away on average
            double distance = 0;
            for (std::size_t v = 0; v < usize(n); ++v)
                for (auto e = usize(g.indptr[v]); e < usize(g.indptr[v + 1]); ++e)
                    distance += std::abs(static_cast<double>(g.indices[e]) - static_cast<double>(v));
            CHECK(distance / static_cast<double>(stored * n) == Approx(1.0 / 3).margin(0.03));
        }
}

TEST_CASE("dcsbm: averaging neighbours tells classes that features alone do not, yet not perfectly") {
    auto d = generate("dcsbm", {{"vertices", 4000}, {"average_degree", 20}});
    double alone = nearest_mean_accuracy(d, d.features), together = nearest_mean_accuracy(d, averaged(d));
    INFO("alone " << alone << ", averaged " << together);
    CHECK(alone > 0.2);  // chance is 1/8
    CHECK(together > alone + 0.2);
    CHECK(together < 0.97);
}

TEST_CASE("generators at their edges") {
    CHECK(generate("dcsbm", {{"vertices", 1}}).graph.indices.empty());
    CHECK(generate("dcsbm", {{"vertices", 3}, {"average_degree", 0}}).graph.indices.empty());
    CHECK(generate("dcsbm", {{"vertices", 5}, {"average_degree", 4}, {"communities", 1}}).graph.indices.size() <=
          20);
    CHECK(generate("rmat", {{"vertices", 1}}).graph.vertices() == 1);
    CHECK(generate("rmat", {{"vertices", 1000}, {"directed", true}}).graph.vertices() == 1000);
    // A full lattice: 2·(3·4) − 3 − 4 edges, each twice; no diagonals.
    auto grid = generate("grid", {{"width", 3}, {"height", 4}, {"missing", 0}, {"diagonals", 0}});
    CHECK(grid.graph.indices.size() == 34);
    CHECK(grid.graph.indptr[1] == 2);
    CHECK(grid.graph.indices[0] == 1);  // vertex 0's neighbours: up, and right by the height
    CHECK(grid.graph.indices[1] == 4);
    auto crossed = generate("grid", {{"width", 3}, {"height", 4}, {"missing", 1}, {"diagonals", 1}});
    CHECK(crossed.graph.indices.size() == 12);
    CHECK(generate("grid", {{"width", 3}, {"height", 4}, {"missing", 0}, {"diagonals", 0}, {"directed", true}})
              .graph.indices.size() == 17);
}

TEST_CASE("rmat is skewed: the busiest tenth of vertices has most of the edges") {
    auto d = generate("rmat", {{"scale", 12}, {"average_degree", 16}});
    CHECK(std::abs(static_cast<double>(d.graph.indices.size()) / 4096 - 16) < 0.2);
    std::vector<std::int64_t> degree;
    for (std::size_t v = 0; v < 4096; ++v) degree.push_back(d.graph.indptr[v + 1] - d.graph.indptr[v]);
    std::ranges::sort(degree, std::greater());
    std::int64_t top = 0;
    for (std::size_t v = 0; v < 410; ++v) top += degree[v];
    CHECK(top > static_cast<std::int64_t>(d.graph.indices.size()) / 2);
}

TEST_CASE("dcsbm with several labels: as many as asked for, of communities, of noise as many") {
    const std::int64_t n = 4000, classes = 12;
    nlohmann::json p = {{"vertices", n},       {"average_degree", 20},   {"classes", classes},
                        {"multi_label", true}, {"labels_per_vertex", 3}, {"label_noise", 0}};
    const auto clean = generate("dcsbm", p);
    CHECK(clean.labels.empty());
    REQUIRE(std::ssize(clean.label_matrix) == n * classes);
    CHECK(clean.synthetic == std::vector<std::string>{"graph", "features", "labels", "masks"});
    // Without noise a community's vertices have the same labels, and the communities' sets differ.
    std::map<std::vector<std::uint8_t>, std::int64_t> sets;
    for (std::int64_t v = 0; v < n; ++v)
        ++sets[{clean.label_matrix.begin() + v * classes, clean.label_matrix.begin() + (v + 1) * classes}];
    CHECK(std::ssize(sets) == classes);
    CHECK(static_cast<double>(std::ranges::count(clean.label_matrix, 1)) / static_cast<double>(n) ==
          Approx(3).margin(1.2));  // twelve sets, drawn once

    p["label_noise"] = 1;
    const auto noise = generate("dcsbm", p);
    CHECK(static_cast<double>(std::ranges::count(noise.label_matrix, 1)) / static_cast<double>(n) ==
          Approx(3).margin(0.1));
    CHECK(noise.graph.indices == clean.graph.indices);
    CHECK(noise.features == clean.features);

    p["labels_per_vertex"] = 13;
    CHECK_THROWS_WITH(generate("dcsbm", p),
                      "labels_per_vertex is 13; at most as many as classes, 12, are allowed");
    CHECK(generate("rmat", {{"scale", 8}, {"multi_label", true}}).label_matrix.size() == 256 * 8);
}

TEST_CASE("what is missing is filled at each vertex's id, and said to be made up") {
    auto data = tiny_dataset();
    data.features.clear(), data.labels.clear(), data.masks.clear();
    auto larger = data;
    larger.graph.indptr.push_back(3);
    FillSpec spec{.features = 5, .classes = 3, .seed = 9};
    fill_missing(data, spec);
    fill_missing(larger, spec);
    CHECK(data.synthetic == std::vector<std::string>{"features", "labels", "masks"});
    CHECK(std::equal(data.features.begin(), data.features.end(), larger.features.begin()));
    CHECK(std::equal(data.labels.begin(), data.labels.end(), larger.labels.begin()));
    auto known = tiny_dataset();
    fill_missing(known, spec);
    CHECK(known.synthetic.empty());
    CHECK(known.feature_count == 2);
    // Vertex 3 has no label, so it is in no mask; with no fraction to train, one vertex still is.
    auto masks = random_masks({true, true, true, false},
                              {.train_fraction = 0, .validation_fraction = 0, .test_fraction = 1, .seed = 1});
    CHECK(masks[3] == Split::none);
    CHECK(std::ranges::count(masks, Split::train) == 1);
    CHECK(std::ranges::count(masks, Split::test) == 2);
}
