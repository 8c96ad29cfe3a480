// Labels from degrees, where a graph has none (thesis on Plexus, section 6.2).
#include <algorithm>
#include <numeric>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/degree_labels.hpp>
#include <data/fill.hpp>
#include <data/generate.hpp>
#include <data/profile.hpp>
#include <unit/data_support.hpp>

using namespace gnnbench;
using namespace gnnbench::test;
using nlohmann::json;

namespace {

/// The rows, each ascending.
RawGraph rows(const std::vector<std::vector<std::int32_t>>& lists) {
    RawGraph g;
    for (const auto& row : lists) {
        g.indices.insert(g.indices.end(), row.begin(), row.end());
        g.indptr.push_back(std::ssize(g.indices));
    }
    return g;
}

using Labels = std::vector<std::int32_t>;

/// By sorting: NumPy's argsort, stable, and array_split, as in the authors' program.
Labels sorted_and_split(const RawGraph& g, std::int64_t classes) {
    const std::int64_t n = g.vertices();
    std::vector<std::int64_t> degree(usize(n)), order(usize(n));
    for (std::int64_t v = 0; v < n; ++v)
        for (std::int64_t e = g.indptr[usize(v)]; e < g.indptr[usize(v) + 1]; ++e)
            degree[usize(v)] += g.indices[usize(e)] != v;
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::int64_t v) { return degree[usize(v)]; });
    Labels labels(usize(n));
    std::int64_t at = 0;
    for (std::int64_t c = 0; c < classes; ++c)
        for (std::int64_t i = 0; i < n / classes + (c < n % classes ? 1 : 0); ++i)
            labels[usize(order[usize(at++)])] = static_cast<std::int32_t>(c);
    return labels;
}

}  // namespace

TEST_CASE("labels from degrees: ascending degrees in even classes, ties by id, self-loops not counted") {
    // Degrees 3, 1, 1, 2, 1, whatever loops vertices 1 and 3 have.
    const RawGraph star = rows({{1, 2, 3}, {0, 1}, {0}, {0, 3, 4}, {3}});
    CHECK(degree_labels(star.view(), 2) == Labels{1, 0, 0, 1, 0});
    CHECK(degree_labels(star.view(), 3) == Labels{2, 0, 0, 1, 1});
    CHECK(degree_labels(star.view(), 1) == Labels{0, 0, 0, 0, 0});
    CHECK(degree_labels(star.view(), 7) == Labels{4, 0, 1, 3, 2});
    // One degree: by id alone.
    CHECK(degree_labels(rows({{1}, {0}, {3}, {2}}).view(), 2) == Labels{0, 0, 1, 1});
    CHECK(degree_labels(rows({{}, {}, {}}).view(), 2) == Labels{0, 0, 1});
}

TEST_CASE("labels from degrees are those of a stable sort that is cut into classes") {
    for (const int classes : {2, 7, 32, 5000}) {
        const json given = {{"scale", 11}, {"classes", classes}, {"labels", "degrees"}};
        const RawDataset d = generate("rmat", given);
        INFO(classes << " classes");
        CHECK(d.classes == classes);
        CHECK(d.labels == sorted_and_split(d.graph, classes));
        CHECK(d.synthetic == std::vector<std::string>{"graph", "features", "labels", "masks"});
    }
}

TEST_CASE("every generator makes labels from degrees, of the graph and features that it makes anyway") {
    for (const std::string& kind : generator_kinds()) {
        json given = {{"classes", 4}, {"features", 3}};
        if (kind == "like") given.update({{"profile", "cora"}, {"scale", 0.2}});
        if (kind == "grid") given.update({{"width", 30}, {"height", 10}});
        if (kind == "rmat") given["scale"] = 8;
        if (kind != "like" && kind != "grid" && kind != "rmat") given["vertices"] = 300;
        if (kind == "regular") given["degree"] = 4;
        if (kind == "bter" || kind == "configuration" || kind == "dcsbm") given["average_degree"] = 8;
        const RawDataset usual = generate(kind, given);
        given["labels"] = "degrees";
        const RawDataset by_degree = generate(kind, given);
        INFO(kind);
        CHECK(by_degree.labels == sorted_and_split(usual.graph, 4));
        CHECK(by_degree.labels != usual.labels);
        CHECK(by_degree.graph.indices == usual.graph.indices);
        CHECK(by_degree.features == usual.features);
        CHECK(by_degree.masks == usual.masks);
        CHECK(by_degree.synthetic == usual.synthetic);
        CHECK(by_degree.name != usual.name);
    }
}

TEST_CASE("stores that were made before labels could come from degrees are found") {
    for (const char* kind : {"rmat", "dcsbm"}) {
        const json usual = generator_identity(kind, json::object());
        CHECK_FALSE(usual["parameters"].contains("labels"));
        const json by_degree = generator_identity(kind, {{"labels", "degrees"}});
        CHECK(by_degree["parameters"]["labels"] == "degrees");
        CHECK(by_degree["parameters"].size() == usual["parameters"].size() + 1);
    }
}

TEST_CASE("labels from degrees: labels that are there stay, and several a vertex are refused") {
    RawDataset known = tiny_dataset();
    const Labels labels = known.labels;
    fill_missing(known, {.classes = 2, .degree_labels = true});
    CHECK(known.labels == labels);
    CHECK(known.synthetic.empty());

    const json several = {{"labels", "degrees"}, {"multi_label", true}};
    for (const char* kind : {"rmat", "dcsbm"})
        CHECK_THROWS_WITH(generate(kind, several),
                          "labels is degrees, which gives each vertex one class; multi_label asks for several");
    const TempFolder folder;
    json profile = json::parse(profile_text("cora"));
    profile["labels_per_vertex"] = 2;
    const auto file = folder.write("several.json", profile.dump());
    const json like = {{"profile", "several"}, {"profile_file", file.string()}, {"labels", "degrees"}};
    CHECK_THROWS_WITH(generate("like", like),
                      "labels is degrees, which gives each vertex one class; cora has 2 labels a vertex");
    CHECK_THAT(message_of<SpecError>([] { generate("rmat", {{"labels", "degree"}}); }), says("random, degrees"));
}
