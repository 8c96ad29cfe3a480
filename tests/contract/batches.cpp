// Strategies on batches of clusters: each step against `serial` on the batch alone, volumes and memory against what is
// stated, and what asynchronous workers do together. On all ranks.
#include <array>
#include <cstring>
#include <map>
#include <numeric>

#include <catch2/catch.hpp>

#include "contract/batch_setup.hpp"
#include "contract/not_here.hpp"
#include "contract/serial_training.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

bool same_bits(const ModelWeights& a, const ModelWeights& b) {
    for (std::size_t m = 0; m < a.matrices.size(); ++m) {
        const auto &x = a.matrices[m].values.values, &y = b.matrices[m].values.values;
        if (x.size() != y.size() || std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) != 0) return false;
    }
    return a.matrices.size() == b.matrices.size();
}

void add(ModelWeights& to, double factor, const ModelWeights& from) {
    for (std::size_t m = 0; m < to.matrices.size(); ++m)
        for (std::size_t i = 0; i < to.matrices[m].values.values.size(); ++i)
            to.matrices[m].values.values[i] += factor * from.matrices[m].values.values[i];
}

struct GraphAndModel {
    graphs::NamedGraph graph;
    ModelVariant model;
};
/// Every graph with GCN; some with attention, that drops so many of its coefficients.
std::vector<GraphAndModel> with_models(double dropped = 0) {
    std::vector<GraphAndModel> all;
    for (const auto& graph : test_graphs()) all.push_back({graph, small_model()});
    for (const auto& graph : {graphs::directed_random(41, 150, true), graphs::disconnected(5)})
        for (const LayerKind kind : {LayerKind::gat, LayerKind::gatv2})
            all.push_back({graph, attending_model(dropped, kind)});
    return all;
}

/// What a worker did, as its observer saw it.
class Seen final : public StepObserver {
public:
    explicit Seen(int ranks) : with(static_cast<std::size_t>(ranks)) {}
    void begins(std::int64_t e) override {
        CHECK(e >= epoch);
        epoch = e;
    }
    void stepped(const Step& s) override {
        ++steps;
        samples += s.samples;
        CHECK(s.extent == Extent::this_rank);
    }
    void averaged(const Averaging& a) override {
        ++with.at(static_cast<std::size_t>(a.partner));
        staleness += a.staleness;
    }
    std::int64_t epoch = 0, steps = 0, samples = 0, staleness = 0;
    std::vector<std::int64_t> with;
};

}  // namespace

TEST_CASE("batches: a step of allreduce-gcn is serial's on each worker's batch, averaged") {
    using Values = std::pair<const char*, const char*>;
    for (const auto& [graph, model] : with_models())
        for (const auto& [weighting, division] : {Values{"batches", "fixed"}, Values{"vertices", "fixed"},
                                                  Values{"batches", "shuffled"}, Values{"vertices", "shuffled"}}) {
            const Part clusters = 5;
            Setup s("allreduce-gcn", graph, clusters,
                    {{"shuffle", "false"}, {"weighting", weighting}, {"division", division}}, exactly, {}, model);
            INFO(graph.name << ", " << model.name << ", weighting " << weighting << ", " << division << ", "
                            << s.ranks() << " ranks");
            REQUIRE(s.unsupported() == "");
            // Whose it is for good: runs of clusters, the first with one more; or dealt one by one.
            const bool fixed = std::string_view(division) == "fixed";
            const auto cluster_of = [&](std::int64_t step, int r) {
                const Part least = clusters / s.ranks(), more = clusters % s.ranks();
                return static_cast<Part>(fixed ? r * least + std::min<Part>(r, more) + step
                                               : step * s.ranks() + r);
            };
            ModelWeights expected = s.collective().weights();
            for (std::int64_t epoch = 0; epoch < 2; ++epoch)
                for (std::int64_t step = 0; step < s.collective().steps(epoch); ++step) {
                    const int busy =
                        static_cast<int>(std::min<std::int64_t>(s.ranks(), clusters - step * s.ranks()));
                    std::vector<OwnedDataset> batches;
                    std::int64_t samples = 0;
                    for (int r = 0; r < busy; ++r) {
                        batches.push_back(s.cluster(cluster_of(step, r)));
                        samples += train_vertices(batches.back().view());
                    }
                    ModelWeights sum = expected;
                    add(sum, -1, expected);
                    double my_loss = 0;
                    for (int r = 0; r < busy; ++r) {
                        const DatasetView batch = batches[static_cast<std::size_t>(r)].view();
                        const std::int64_t of_batch = train_vertices(batch);
                        if (of_batch == 0) continue;
                        const SerialTraining serial =
                            train_serially(catalog(), batch, s.model(), s.train(), &expected, 1, false);
                        const double share = std::string_view(weighting) == "batches"
                                                 ? 1.0 / busy
                                                 : static_cast<double>(of_batch) / static_cast<double>(samples);
                        add(sum, share, serial.gradient[0]);
                        if (r == s.me()) my_loss = serial.loss[0];
                    }
                    add(expected, -s.train().learning_rate, sum);
                    const Step done = s.collective().train_step(epoch, step);
                    CHECK(std::abs(done.loss - my_loss) < 1e-10);
                    CHECK(largest_difference(s.collective().weights(), expected) < 1e-10);
                }
        }
}

