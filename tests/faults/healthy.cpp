// Trainings without a fault, none of which verification may accuse: combinations drawn from everything there is, by
// number, so that a number names the same combination always. GNNBENCH_HEALTHY says how many that run.
#include <cstdlib>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "faults/training_case.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace gnnbench::faults;

namespace {

/// One of them.
template <class T>
const T& pick(const std::vector<T>& from, RandomStream& draw) {
    return from[draw.below(from.size())];
}

std::vector<std::string> usable(PluginKind kind) {
    std::vector<std::string> names;
    for (const ListedPlugin& p : contract::catalog().list())
        if (p.kind == kind && p.usable() && p.name != "cuda" &&
            !(kind == PluginKind::strategy && contract::trains_on_batches(contract::catalog(), p.name)))
            names.push_back(p.name);
    return names;
}

/// Random entries, with or without weights; a few hubs, vertices without any edge.
graphs::NamedGraph random_graph(std::int64_t vertices, std::int64_t entries, bool weighted, bool symmetric,
                                RandomStream& draw) {
    const auto n = static_cast<std::uint64_t>(vertices);
    graphs::Entries e;
    for (std::int64_t i = 0; i < entries; ++i) {
        auto u = draw.below(n), v = draw.below(n);
        if (i % 3 == 0) u /= 16;
        e.emplace_back(static_cast<std::int32_t>(u), static_cast<std::int32_t>(v));
    }
    if (symmetric) e = graphs::both_ways(e);
    graphs::NamedGraph g = graphs::from_entries("random", vertices, e);
    if (symmetric) return graphs::known_symmetric(g);
    if (weighted)
        for (std::size_t i = 0; i < g.indices.size(); ++i)
            g.weights.push_back(static_cast<float>(2 - 2 * draw.uniform()));  // above 0, as attention needs them
    return g;
}

/// A network that attends, of so many layers and about so wide.
void attend(contract::ModelVariant& v, RandomStream& draw) {
    ModelSpec& m = v.model;
    m.kind = draw.below(2) == 0 ? LayerKind::gat : LayerKind::gatv2;
    m.normalisation = Normalisation::none;
    m.activation = static_cast<Activation>(draw.below(5));
    m.heads.clear();
    for (std::size_t l = 0; l + 1 < v.widths.size(); ++l) {
        const auto heads = static_cast<std::int64_t>(1 + draw.below(8));
        m.heads.push_back(heads);
        if (l + 2 < v.widths.size()) v.widths[l + 1] += heads - 1 - (v.widths[l + 1] - 1) % heads;
    }
    if (draw.below(3) == 0) m.combine = HeadsCombined::mean;
    m.residual = draw.below(3) == 0;
    if (draw.below(3) == 0) m.attention_dropout = 0.3;
    m.share_weights = m.kind == LayerKind::gatv2 && draw.below(2) == 0;
}

TrainingCase combination(std::uint64_t number, int ranks) {
    RandomStream draw(number, Draw::sample, static_cast<std::uint32_t>(ranks));
    const auto vertices =
        static_cast<std::int64_t>(1 + draw.below(pick(std::vector<std::uint64_t>{20, 200, 1500}, draw)));
    const bool weighted = draw.below(2) == 0, symmetric = draw.below(3) == 0;
    TrainingCase t{.graph = random_graph(vertices, static_cast<std::int64_t>(draw.below(12)) * vertices, weighted,
                                         symmetric, draw),
                   .model = {.name = "drawn"},
                   .scheme_params = {},
                   .kernel_params = {}};
    t.model.widths.clear();
    for (std::uint64_t l = 2 + draw.below(3); l > 0; --l)
        t.model.widths.push_back(static_cast<std::int64_t>(1 + draw.below(40)));
    t.model.model.activation = static_cast<Activation>(draw.below(4));
    t.model.model.normalisation = static_cast<Normalisation>(draw.below(2));  // without any, float32 overflows
    t.model.model.bias = draw.below(3) != 0;
    t.model.model.self_loops = draw.below(3) != 0;
    if (draw.below(3) == 0) t.model.train.dropout = 0.3;
    if (draw.below(5) == 0) t.model.train.input_dropout = 0.2;
    t.model.train.seed = draw();
    const auto variants = contract::variants(t.scheme = pick(usable(PluginKind::strategy), draw));
    t.scheme_params = pick(variants, draw).params;
    t.partitioner = pick(usable(PluginKind::partitioner), draw);
    t.backend = draw.below(5) == 0 ? "reference" : "cpu";
    const auto declared = contract::catalog().find(PluginKind::kernel, t.backend).params;
    t.kernel_params = Params(declared);
    if (t.backend == "cpu")
        t.kernel_params.set(declared[0],
                            pick(std::vector<std::string>{"auto", "rows", "tiled", "reordered"}, draw));
    t.threads = static_cast<int>(1 + draw.below(3));
    t.seed = draw();
    t.own_optimizer = static_cast<OptimizerKind>(draw.below(3));
    if (draw.below(4) == 0) {
        t.model.model.kind = LayerKind::sage;  // GIN's sums overflow float32, as those without normalisation
        t.model.model.normalisation = Normalisation::mean;
        t.model.model.self_loops = false;
    }
    if (draw.below(3) == 0) t.model.labels = contract::Labels::several;
    if (draw.below(4) == 0) attend(t.model, draw);
    return t;
}

std::string text(std::uint64_t number, const TrainingCase& t, int ranks) {
    std::string widths;
    for (const auto w : t.model.widths) widths += fmt::format("{}{}", widths.empty() ? "" : "-", w);
    return fmt::format(
        "combination {}: {} on {} ranks, {} threads, {} of {} vertices and {} edges, layers {}, {}, kernel {}, "
        "activation {}",
        number, t.scheme, ranks, t.threads, t.partitioner, t.graph.view().vertices(), t.graph.view().edges(),
        static_cast<int>(t.model.model.kind), widths, t.backend, static_cast<int>(t.model.model.activation));
}

}  // namespace

