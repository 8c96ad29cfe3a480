// What every strategy there is must keep: equal to the serial float64 reference, its stated volume counted to the
// byte, as much received as sent, and no allocation inside an epoch. Run at several rank counts (CMakeLists.txt).
#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include <gnnbench/training/process_grid.hpp>

#include "contract/not_here.hpp"
#include "contract/strategy_models.hpp"
#include "contract/strategy_selection.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

std::vector<graphs::NamedGraph> all_graphs() {
    auto all = graphs::of_every_kind();
    all.push_back(graphs::in_tiles(graphs::directed_random(40, 200, true), 3, 5));
    all.push_back(graphs::in_tiles(graphs::known_symmetric(graphs::disconnected(3)), 4, 3));
    return all;
}

void check(const StrategyVariant& s, const std::string& partitioner, const KernelVariant& k, const ModelVariant& v,
           const graphs::NamedGraph& g, int& ran, bool separate_wait = false) {
    const Outcome o = run(s, partitioner, k, v, g, separate_wait);
    if (!o.skipped.empty()) return;
    ++ran;
    INFO(s.name << " " << s.changed << ", " << partitioner << ", kernel " << k.name
                << (k.dtype == DType::f32 ? " float32" : " float64") << ", model " << v.name << ", graph "
                << g.name);
    if (o.approximation.empty()) {
        INFO("loss error " << o.agreement.loss_error << ", gradient error " << o.agreement.gradient_error << " at "
                           << o.agreement.worst << "; allowed " << o.agreement.tolerance);
        CHECK(o.agreement.holds());
    }
    INFO("the ranks' copies of " << o.replicas.worst << " are " << o.replicas.error << " apart");
    CHECK(o.replicas.within(o.agreement.tolerance));
    CHECK(o.evaluation_problem == "");
    CHECK(o.volume_difference == "");
    CHECK(o.sum.sent_bytes == o.sum.received_bytes);
    CHECK(o.allocations_in_epochs == 0);
    // `reference` keeps sparse matrices outside its counted memory: what is counted is all the rest.
    if (k.name == "reference") CHECK(o.bytes_at_setup == o.stated_bytes);
    // A copy lays out what an all-gather sends or brings, keeps rows for a later epoch, transposes for a tuned
    // product, or under a vertex cut has gradients that the layer still needs as they are; else a view would serve.
    const auto& params = s.params.values();
    const bool tunes = params.contains("gemm_tuning") && s.params.boolean("gemm_tuning");
    // Attention's rows travel with what belongs to them.
    if (!o.gathers && !tunes && !v.model.attends()) CHECK(o.copies_in_epochs <= o.kept);
}

}  // namespace

TEST_CASE("a strategy that does not serve this many ranks says why") {
    for (const std::string& name : full_batch_strategies())
        if (const std::string why = refusal(name); !why.empty() && mpi_world().rank() == 0)
            WARN("skipped: " << name << ": " << why);
    CHECK_FALSE(served_strategies().empty());
}

TEST_CASE("a strategy serves some of the numbers of ranks that these tests are run at") {
    for (const std::string& name : full_batch_strategies()) {
        std::string refusals;
        int served = 0;
        for (const int ranks : {GNNBENCH_CONTRACT_RANKS}) {
            const std::string why = refusal_at(ranks, name);
            served += ranks > 1 && why.empty();
            refusals += "\n  " + std::to_string(ranks) + ": " + why;
        }
        INFO(name << " refuses:" << refusals);
        CHECK((served > 0 || refusals.find("trains on one device") != std::string::npos));
    }
}

TEST_CASE("a strategy agrees with the serial reference on every graph under every layout of parts") {
    for (const std::string& name : served_strategies()) {
        DYNAMIC_SECTION(name) {
            int ran = 0;
            std::size_t place = 0;
            for (const StrategyVariant& s : variants(name)) {
                for (const std::string& partitioner : layouts()) {
                    std::size_t of_pair = place++;
                    for (const auto& g : all_graphs())
                        if (of_selection(of_pair++))
                            check(s, partitioner, {"reference", DType::f64}, {.name = "default"}, g, ran);
                }
            }
            const int ranks = mpi_world().size();
            INFO(name << " at " << ranks << " ranks ran " << ran << " cases");
            CHECK(ran > 0);
        }
    }
}

