#include "verify/subjects.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "contract/graphs.hpp"
#include "data/catalog.hpp"
#include "worker/verify/verification.hpp"

namespace gnnbench::verify {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Widths that narrow, widen and narrow again; none is a multiple of another, few divide by a number of ranks.
constexpr std::int64_t random_features = 11, hidden_1 = 7, hidden_2 = 9;
constexpr std::int32_t random_classes = 4;

const std::vector<LayerKind> every_kind = {LayerKind::gcn, LayerKind::sage, LayerKind::gin, LayerKind::gat,
                                           LayerKind::gatv2};
struct Source {
    const char* name;
    const char* file = nullptr;  ///< in the folder of real datasets; nullptr: generated
    json spec;
    std::vector<LayerKind> kinds = every_kind;
    bool whole = false;
    bool in_ci = true;          ///< else it is left to verify-all
    bool attends_in_ci = true;  ///< else attention, which takes longest to recompute, is left to verify-all
    std::vector<int> ranks = {};
    std::optional<graphs::NamedGraph> drawn = {};  ///< imported from a list of its edges
};

std::vector<Source> sources() {
    const json random = {{"features", random_features}, {"classes", random_classes}};
    json rmat = random;
    rmat.update({{"generate", "rmat"}, {"vertices", 3000}, {"average_degree", 12}, {"directed", true}});
    json small_rmat = rmat;
    small_rmat.update({{"vertices", 200}, {"average_degree", 6}});
    // No generator draws weights.
    const graphs::NamedGraph weighted = graphs::directed_random(80, 480, true);
    json listed = random;
    listed.update({{"format", "edge-list"}, {"weights", "third"}, {"ids", "keep"}, {"vertices", 80}});
    const json communities = {
        {"generate", "dcsbm"},       {"vertices", 500},     {"average_degree", 10}, {"features", random_features},
        {"classes", random_classes}, {"multi_label", true}, {"communities", 20}};
    return {
        {"lesmis", "metis/lesmis.graph", random, every_kind, true},
        {.name = "directed-weighted", .spec = listed, .whole = true, .ranks = {1, 2, 4, 8}, .drawn = weighted},
        {"communities", nullptr, communities, {LayerKind::gcn}, true},
        {"small-rmat", nullptr, small_rmat, every_kind, true},
        {"rmat", nullptr, rmat},
        {.name = "wiki-Vote", .file = "snap/wiki-Vote.txt", .spec = random, .attends_in_ci = false},
        {.name = "astro-ph", .file = "metis/astro-ph.graph", .spec = random, .attends_in_ci = false},
        {.name = "tolokers", .file = "heterophilous-npz/tolokers.npz", .spec = json::object(), .in_ci = false}};
}

std::string name_of(LayerKind kind) {
    return kind == LayerKind::gcn    ? "gcn"
           : kind == LayerKind::sage ? "sage"
           : kind == LayerKind::gin  ? "gin"
           : kind == LayerKind::gat  ? "gat"
                                     : "gatv2";
}

/// Normalisation and self-loops as experiments have them by default; an ε that shows on GIN's diagonal.
ModelSpec model_of(LayerKind kind, const DatasetView& data) {
    ModelSpec model{.kind = kind, .widths = {data.feature_count, hidden_1, hidden_2, data.classes}};
    if (kind == LayerKind::gcn) return model;
    model.normalisation = kind == LayerKind::sage ? Normalisation::mean : Normalisation::none;
    model.self_loops = model.attends();
    if (kind == LayerKind::gin) model.epsilon = 0.25;
    if (model.attends()) {
        model.heads = {hidden_1, 3, 2};
        model.attention_dropout = 0.25;
    }
    return model;
}

/// Hidden dropout, so that masks are compared too; plain SGD as all verification.
Subject subject_of(const Source& source, LayerKind kind, const DatasetView& data) {
    TrainSpec train{.weight_decay = {5e-4, 5e-4, 5e-4}, .dropout = 0.25, .seed = 11};
    Subject s{.graph = source.name,
              .layers = name_of(kind),
              .size = {data.graph.vertices(), data.graph.edges(), !data.graph.weights.empty()},
              .model = model_of(kind, data),
              .train = verification_training(std::move(train)),
              .whole = source.whole};
    s.ranks = source.ranks;
    s.in_ci = source.in_ci && (source.attends_in_ci || !s.model.attends());
    return s;
}

/// A line "u v weight" for each edge u → v.
std::string list_of(const GraphView& g) {
    std::string text;
    for (std::int64_t v = 0; v < g.vertices(); ++v)
        for (auto e = usize(g.indptr[usize(v)]); e < usize(g.indptr[usize(v) + 1]); ++e)
            text += fmt::format("{} {} {}\n", g.indices[e], v, g.weights[e]);
    return text;
}

/// The list in a file, which replaces another one whole: launches may read it at the same time. Collective.
fs::path ensure_list(const std::string& text, const fs::path& file, const ProcessGroup& world) {
    std::ostringstream present;
    if (world.rank() == 0) present << std::ifstream(file).rdbuf();
    if (world.rank() == 0 && present.str() != text) {
        fs::create_directories(file.parent_path());
        const fs::path draft = fmt::format("{}.{}", file.string(), ::getpid());
        std::ofstream(draft) << text;
        fs::rename(draft, file);
    }
    world.barrier();
    return file;
}

/// Rank 0 makes the store; the others open it after that.
fs::path ensure_store(const json& spec, const fs::path& stores, const ProcessGroup& world) {
    const Catalog catalog(stores);
    std::string store, error;
    if (world.rank() == 0) {
        try {
            store = ensure_dataset(spec, catalog).store.string();
        } catch (const Error& e) {
            error = e.what();
        }
    }
    error = world.all_gather(error)[0];
    if (!error.empty()) throw DataError(error);
    return world.all_gather(store)[0];
}

}  // namespace