TEST_CASE("batches: a batch of the whole graph is serial training, dropout of features and coefficients too") {
    if (mpi_world().size() != 1) return not_here("of one worker alone");
    for (const auto& graph : test_graphs())
        for (ModelVariant model : {small_model(), attending_model(0.4), attending_model(0.4, LayerKind::gatv2)}) {
            model.train.dropout = 0.3;
            model.train.input_dropout = 0.2;
            Setup s("cluster-gcn", graph, 1, {}, exactly, {}, model);
            INFO(graph.name << ", " << model.name);
            const SerialTraining serial =
                train_serially(catalog(), s.data(), s.model(), s.train(), nullptr, 4, false);
            for (std::int64_t epoch = 0; epoch < 4; ++epoch)
                CHECK(std::abs(s.collective().train_epoch(epoch).loss -
                               serial.loss[static_cast<std::size_t>(epoch)]) < 1e-10);
            CHECK(largest_difference(s.collective().weights(), serial.weights) < 1e-10);
        }
}

TEST_CASE("batches: one worker of allreduce-gcn and of gossip-gcn is cluster-gcn, to the bit") {
    if (mpi_world().size() != 1) return not_here("of one worker alone");
    for (const auto& graph : test_graphs())
        for (const KernelVariant& kernel : {exactly, as_timed})
            for (const char* per_batch : {"1", "3"}) {
                INFO(graph.name << " on " << kernel.name << ", " << per_batch << " clusters a batch");
                const Set set{
                    {"clusters_per_batch", per_batch}, {"diagonal_enhancement", "0.5"}, {"shuffle", "true"}};
                Setup alone("cluster-gcn", graph, 7, set, kernel), reduced("allreduce-gcn", graph, 7, set, kernel),
                    gossip("gossip-gcn", graph, 7, set, kernel);
                for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
                    alone.collective().train_epoch(epoch);
                    reduced.collective().train_epoch(epoch);
                }
                Seen seen(1);
                gossip.independent().train(3, seen);
                CHECK(same_bits(alone.collective().weights(), reduced.collective().weights()));
                CHECK(same_bits(alone.collective().weights(), gossip.independent().own_weights()));
                CHECK(seen.steps == 3 * alone.collective().steps(0));
            }
}

TEST_CASE("batches: volume and memory of every strategy are as stated, and epochs allocate nothing") {
    int all_ran = 0;
    for (const ListedPlugin& p : catalog().list()) {
        if (p.kind != PluginKind::strategy || !p.usable() || !trains_on_batches(catalog(), p.name)) continue;
        int ran = 0;
        std::string refusal;
        for (const auto& [graph, model] : with_models(0.4))
            for (const char* per_batch : {"1", "2"})
                for (const Set& set : {Set{}, Set{{"averaging_interval", "3"}, {"average", "weights"}},
                                       Set{{"bucket_mib", "0.000001"}, {"partners", "requested"}},
                                       Set{{"partners", "scheduled"}, {"schedule", "rotating"}}}) {
                    Set all = set;
                    all["clusters_per_batch"] = per_batch;
                    Setup s(p.name, graph, 8, all, as_timed, {}, model);
                    if (refusal = s.unsupported(); !refusal.empty()) continue;
                    INFO(p.name << " on " << graph.name << ", " << model.name << ", " << per_batch
                                << " clusters a batch, rank " << s.me());
                    CHECK(s.held_bytes() == s.stated_memory());
                    const auto allocations = s.backend().memory().allocations;
                    // Workers leave epochs at different times: what they do in one epoch is counted as one.
                    for (std::int64_t epoch = 0; epoch < (s.advances_together() ? 4 : 1); ++epoch) {
                        if (s.advances_together()) {
                            s.collective().train_epoch(epoch);
                        } else {
                            Seen seen(s.ranks());
                            s.independent().train(1, seen);
                        }
                        CHECK(difference(s.stated(epoch), s.take()) == "");
                    }
                    CHECK(s.backend().memory().allocations == allocations);
                    s.processes().wait_for_all();
                    ++ran;
                }
        if (!refusal.empty() && mpi_world().rank() == 0) WARN("skipped: " << p.name << ": " << refusal);
        CHECK((ran > 0) == refusal.empty());
        all_ran += ran;
    }
    CHECK(all_ran > 0);
}