TEST_CASE("a strategy agrees with the serial reference for every model, on every kernel") {
    const auto graph = graphs::directed_random(40, 200, true);
    const auto serving = kernels();
    for (const std::string& name : served_strategies()) DYNAMIC_SECTION(name) {
            std::size_t place = 0;
            int ran = 0;
            for (const StrategyVariant& s : variants(name))
                for (const KernelVariant& k : serving) {
                    std::size_t of_pair = place++;
                    for (const ModelVariant& v : all_models())
                        if ((k.dtype == DType::f64 && one_case_in() < 6) || of_selection(of_pair++))
                            check(s, "random", k, v, graph, ran);
                }
            CHECK(ran > 0);
        }
}

TEST_CASE("a strategy agrees with the serial reference where vertices have several labels") {
    const std::vector<std::vector<std::int64_t>> widths = {{7, 5, 3}, {4, 9, 2, 7, 3}, {3, 6, 9}, {6, 1}};
    const std::vector<graphs::NamedGraph> all = {graphs::directed_random(40, 200, true),
                                                 graphs::known_symmetric(graphs::disconnected(3)),
                                                 graphs::directed_star(9), graphs::without_edges(1)};
    const auto serving = kernels();
    for (const std::string& name : served_strategies()) DYNAMIC_SECTION(name) {
            int ran = 0;
            std::size_t place = 0;
            for (const StrategyVariant& s : variants(name))
                for (const KernelVariant& k : serving) {
                    std::size_t of_pair = place++;
                    for (const auto& g : all)
                        for (const auto& w : widths)
                            if (of_selection(of_pair++) && (k.dtype == DType::f64 || &g == all.data()))
                                check(s, "random", k,
                                      {.name = "several labels", .widths = w, .labels = Labels::several}, g, ran);
                }
            CHECK(ran > 0);
        }
}

TEST_CASE(
    "a strategy runs with a barrier before each operation, where ranks have different numbers of neighbours") {
    for (const std::string& name : served_strategies()) DYNAMIC_SECTION(name) {
            int ran = 0;
            std::size_t place = 0;
            for (const StrategyVariant& s : variants(name)) {
                std::size_t of_variant = place++;
                for (const auto& g :
                     {graphs::directed_star(9), graphs::directed_cycle(5), graphs::disconnected(3)})
                    if (of_selection(of_variant++))
                        check(s, "block", {"reference", DType::f64}, {.name = "default"}, g, ran, true);
            }
            CHECK(ran > 0);
        }
}

TEST_CASE("a strategy agrees with the serial reference whatever the order of vertices inside a part") {
    for (const std::string& name : served_strategies()) DYNAMIC_SECTION(name) {
            int ran = 0;
            std::size_t place = 0;
            for (const StrategyVariant& s : variants(name))
                for (const auto& g : {graphs::directed_random(40, 200, true), graphs::grid(6),
                                      graphs::known_symmetric(graphs::disconnected(3))}) {
                    std::size_t of_graph = place++;
                    for (const std::string order : {"random", "rcm", "degree"})
                        for (const KernelVariant& k :
                             {KernelVariant{"reference", DType::f64}, KernelVariant{"cpu", DType::f32}})
                            if (of_selection(of_graph++))
                                check(s, "block:" + order, k, {.name = "default"}, g, ran);
                }
            CHECK(ran > 0);
        }
}

