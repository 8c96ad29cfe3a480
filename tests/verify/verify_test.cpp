// The product's own parts: the selection of pairs, the count of nets, which values a parameter takes.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/params.hpp>

#include "verify/connectivity.hpp"
#include "verify/findings.hpp"
#include "verify/pairwise.hpp"
#include "verify/product.hpp"

using namespace gnnbench;
using namespace gnnbench::verify;

namespace {

using Pairs = std::set<std::pair<std::string, std::string>>;

Pairs pairs_in(const std::vector<std::vector<std::string>>& candidates, const std::vector<std::size_t>& chosen) {
    Pairs pairs;
    for (const std::size_t c : chosen)
        for (const auto& a : candidates[c])
            for (const auto& b : candidates[c])
                if (a < b) pairs.insert({a, b});
    return pairs;
}

std::vector<std::size_t> all_of(const std::vector<std::vector<std::string>>& candidates) {
    std::vector<std::size_t> all(candidates.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
}

}  // namespace

TEST_CASE("a pairwise cover of nothing is nothing") { CHECK(pairwise_cover({}).empty()); }

TEST_CASE("a pairwise cover of two by two by two values takes four of eight") {
    std::vector<std::vector<std::string>> candidates;
    for (const char* a : {"a0", "a1"})
        for (const char* b : {"b0", "b1"})
            for (const char* c : {"c0", "c1"}) candidates.push_back({a, b, c});
    const auto chosen = pairwise_cover(candidates);
    CHECK(chosen.size() == 4);
    CHECK(chosen[0] == 0);  // the first of equals
    CHECK(pairs_in(candidates, chosen) == pairs_in(candidates, all_of(candidates)));
}

TEST_CASE("a pairwise cover has every pair there is, and only pairs that there are") {
    // Values of later factors depend on the first, and some combinations are missing.
    std::vector<std::vector<std::string>> candidates;
    for (int s = 0; s < 5; ++s)
        for (int r = 1; r < 10; ++r)
            for (int p = 0; p < 3; ++p)
                for (int v = 0; v <= s; ++v)
                    if ((s + r) % 4 != 0)
                        candidates.push_back({"s" + std::to_string(s), "r" + std::to_string(r),
                                              "p" + std::to_string(p),
                                              "s" + std::to_string(s) + " v" + std::to_string(v)});
    const auto chosen = pairwise_cover(candidates);
    CHECK(pairs_in(candidates, chosen) == pairs_in(candidates, all_of(candidates)));
    CHECK(chosen.size() < candidates.size() / 2);
    CHECK(chosen == pairwise_cover(candidates));
}

TEST_CASE("a pairwise cover takes a postponed candidate only for pairs that no other has") {
    std::vector<std::vector<std::string>> candidates = {{"a0", "b0", "c0"}, {"a0", "b1"}, {"a1", "b1"}};
    CHECK(pairwise_cover(candidates, {true, false, false}) == std::vector<std::size_t>{1, 2, 0});
    candidates = {{"a0", "b0", "c0"}, {"a0", "b0"}, {"b0", "c0"}, {"a0", "c0"}};
    CHECK(pairwise_cover(candidates, {true, false, false, false}) == std::vector<std::size_t>{1, 2, 3});
}

TEST_CASE("connectivity counts the parts in each net beyond one, the owner's among them") {
    // Rows: 0 ← 1, 2; 1 ← 2; 2 ← 2; 3 ← nothing. Parts {0, 1}, {2}, {3}.
    const std::vector<std::int64_t> indptr = {0, 2, 3, 4, 4};
    const std::vector<std::int32_t> indices = {1, 2, 2, 2};
    const GraphView graph{.indptr = indptr, .indices = indices, .weights = {}};
    const std::vector<Part> parts = {0, 0, 1, 2};
    const Connectivity nets = count_connectivity(graph, parts);
    CHECK(nets.columns == 1);  // column 2: its owner and part 0
    CHECK(nets.rows == 2);     // rows 0 and 1: their owner and part 1
    const std::vector<Part> apart = {0, 1, 2, 3};
    CHECK(count_connectivity(graph, apart).columns == 1 + 2);
    CHECK(count_connectivity(graph, apart).rows == 2 + 1);
    const std::vector<Part> one(4, 0);
    CHECK(count_connectivity(graph, one).columns == 0);
}

TEST_CASE("a parameter's values in the product follow from its declaration") {
    using Values = std::vector<std::string>;
    CHECK(product_values({"overlap", ParamType::boolean, "true", 0, 0, nullptr, ""}) == Values{"true", "false"});
    CHECK(product_values({"backward", ParamType::choice, "b", 0, 0, "a|b|c", ""}) == Values{"b", "a", "c"});
    CHECK(product_values({"blocks", ParamType::integer, "1", 1, 64, nullptr, ""}) == Values{"1", "2"});
    CHECK(product_values({"replication", ParamType::integer, "2", 1, 64, nullptr, ""}) == Values{"2", "1", "3"});
    CHECK(product_values({"replication", ParamType::integer, "2", 1, 2, nullptr, ""}) == Values{"2", "1"});
    CHECK(product_values({"grid_rows", ParamType::integer, "0", 0, 64, nullptr, ""}) == Values{"0"});
    CHECK(product_values({"rate", ParamType::real, "1", 0, 1, nullptr, ""}) == Values{"1"});
}

namespace {

Subject small_subject() {
    return {.graph = "small",
            .layers = "gcn",
            .size = {100, 500, false},
            .model = {.widths = {5, 4, 3, 2}},
            .train = {.weight_decay = {0, 0, 0}}};
}

}  // namespace

TEST_CASE("a cell that does not run says why") {
    const PluginCatalog catalog;
    const Subject subject = small_subject();
    std::set<Standing> met;
    for (const ProductCell& c : whole_product(catalog, {subject}, {1, 3})) {
        met.insert(c.standing);
        CHECK((c.standing == Standing::runs) == c.reason.empty());
        if (c.strategy == "serial" && c.ranks == 3) CHECK(c.reason == "trains on one device; 3 ranks given");
        if (c.strategy == "serial" && c.ranks == 1) {
            INFO(c.partitioner);
            const bool wants_a_file = c.partitioner == "command" || c.partitioner == "file";
            const bool cuts_vertices = c.partitioner == "libra";
            CHECK(c.standing == (wants_a_file || cuts_vertices ? Standing::refused
                                 : c.partitioner == "bfs"      ? Standing::runs  // the first by name
                                                               : Standing::alike));
        }
        if (c.changed == "gradient_shortcut=true" && c.standing != Standing::refused)
            CHECK((c.standing == Standing::approximate || c.standing == Standing::alike));
    }
    CHECK(met == std::set<Standing>{Standing::runs, Standing::alike, Standing::refused, Standing::approximate});
}

TEST_CASE("a subject has cells at its own numbers of ranks alone, and others' places are those without it") {
    const PluginCatalog catalog;
    Subject few = small_subject();
    few.ranks = {1, 4};
    for (const int ranks : {1, 2, 4}) {
        const auto cells = whole_product(catalog, {few}, {ranks});
        CHECK(cells.empty() == (ranks == 2));
    }
    CHECK(whole_product(catalog, {few, small_subject()}, {2}).size() ==
          whole_product(catalog, {small_subject()}, {2}).size());
    const auto both = product_cells(catalog, {few, small_subject()}, 2, {7}),
               alone = product_cells(catalog, {small_subject()}, 2, {7});
    CHECK(Finding(both.at(0)).name() == Finding(alone.at(0)).name());
}

TEST_CASE("the pairwise selection has every strategy at every number of ranks that it serves, but for 4") {
    const PluginCatalog catalog;
    const Subject subject = small_subject();
    Subject other = subject;
    other.graph = "other";
    const auto cells = whole_product(catalog, {subject, other}, {1, 2, 4, 8});
    const auto selection = picked(cells, pairwise_selection(cells));
    const auto seen = [](const std::vector<ProductCell>& some) {
        std::set<std::pair<std::string, int>> s;
        for (const ProductCell& c : some)
            if (c.standing == Standing::runs && c.ranks != 4) s.insert({c.strategy, c.ranks});
        return s;
    };
    CHECK(!selection.empty());
    CHECK(seen(selection) == seen(cells));
    for (const ProductCell& c : selection) CHECK(c.standing == Standing::runs);
}

TEST_CASE("the pairwise selection takes from 4 ranks what no other number of ranks has, and nothing else") {
    const PluginCatalog catalog;
    const auto cells = whole_product(catalog, {small_subject()}, {1, 2, 4});
    std::vector<std::vector<std::string>> values;  // all but the number of ranks
    std::vector<std::size_t> all, elsewhere;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const ProductCell& c = cells[i];
        auto& of_cell = values.emplace_back();
        of_cell = {"layers " + c.layers, "partitioner " + c.partitioner, "strategy " + c.strategy};
        for (const auto& [name, value] : c.varied) of_cell.push_back(c.strategy + " " + name + "=" + value);
        if (c.standing != Standing::runs) continue;
        all.push_back(i);
        if (c.ranks != 4) elsewhere.push_back(i);
    }
    const std::vector<std::size_t> selected = pairwise_selection(cells);
    const Pairs known = pairs_in(values, elsewhere);
    const bool covers_all = pairs_in(values, selected) == pairs_in(values, all);
    CHECK(covers_all);
    int at_four = 0;
    for (const std::size_t i : selected) {
        if (cells[i].ranks != 4) continue;
        ++at_four;
        INFO(Finding(cells[i]).name());
        CHECK_FALSE(std::ranges::includes(known, pairs_in(values, {i})));
    }
    CHECK(at_four > 0);  // cagnet-2d's weight_gradient: summa needs a square of more than one rank
}