const Subject& LoadedGraph::with(const std::string& layers) const {
    const auto found = std::ranges::find(subjects, layers, &Subject::layers);
    if (found == subjects.end()) throw LogicError(name + " is not trained with layers " + layers);
    return *found;
}

std::vector<Subject> Graphs::subjects() const {
    std::vector<Subject> all;
    for (const LoadedGraph& g : loaded) all.insert(all.end(), g.subjects.begin(), g.subjects.end());
    return all;
}

const LoadedGraph& Graphs::named(const std::string& name) const {
    for (const LoadedGraph& g : loaded)
        if (g.name == name) return g;
    throw LogicError("no graph " + name + " is loaded");
}

Graphs load_graphs(const fs::path& shared, const fs::path& stores, const ProcessGroup& world) {
    Graphs graphs;
    for (Source& s : sources()) {
        if (s.file) {
            const fs::path file = shared / s.file;
            if (shared.empty() || !fs::exists(file)) {
                graphs.absent.push_back(
                    {s.name, shared.empty()
                                 ? "GNNBENCH_SHARED_DATA names no folder of real datasets"
                                 : "there is no file " + std::string(s.file) + " in the folder of real datasets"});
                continue;
            }
            s.spec["path"] = file.string();
        }
        if (s.drawn) {
            const fs::path file = stores.parent_path() / (std::string(s.name) + ".edges");
            s.spec["path"] = ensure_list(list_of(s.drawn->view()), file, world).string();
        }
        s.spec["name"] = s.name;
        Store store = Store::open(ensure_store(s.spec, stores, world));
        const DatasetView data = store.view();
        std::vector<Subject> subjects;
        for (const LayerKind kind : s.kinds) subjects.push_back(subject_of(s, kind, data));
        graphs.loaded.push_back({s.name, std::move(subjects), std::move(store), data});
    }
    return graphs;
}

}  // namespace gnnbench::verify