TEST_CASE("a strategy trains GraphSAGE and GIN as serial does, or says that it trains GCN alone") {
    for (const std::string& name : served_strategies()) DYNAMIC_SECTION(name) {
            for (const LayerKind kind : {LayerKind::sage, LayerKind::gin}) {
                int ran = 0;
                std::size_t place = 0;
                for (const StrategyVariant& s : variants(name))
                    for (const auto& g :
                         {graphs::directed_star(9), graphs::directed_cycle(5), graphs::disconnected(3),
                          graphs::known_symmetric(graphs::disconnected(3)), graphs::looped_path(17)})
                        if (of_selection(place++))
                            check(s, "random", {"reference", DType::f64}, variant_of(kind, {7, 5, 3}), g, ran);
                const std::string why = refusal(name, variant_of(kind, {7, 5, 3}));
                INFO(name << " ran " << ran << " cases; refuses: " << why);
                CHECK((ran > 0) == why.empty());
                const bool cut_by_columns = name == "cagnet-2d" || name == "cagnet-3d" || name == "plexus-3d";
                CHECK(why.empty() == !cut_by_columns);
                if (cut_by_columns) CHECK_THAT(why, Catch::Contains("GCN layers alone"));
            }
        }
}

/// Trains the model by each variant of the strategy on every graph, or none where it refuses; the refusal.
std::string trained_or_refused(const std::string& name, const ModelVariant& v) {
    int ran = 0;
    std::size_t place = 0;
    for (const StrategyVariant& s : variants(name)) {
        std::size_t of_variant = place++;
        for (const auto& g : all_graphs())
            if (of_selection(of_variant++)) check(s, "random", {"reference", DType::f64}, v, g, ran);
    }
    std::string why = refusal(name, v);
    INFO(name << " ran " << ran << " cases; refuses: " << why);
    CHECK((ran > 0) == why.empty());
    return why;
}

TEST_CASE("a strategy attends as serial does, or says why it cannot") {
    for (const std::string& name : served_strategies()) DYNAMIC_SECTION(name) {
            const std::string why = trained_or_refused(name, attention({7, 6, 3}, {3, 2}));
            INFO("refuses: " << why);
            CHECK(trained_or_refused(name, attention({7, 6, 3}, {3, 2}, LayerKind::gatv2)).empty() == why.empty());
            const bool cut_by_columns = name == "cagnet-2d" || name == "cagnet-3d" || name == "plexus-3d";
            CHECK(why.empty() == !cut_by_columns);
            if (cut_by_columns)
                CHECK_THAT(why, Catch::Contains("all-reduce of H numbers a row and side") &&
                                    Catch::Contains("gatv2: H an entry") &&
                                    Catch::Contains("a maximum and a sum"));
        }
}

// Not a selection: every variant, at every number of ranks. On the first kernel, float64 on `reference`; the others, by which
// all ranks together would take 35 s of CPU time, meet the defaults alone.
TEST_CASE("each variant of a strategy attends as serial does where edges have directions and weights") {
    const auto graph = graphs::directed_random(40, 200, true);
    const auto serving = kernels();
    for (const std::string& name : served_strategies()) DYNAMIC_SECTION(name) {
            const auto all = variants(name);
            for (const LayerKind kind : {LayerKind::gat, LayerKind::gatv2}) {
                ModelVariant v = attention({7, 6, 3}, {3, 2}, kind);
                const auto serves = [&](const StrategyVariant& s) {
                    return catalog()
                        .strategy(name)
                        ->why_unsupported({mpi_world().size(), v.complete_model(), v.complete_train(), s.params})
                        .empty();
                };
                int ran = 0;
                for (const StrategyVariant& s : all) check(s, "random", serving[0], v, graph, ran);
                CHECK(ran == std::ranges::count_if(all, serves));
                for (const Labels labels : {Labels::one, Labels::several})
                    for (const KernelVariant& k : serving) {
                        v.labels = labels;
                        ran = 0;
                        check(all[0], "random", k, v, graph, ran);
                        CHECK(ran == serves(all[0]));
                    }
            }
        }
}