TEST_CASE("batches: a strategy trains every kind of layer") {
    ModelVariant sage = small_model(), gin = small_model();
    sage.model.kind = LayerKind::sage;
    sage.model.normalisation = Normalisation::mean;
    gin.model.kind = LayerKind::gin;
    gin.model.normalisation = Normalisation::none;
    sage.model.self_loops = gin.model.self_loops = false;
    const auto graph = graphs::known_symmetric(graphs::grid(6));
    for (const ListedPlugin& p : catalog().list()) {
        if (p.kind != PluginKind::strategy || !p.usable() || !trains_on_batches(catalog(), p.name)) continue;
        std::string at_these_ranks;  // refusal of every kind
        for (const ModelVariant& model :
             {small_model(), sage, gin, attending_model(), attending_model(0.4, LayerKind::gatv2)}) {
            Setup s(p.name, graph, 8, {}, exactly, {}, model);
            INFO(p.name << ", kind of layer " << static_cast<int>(model.model.kind) << ", " << s.unsupported());
            if (!s.unsupported().empty()) {
                if (model.model.kind == LayerKind::gcn) at_these_ranks = s.unsupported();
                CHECK(s.unsupported() == at_these_ranks);
                continue;
            }
            if (s.advances_together()) {
                CHECK_NOTHROW(s.collective().train_epoch(0));
            } else {
                Seen seen(s.ranks());
                CHECK_NOTHROW(s.independent().train(1, seen));
            }
            s.processes().wait_for_all();
        }
    }
}

TEST_CASE("batches: gossiping workers train each batch once and average in pairs") {
    for (const char* strategy : {"gossip-gcn", "gossip-active-passive"})
        for (const auto& graph : test_graphs())
            for (const Set& set :
                 {Set{}, Set{{"averaging_interval", "3"}, {"average", "weights"}}, Set{{"partners", "requested"}},
                  Set{{"partners", "scheduled"}}, Set{{"partners", "scheduled"}, {"schedule", "rotating"}},
                  Set{{"partners", "requested"}, {"averaging_interval", "3"}, {"average", "weights"}}}) {
                const int ranks = mpi_world().size();
                if (strategy == std::string_view("gossip-active-passive") &&
                    (ranks % 2 != 0 || set.contains("partners")))
                    continue;
                constexpr std::int64_t epochs = 6, clusters = 5;
                Setup s(strategy, graph, clusters, set, as_timed);
                std::string changed;
                for (const auto& [name, value] : set) changed += " " + name + "=" + value;
                INFO(strategy << changed << " on " << graph.name << ", rank " << s.me() << " of " << ranks);
                CHECK(s.held_bytes() == s.stated_memory());
                const auto allocations = s.backend().memory().allocations;
                Seen seen(ranks);
                s.independent().train(epochs, seen);
                CHECK(s.backend().memory().allocations == allocations);
                const Volume counted = s.take();
                s.processes().wait_for_all();

                const auto over_ranks = [&](std::int64_t mine) {
                    return static_cast<std::int64_t>(s.processes().sum({static_cast<double>(mine)})[0]);
                };
                CHECK(over_ranks(seen.steps) == epochs * clusters);
                CHECK(over_ranks(seen.samples) == epochs * train_vertices(s.data()));
                CHECK(over_ranks(seen.staleness) == 0);  // one's lead is the other's lag
                // a's averagings with b are b's with a.
                std::vector<double> table(static_cast<std::size_t>(ranks * ranks));
                for (int other = 0; other < ranks; ++other)
                    table[static_cast<std::size_t>(s.me() * ranks + other)] =
                        static_cast<double>(seen.with[static_cast<std::size_t>(other)]);
                table = s.processes().sum(table);
                for (int a = 0; a < ranks; ++a)
                    for (int b = 0; b < ranks; ++b)
                        CHECK(table[static_cast<std::size_t>(a * ranks + b)] ==
                              table[static_cast<std::size_t>(b * ranks + a)]);

                // Every averaging moves all gradients, or weights, each way; the epochs' bounds hold together.
                std::int64_t elements = 0;
                for (const NamedMatrix& m : s.independent().own_weights().matrices)
                    elements += static_cast<std::int64_t>(m.values.values.size());
                const std::int64_t averagings =
                    std::accumulate(seen.with.begin(), seen.with.end(), std::int64_t{0});
                const Traffic payload = payload_total(counted);
                CHECK(payload ==
                      Traffic{averagings * elements * s.bytes(), averagings * elements * s.bytes(), averagings});
                CHECK(payload_total(s.stated(0).volume).sent_bytes * epochs >= payload.sent_bytes);
            }
}

