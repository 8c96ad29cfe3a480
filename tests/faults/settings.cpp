#include "faults/settings.hpp"

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gnnbench/error.hpp>

#include "data/catalog.hpp"
#include "spec/words.hpp"

namespace gnnbench::faults {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::vector<std::string> cut(const std::string& text, char at) {
    std::vector<std::string> fields;
    std::istringstream in(text);
    for (std::string field; std::getline(in, field, at);) fields.push_back(field);
    return fields;
}

template <class Word, std::size_t n>
Word word(const std::array<const char*, n>& words, const std::string& text) {
    const int at = words::index_of(words, text);
    if (at < 0) throw DataError("a list of settings has no word '" + text + "' there");
    return static_cast<Word>(at);
}

HealthySetting read_row(const std::string& row, int number) {
    const auto f = cut(row, ',');
    if (f.size() != 10)
        throw DataError(fmt::format("setting {}: expected 10 fields; found {}: {}", number, f.size(), row));
    HealthySetting s{.number = number,
                     .graph = f[0],
                     .layers = word<LayerKind>(words::layers, f[1]),
                     .hidden = {},
                     .normalisation = word<Normalisation>(words::normalisation, f[3]),
                     .activation = word<Activation>(words::activation, f[4]),
                     .dropout = std::stod(f[5]),
                     .optimizer = word<OptimizerKind>(words::optimizer, f[6]),
                     .learning_rate = std::stod(f[7]),
                     .scheme = f[8],
                     .ranks = std::stoi(f[9]),
                     .text = row};
    for (const std::string& width : cut(f[2], 'x')) s.hidden.push_back(std::stoll(width));
    return s;
}

struct Source {
    const char* name;
    const char* file;  ///< in the folder of real datasets; nullptr: generated
    json options;      ///< of its import, or of the generator
    json stand_in;     ///< generated where the file is absent
};

json generated(const char* kind, int vertices, double degree, int features, int classes) {
    return {{"generate", kind},
            {"vertices", vertices},
            {"average_degree", degree},
            {"features", features},
            {"classes", classes}};
}

std::vector<Source> sources() {
    const auto drawn = [](int features, int classes) {
        return json{{"features", features}, {"classes", classes}};
    };
    json planetoid = {{"format", "planetoid"}};
    return {
        {"karate", "metis/karate.graph", drawn(16, 2), generated("dcsbm", 34, 5, 16, 2)},
        {"lesmis", "metis/lesmis.graph", drawn(64, 4), generated("dcsbm", 77, 7, 64, 4)},
        {"email-Eu-core", "snap/email-Eu-core.edges.csv", drawn(32, 6), generated("rmat", 1005, 25, 32, 6)},
        {"polblogs", "metis/polblogs.graph", drawn(24, 2), generated("dcsbm", 1490, 22, 24, 2)},
        {"airfoil1", "metis/airfoil1.graph", drawn(16, 5), generated("dcsbm", 4253, 6, 16, 5)},
        {"wiki-Vote", "snap/wiki-Vote.txt", drawn(16, 3), generated("rmat", 7115, 15, 16, 3)},
        {"cora", "planetoid-cora", planetoid, generated("dcsbm", 2708, 4, 300, 7)},
        {"minesweeper", "heterophilous-npz/minesweeper.npz", json::object(), generated("dcsbm", 10000, 8, 7, 2)},
        {"tolokers", "heterophilous-npz/tolokers.npz", json::object(), generated("dcsbm", 11758, 88, 10, 2)},
        {"rmat", nullptr, generated("rmat", 1000, 12, 20, 5), {}},
        {"dcsbm", nullptr, generated("dcsbm", 800, 20, 30, 6), {}}};
}

const Source& source_named(const std::vector<Source>& all, const std::string& name) {
    for (const Source& s : all)
        if (s.name == name) return s;
    throw DataError("a list of settings has no graph '" + name + "'");
}

/// Rank 0 makes the store; the others open it after that.
fs::path ensure_store(const json& spec, const fs::path& stores, const ProcessGroup& world) {
    const Catalog catalog(stores);
    std::string store, error;
    if (world.rank() == 0) try {
            store = ensure_dataset(spec, catalog).store.string();
        } catch (const Error& e) {
            error = e.what();
        }
    error = world.all_gather(error)[0];
    if (!error.empty()) throw DataError(error);
    return world.all_gather(store)[0];
}

}  // namespace

ModelSpec HealthySetting::model(const DatasetView& data) const {
    ModelSpec m{.kind = layers, .widths = {data.feature_count}, .activation = activation};
    m.widths.insert(m.widths.end(), hidden.begin(), hidden.end());
    m.widths.push_back(data.classes);
    m.normalisation = normalisation;
    m.self_loops = layers == LayerKind::gcn;
    return m;
}

TrainSpec HealthySetting::train() const {
    TrainSpec t;
    t.optimizer = optimizer;
    t.learning_rate = learning_rate;
    t.weight_decay.assign(hidden.size() + 1, 5e-4);
    t.dropout = t.input_dropout = dropout;
    t.seed = static_cast<std::uint64_t>(number);
    return t;
}

std::vector<HealthySetting> read_settings(const fs::path& csv) {
    std::ifstream in(csv);
    std::string line;
    if (!std::getline(in, line)) throw DataError("cannot read the list of settings " + csv.string());
    std::vector<HealthySetting> all;
    while (std::getline(in, line)) all.push_back(read_row(line, static_cast<int>(all.size()) + 1));
    return all;
}

bool SettingGraphs::is_itself(const std::string& name) const {
    const auto all = sources();
    const Source& s = source_named(all, name);
    return !s.file || (!shared_.empty() && fs::exists(shared_ / s.file));
}

DatasetView SettingGraphs::view(const std::string& name, const ProcessGroup& world) {
    const auto known = opened_.find(name);
    if (known != opened_.end()) return known->second.view();
    const auto all = sources();
    const Source& s = source_named(all, name);
    json spec = is_itself(name) ? s.options : s.stand_in;
    if (s.file && is_itself(name)) spec["path"] = (shared_ / s.file).string();
    spec["name"] = name;
    return opened_.emplace(name, Store::open(ensure_store(spec, stores_, world))).first->second.view();
}

VerifiedTraining verify(const HealthySetting& s, const DatasetView& data, const std::string& scheme,
                        Injected injected, const ProcessGroup& world) {
    const auto& catalog = contract::catalog();
    const ModelSpec model = s.model(data);
    const TrainSpec train = s.train();
    const Params scheme_params(catalog.find(PluginKind::strategy, scheme).params);
    Params kernel_params(catalog.find(PluginKind::kernel, "cpu").params);
    // These are of packed messages, which ranks that read each other's memory do without.
    if (injected.fault == Fault::wrong_gather || injected.fault == Fault::wrong_element)
        for (const ParamDecl& p : catalog.find(PluginKind::kernel, "cpu").params)
            if (std::string_view(p.name) == "transport") kernel_params.set(p, "mpi");
    const Trained t{.data = data,
                    .model = model,
                    .train = train,
                    .own_optimizer = s.optimizer,
                    .own_rate = s.learning_rate,
                    .scheme = scheme,
                    .scheme_params = scheme_params,
                    .kernel_params = kernel_params,
                    .epochs = 5};
    if (const std::string why = why_unsupported(t, world.size()); !why.empty())
        throw DataError(fmt::format("setting {}: {}: {}", s.number, scheme, why));
    BackendsOf backends(t, injected);
    return verify(t, backends, injected, world);
}

}  // namespace gnnbench::faults