TEST_CASE(
    "a strategy multiplies sparse features as serial does dense ones, or says that it cuts them by columns") {
    ModelVariant v{.name = "sparse features"};
    v.model.sparse_features = true;
    for (const std::string& name : served_strategies()) DYNAMIC_SECTION(name) {
            const std::string why = trained_or_refused(name, v);
            INFO("refuses: " << why);
            if (name == "cagnet-2d" || name == "cagnet-3d" || name == "plexus-3d")
                CHECK_THAT(why, Catch::Contains("cuts X by columns"));
            else
                CHECK(why.empty());
        }
}

TEST_CASE("a strategy holds the memory it states with Adam's moments, too") {
    ModelVariant v{.name = "Adam", .widths = {4, 9, 2, 7, 3}, .optimizer = OptimizerKind::adam};
    v.train.dropout = 0.4;
    for (const std::string& name : served_strategies()) DYNAMIC_SECTION(name) {
            int ran = 0;
            for (const StrategyVariant& s : variants(name)) {
                const Outcome o = run(s, "random", {"reference", DType::f64}, v,
                                      graphs::directed_random(40, 200, true), false, 0);
                if (!o.skipped.empty()) continue;
                ++ran;
                INFO(name << " " << s.changed);
                CHECK(o.bytes_at_setup == o.stated_bytes);
            }
            CHECK(ran > 0);
        }
}

TEST_CASE("cagnet-2d agrees with the serial reference on every grid of this many ranks") {
    int ran = 0;
    for (int rows = 1; rows <= mpi_world().size(); ++rows)
        for (const StrategyVariant& s : variants("cagnet-2d", {{"grid_rows", std::to_string(rows)}}))
            check(s, "random", {"reference", DType::f64}, {.name = "up and down", .widths = {4, 9, 2, 7, 3}},
                  graphs::directed_random(40, 200, true), ran);
    CHECK(ran >= 3);
}

TEST_CASE("cagnet-3d as released agrees with the serial reference, whatever its other parameters") {
    if (const std::string why = refusal("cagnet-3d"); !why.empty()) return not_here(why.c_str());
    int ran = 0;
    for (const StrategyVariant& s : variants("cagnet-3d", {{"fibre", "released"}}))
        for (const auto& widths : {std::vector<std::int64_t>{4, 9, 2, 7, 3}, {1, 3, 2}, {13, 11, 17}})
            for (const auto& g : {graphs::directed_random(40, 200, true), graphs::directed_star(9),
                                  graphs::directed_cycle(5), graphs::disconnected(3)})
                check(s, "random", {"reference", DType::f64}, {.name = "uneven", .widths = widths}, g, ran);
    CHECK(ran > 0);
}

TEST_CASE("bns-gcn moves and holds what it states where small boundaries are dropped") {
    int ran = 0;
    const auto all = all_graphs();
    std::size_t place = 0;
    for (const std::string rate : {"0.05", "0.3", "0.6"})
        for (const StrategyVariant& s : variants("bns-gcn", {{"rate", rate}, {"small_boundaries", "drop"}}))
            for (const std::string partitioner : {"random", "block"}) {
                std::size_t of_pair = place++;
                for (const auto& g : all)
                    if (of_selection(of_pair++))
                        check(s, partitioner, {"reference", DType::f64}, {.name = "default"}, g, ran);
            }
    CHECK(ran > 0);
}

TEST_CASE("mg-gcn by tile columns agrees with the serial reference, with and without overlap") {
    int ran = 0;
    std::size_t place = 0;
    for (const StrategyVariant& s : variants("mg-gcn", {{"tiling", "column"}}))
        for (const auto& widths : {std::vector<std::int64_t>{4, 9, 2, 7, 3}, {2, 3, 5, 8}})
            for (const auto& g :
                 {graphs::directed_random(40, 200, true), graphs::directed_star(9), graphs::disconnected(3)}) {
                std::size_t of_graph = place++;
                for (const std::string& partitioner : usable(PluginKind::partitioner))
                    if (of_selection(of_graph++))
                        check(s, partitioner, {"reference", DType::f64},
                              {.name = std::to_string(widths[1]), .widths = widths}, g, ran);
            }
    CHECK(ran >= (one_case_in() < 12 ? 12 : 8));
}