TEST_CASE("batches: scheduled partners meet as the schedule says, after as many batches") {
    const int ranks = mpi_world().size();
    const auto graph = graphs::known_symmetric(graphs::grid(6));
    for (const char* schedule : {"pairs", "rotating"}) {
        Setup s("gossip-gcn", graph, 5, {{"partners", "scheduled"}, {"schedule", schedule}}, as_timed);
        INFO(schedule << ", rank " << s.me() << " of " << ranks);
        class : public StepObserver {
        public:
            void begins(std::int64_t) override {}
            void stepped(const Step&) override { ++steps; }
            void averaged(const Averaging& a) override {
                CHECK(a.staleness == 0);
                met.emplace_back(steps, a.partner);
            }
            std::int64_t steps = 0;
            std::vector<std::pair<std::int64_t, int>> met;  ///< steps before, and with whom
        } seen;
        s.independent().train(6, seen);
        s.processes().wait_for_all();
        // By hand, for up to 4 workers: whom worker w meets after its first batch, its second and its third.
        using Rounds = std::array<int, 3>;
        static const std::map<int, std::vector<Rounds>> rotating{
            {1, {{-1, -1, -1}}},
            {2, {{1, 1, 1}, {0, 0, 0}}},
            {3, {{-1, 1, 2}, {2, 0, -1}, {1, -1, 0}}},
            {4, {{3, 1, 2}, {2, 0, 3}, {1, 3, 0}, {0, 2, 1}}}};
        const int other = s.me() ^ 1;
        const int fixed = other < ranks ? other : -1;
        const Rounds expected = std::string_view(schedule) == "pairs"
                                    ? Rounds{fixed, fixed, fixed}
                                    : rotating.at(ranks)[static_cast<std::size_t>(s.me())];
        for (const auto& [steps, partner] : seen.met)
            CHECK(partner == expected[static_cast<std::size_t>(steps % 3)]);
        CHECK(static_cast<std::int64_t>(seen.met.size()) <= seen.steps);
    }
    CHECK_THAT(Setup("gossip-gcn", graph, 5, {{"schedule", "rotating"}}, as_timed).unsupported(),
               Catch::Contains("schedule: rotating is for partners: scheduled, and partners is available"));
}

TEST_CASE("batches: gossip states the averaging of the clean-up where its partners have one") {
    const bool alone = mpi_world().size() == 1;
    const auto messages = [](const char* partners) {
        const Setup s("gossip-gcn", graphs::grid(6), 5, {{"partners", partners}}, as_timed);
        return payload_total(s.stated(0).volume).messages;
    };
    CHECK(messages("available") == (alone ? 0 : 6));
    CHECK(messages("requested") == (alone ? 0 : 5));
    CHECK(messages("scheduled") == (alone ? 0 : 5));
}

TEST_CASE("batches: evaluation is of the best local model") {
    if (mpi_world().size() > 4) return not_here("of few workers");
    Setup s("gossip-gcn", graphs::known_symmetric(graphs::grid(6)), 5, {{"averaging_interval", "1000"}}, as_timed);
    Seen seen(s.ranks());
    s.independent().train(6, seen);
    s.processes().wait_for_all();
    const Score best = s.independent().evaluate();
    // Every rank's model in turn is given by all: then the best of them is that one.
    double highest = -1;
    for (int r = 0; r < s.ranks(); ++r) {
        ModelWeights one = s.independent().own_weights();
        for (NamedMatrix& m : one.matrices)
            s.processes().broadcast(m.values.values.data(), m.values.values.size() * sizeof(double), r);
        highest = std::max(highest, s.independent().evaluate(one).of[1]);
    }
    CHECK(best.of[1] == highest);
}

TEST_CASE("batches: a worker that is declared slow trains fewer batches than the others") {
    const int ranks = mpi_world().size();
    if (ranks == 1) return not_here("one worker has no other");
    for (const char* strategy : {"gossip-gcn", "gossip-active-passive"}) {
        if (strategy == std::string_view("gossip-active-passive") && ranks % 2 != 0) continue;
        constexpr std::int64_t epochs = 10, clusters = 10;
        // Steps of about a millisecond, which the machine's other work does not lengthen: processor time counts. Never
        // averaging, nobody waits for another.
        Setup s(strategy, graphs::directed_random(4000, 40000, false), clusters,
                {{"averaging_interval", "1000000"}}, exactly, {.factor = {{0, 300}}, .jitter = 0.5, .seed = 1});
        Seen seen(ranks);
        s.independent().train(epochs, seen);
        s.processes().wait_for_all();
        const double slow = s.processes().sum({s.me() == 0 ? static_cast<double>(seen.steps) : 0})[0];
        const double others = (epochs * clusters - slow) / (ranks - 1);
        INFO(strategy << ": the slow one of " << ranks << " workers trained " << slow << " batches, the others "
                      << others << " each");
        CHECK(slow > 0);
        CHECK(3 * slow < others);
    }
}