TEST_CASE("a night has every cell of small graphs, and of the others every pair of values") {
    const PluginCatalog catalog;
    const Subject small = small_subject();
    Subject large = small;
    large.graph = "large";
    large.whole = false;
    const std::vector<Subject> subjects{small, large};
    const auto cells = whole_product(catalog, subjects, {1, 2, 4});
    const auto night = picked(cells, night_selection(cells, subjects));
    std::map<std::pair<std::string, Standing>, int> all, some;
    for (const ProductCell& c : cells) ++all[{c.graph, c.standing}];
    for (const ProductCell& c : night) ++some[{c.graph, c.standing}];
    for (const auto& [what, count] : all) {
        INFO(what.first);
        if (what.first == "small" || !trains(what.second))
            CHECK(some[what] == count);
        else
            CHECK((some[what] > 0 && some[what] < count / 2));
    }
}

TEST_CASE("the product at one number of ranks is that part of the product at several") {
    const PluginCatalog catalog;
    const std::vector<Subject> subjects{small_subject()};
    const auto all = whole_product(catalog, subjects, {1, 4, 8}), four = whole_product(catalog, subjects, {4});
    const auto first = std::ranges::find(all, 4, &ProductCell::ranks);
    REQUIRE(all.end() - first >= std::ssize(four));
    CHECK(std::ranges::equal(
        four, std::ranges::subrange(first, first + std::ssize(four)), {},
        [](const ProductCell& c) { return Finding(c).name(); },
        [](const ProductCell& c) { return Finding(c).name(); }));
}