TEST_CASE("healthy trainings are not accused") {
    const ProcessGroup world = mpi_world();
    const char* asked = std::getenv("GNNBENCH_HEALTHY");
    int left = asked ? std::atoi(asked) : 6;
    const int wanted = left;
    int excused = 0, attending = 0;
    double worst = 0;
    for (std::uint64_t number = 1; left > 0; ++number) {
        REQUIRE(number < 100 * static_cast<std::uint64_t>(wanted));
        TrainingCase t = combination(number, world.size());
        VerifiedTraining v;
        try {
            v = verify(t, {}, world);
        } catch (const Unsupported&) {  // what a partitioner says of the rows themselves, on every rank
            continue;
        }
        if (!t.skipped.empty()) continue;
        --left;
        excused += !v.rounding.empty();
        attending += t.model.model.attends();
        std::string found = v.rounding;
        for (const auto& f : v.faults) found += "\n  " + f.check + ": " + f.text;
        for (const auto& [name, c] : v.checks) worst = std::max(worst, c.worst_ratio);
        INFO(text(number, t, world.size()) << found);
        CHECK(v.faults.empty());
    }
    if (wanted >= 25) CHECK(attending > 0);
    WARN(
        fmt::format("{} combinations on {} ranks, {} of attention; {} with a gradient that rounding explains; the "
                    "largest error was {:.2f} of its bound",
                    wanted, world.size(), attending, excused, worst));
}

TEST_CASE("healthy trainings are not accused where gradients of scores vanish") {
    // A vertex that attends to itself alone does so wholly, whatever its score: da is what rounding makes of 0.
    const ProcessGroup world = mpi_world();
    for (const LayerKind kind : {LayerKind::gat, LayerKind::gatv2})
        for (const bool shared : {false, true}) {
            if (shared && kind == LayerKind::gat) continue;
            TrainingCase t{
                .graph = graphs::without_edges(300),
                .model = {.name = "alone", .widths = {7, 16}},
                .scheme_params = Params(contract::catalog().find(PluginKind::strategy, "cagnet-1d").params),
                .kernel_params = Params(contract::catalog().find(PluginKind::kernel, "cpu").params)};
            t.model.model.kind = kind;
            t.model.model.normalisation = Normalisation::none;
            t.model.model.heads = {3};
            t.model.model.attention_dropout = 0.3;
            t.model.model.share_weights = shared;
            const VerifiedTraining v = verify(t, {}, world);
            std::string found;
            for (const auto& f : v.faults) found += "\n  " + f.check + ": " + f.text;
            INFO((kind == LayerKind::gat ? "GAT" : shared ? "GATv2, shared weights" : "GATv2") << found);
            CHECK(t.skipped.empty());
            CHECK(v.faults.empty());
        }
}