TEST_CASE("cagnet-1d by outer products agrees with the serial reference, whatever its buffers") {
    int ran = 0;
    std::size_t place = 0;
    for (const StrategyVariant& s : variants("cagnet-1d", {{"backward", "outer_product"}}))
        for (const auto& widths : {std::vector<std::int64_t>{4, 9, 2, 7, 3}, {2, 3, 5, 8}})
            for (const auto& g :
                 {graphs::directed_random(40, 200, true), graphs::directed_star(9), graphs::disconnected(3),
                  graphs::known_symmetric(graphs::disconnected(3)), graphs::without_edges(1)}) {
                std::size_t of_graph = place++;
                for (const std::string& partitioner : usable(PluginKind::partitioner))
                    if (of_selection(of_graph++))
                        check(s, partitioner, {"reference", DType::f64},
                              {.name = std::to_string(widths[1]), .widths = widths}, g, ran);
            }
    CHECK(ran >= 10);
}

TEST_CASE("cagnet-1d and cagnet-1.5d hold the buffers that their READMEs list") {
    const std::vector<std::int64_t> widths{4, 9, 2, 7, 3};
    const int ranks = mpi_world().size(), rank = mpi_world().rank();
    for (const auto& [name, c] : {std::pair("cagnet-1d", 1), {"cagnet-1.5d", 2}}) {
        if (ranks % (c * c) != 0) continue;
        const auto held = [&, scheme = name](const char* buffers) {
            return run(variants(scheme, {{"buffers", buffers}})[0], "block", {"reference", DType::f64},
                       {.name = "up and down", .widths = widths}, graphs::directed_random(41, 200, true), false, 0)
                .bytes_at_setup;
        };
        const std::int64_t parts = ranks / c, mine = block_size(41, parts, rank / c),
                           largest = block_size(41, parts, 0), widest = 9;
        std::int64_t separate = 0, shared = widest, received = -widest;  // columns
        for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
            const std::int64_t f = widths[l], g = widths[l + 1];
            separate += 2 * g + std::max(f, g);  // activations, their gradient, the product
            shared += l == 0 ? g : std::max(f, g);
            received += std::max(f, g);
        }
        INFO(name << " at " << ranks << " ranks, rank " << rank);
        CHECK(held("separate") - held("shared") ==
              8 * (mine * (separate - shared) + (parts > 1 ? largest * received : 0)));
    }
}

TEST_CASE("mg-gcn makes L + 3 buffers, and one more for each layer that keeps its aggregate") {
    // Beside them: X, labels, splits, ids, loss, counts; weights and gradients.
    const std::int64_t others = 8, two = mpi_world().size() > 1 ? 2 : 0;
    for (const auto& [tiling, overlap, received] : {std::tuple("row", "true", two),
                                                    {"row", "false", two / 2},
                                                    {"column", "true", two},
                                                    {"column", "false", two / 2}}) {
        const auto made = [&, t = tiling, o = overlap](std::vector<std::int64_t> widths, const char* shortcut) {
            const StrategyVariant s =
                variants("mg-gcn", {{"tiling", t}, {"overlap", o}, {"gradient_shortcut", shortcut}})[0];
            return run(s, "block", {"reference", DType::f64}, {.name = "buffers", .widths = std::move(widths)},
                       graphs::directed_random(40, 200, true), false, 0)
                       .allocations_at_setup -
                   others;
        };
        INFO("tiling " << tiling << ", overlap " << overlap);
        CHECK(made({9, 4, 3}, "false") == 2 + 1 + received);
        CHECK(made({9, 6, 3}, "false") == 2 + 1 + 1 + received);  // layer 0 keeps ÂX
        CHECK(made({9, 6, 3}, "true") == 2 + 1 + received);       // the paper's own
        CHECK(made({9, 6, 4, 3, 2}, "true") == 4 + 1 + received);
        CHECK(made({3, 9, 2}, "false") == 2 + 1 + 1 + received);
        CHECK(made({3, 5, 7, 9, 2}, "false") == 4 + 1 + 3 + received);
    }
}