TEST_CASE("cells by their places are those of the product, and there is none beyond it") {
    const PluginCatalog catalog;
    const std::vector<Subject> subjects{small_subject()};
    const auto all = whole_product(catalog, subjects, {4});
    std::vector<std::size_t> places;
    for (std::size_t i = 3; i < all.size(); i += 31) places.push_back(i);
    const auto some = product_cells(catalog, subjects, 4, places);
    REQUIRE(some.size() == places.size());
    for (std::size_t k = 0; k < some.size(); ++k) {
        const ProductCell& expected = all[places[k]];
        INFO(Finding(expected).name());
        CHECK(Finding(some[k]).name() == Finding(expected).name());
        CHECK(some[k].params == expected.params);
        CHECK(some[k].standing == expected.standing);
        CHECK(some[k].reason == expected.reason);
        CHECK(some[k].need.parts == expected.need.parts);
    }
    CHECK_THROWS_AS(product_cells(catalog, subjects, 4, {all.size()}), DataError);
    CHECK_THROWS_AS(product_cells(catalog, subjects, 4, {5, 3}), DataError);
}

TEST_CASE("the pairwise selection has every kind of layer with every strategy that serves it") {
    const PluginCatalog catalog;
    const Subject gcn = small_subject();
    Subject gin = gcn;
    gin.layers = "gin";
    gin.model.kind = LayerKind::gin;
    std::set<std::string> with_gin, refused_gin;
    const auto cells = whole_product(catalog, {gcn, gin}, {4});
    for (const ProductCell& c : picked(cells, pairwise_selection(cells)))
        if (c.layers == "gin") with_gin.insert(c.strategy);
    for (const ProductCell& c : whole_product(catalog, {gin}, {4}))
        if (c.standing == Standing::refused) refused_gin.insert(c.strategy);
    CHECK(with_gin.contains("sa-1d"));
    CHECK((!with_gin.contains("plexus-3d") && refused_gin.contains("plexus-3d")));
}

TEST_CASE("findings of this build are resumed, a half-written line left out") {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / fmt::format("verify-findings-{}", ::getpid());
    Finding found;
    found.ranks = 2;
    found.graph = "lesmis";
    found.layers = "gin";
    found.strategy = "sa-1d";
    FindingsFile(folder, 2, "MPI", {}).add(found);
    const auto file = folder / "ranks-02.jsonl";
    std::ofstream(file, std::ios::app) << R"({"type":"cell","ran)";
    const std::vector<Finding> again = findings_so_far(folder, 2);
    REQUIRE(again.size() == 1);
    CHECK(again[0].name() == found.name());
    CHECK(findings_so_far(folder, 3).empty());
    std::ofstream(file) << R"({"type":"launch","ranks":2,"mpi":"MPI","commit":"","build":"another"})" << '\n';
    CHECK(findings_so_far(folder, 2).empty());
    std::filesystem::remove_all(folder);
}
