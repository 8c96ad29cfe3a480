#pragma once
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <gnnbench/backend.hpp>
#include <gnnbench/strategy.hpp>

#include "spec/experiment.hpp"
#include "spec/sources.hpp"

/// Plugins and datasets that exist only here, with what an experiment can ask of them.

namespace gnnbench::test {

/// Runs on any number of ranks, or on one only, or on squares only; 'overlap' and 'depth' are its parameters.
class FakeStrategy : public Strategy {
public:
    enum class Ranks { any, one, square };
    explicit FakeStrategy(Ranks ranks) : ranks_(ranks) {}
    std::string why_unsupported(const Setting& s) const override {
        if (ranks_ == Ranks::one && s.ranks != 1) return "needs one rank; " + std::to_string(s.ranks) + " given";
        if (ranks_ == Ranks::square && s.ranks != 1 && s.ranks != 4 && s.ranks != 9)
            return "needs a square number of ranks; " + std::to_string(s.ranks) + " given";
        return {};
    }
    bool trains_on_batches() const override { return ranks_ == Ranks::any; }
    StatedVolume stated_volume(const Problem&, int, std::int64_t, std::int64_t) const override { return {}; }
    std::int64_t stated_memory(const Problem&, int, std::int64_t) const override { return 0; }
    AnyTrainer make_trainer(const Problem&, Rank) const override { return {}; }

private:
    Ranks ranks_;
};

class FakePartitioner : public Partitioner {
public:
    std::string why_unsupported(const GraphSize& graph, const PartitionNeed& need, const Params&) const override {
        return graph.vertices < need.parts ? "fewer vertices than parts" : "";
    }
    Partition partition(const PartitionTask&) const override { return {}; }
};

class FakeBackend : public BackendPlugin {
public:
    explicit FakeBackend(std::string missing) : missing_(std::move(missing)) {}
    std::string why_unsupported(const KernelSetting&) const override { return missing_; }
    std::string device_name(const KernelSetting&) const override { return "none"; }
    std::unique_ptr<Backend> create(const KernelSetting&) const override { return {}; }

private:
    std::string missing_;
};

inline constexpr ParamDecl overlap_params[] = {
    {"overlap", ParamType::boolean, "true", 0, 0, nullptr, "communication under computation"},
    {"depth", ParamType::integer, "2", 1, 8, nullptr, "buffers"},
};
inline constexpr ParamDecl metis_params[] = {
    {"objective", ParamType::choice, "cut", 0, 0, "cut|volume", "what is made small"},
    {"imbalance", ParamType::real, "0.03", 0, 1, nullptr, "allowed"},
};
inline constexpr ParamDecl graph_params[] = {
    {"vertices", ParamType::integer, "20000", 1, 1e9, nullptr, "vertices"},
    {"average_degree", ParamType::real, "40", 0, 1e5, nullptr, "entries per vertex"},
    {"features", ParamType::integer, "64", 1, 65536, nullptr, "features per vertex"},
    {"classes", ParamType::integer, "8", 1, 1000000, nullptr, "classes"},
    {"seed", ParamType::integer, "1", 0, 9e15, nullptr, "seed"},
};
inline constexpr ParamDecl list_params[] = {
    {"directed", ParamType::boolean, "true", 0, 0, nullptr, "edges as listed"},
};

class FakePlugins : public PluginSource {
public:
    std::vector<std::string> names(PluginKind kind) const override {
        if (kind == PluginKind::strategy) return {"cagnet-1d", "mg-gcn", "serial", "square"};
        if (kind == PluginKind::partitioner) return {"block", "metis", "random"};
        return {"cpu", "cuda"};
    }
    std::optional<PluginFacts> find(PluginKind kind, std::string_view name) const override {
        for (const std::string& n : names(kind)) {
            if (n != name) continue;
            if (name == "mg-gcn") return PluginFacts{version, "", overlap_params};
            if (name == "metis") return PluginFacts{version, "", metis_params};
            return PluginFacts{version, "", {}, {}, name == host_memory_backend};
        }
        return {};
    }
    const Strategy& strategy(std::string_view name) const override {
        return name == "serial" ? one_ : name == "square" ? square_ : any_;
    }
    const Partitioner& partitioner(std::string_view) const override { return partitioner_; }
    const BackendPlugin& kernel(std::string_view name) const override { return name == "cuda" ? cuda_ : cpu_; }

    std::string version = "1.0.0";
    std::string host_memory_backend = "cpu";  ///< the one that says so

private:
    FakeStrategy any_{FakeStrategy::Ranks::any}, one_{FakeStrategy::Ranks::one},
        square_{FakeStrategy::Ranks::square};
    FakePartitioner partitioner_;
    FakeBackend cpu_{""}, cuda_{"no CUDA device"};
};

class FakeDatasets : public DatasetSource {
public:
    std::vector<std::string> stores() const override { return {"amazon0601", "cora"}; }
    DatasetForm expectation() const override { return {"expect", "a graph that is not there", list_params}; }
    std::vector<DatasetForm> generators() const override {
        return {{"dcsbm", "communities", graph_params}, {"grid", "a mesh", graph_params}};
    }
    std::vector<DatasetForm> formats() const override {
        return {{"edge-list", "lines", list_params}, {"metis", "METIS", {}}};
    }
    std::string detect_format(const std::filesystem::path& path) const override {
        if (path.extension() == ".graph") return "metis";
        if (path.extension() == ".tsv") return "edge-list";
        throw DataError("the format is not known by the name " + path.filename().string());
    }
    void complete(DatasetChoice& choice) const override {
        const nlohmann::json& source = *choice.source;
        if (source.contains("name"))
            choice.name = source["name"];
        else if (source.contains("store"))
            choice.name = source["store"];
        else if (source.contains("path"))
            choice.name = std::filesystem::path(source["path"].get<std::string>()).stem();
        else if (source.contains("expect"))
            choice.name = source["expect"];
        else
            choice.name = source["generate"].get<std::string>() + "-" + source["vertices"].dump();
    }
};

inline Experiment read(const std::string& text, std::vector<std::string> overrides = {},
                       const std::string& profile = "", const std::string& file = "exp.yaml") {
    static const FakePlugins plugins;
    static const FakeDatasets datasets;
    return read_experiment(text, file, {std::move(overrides), 8, 1, profile}, plugins, datasets);
}

/// Everything said about a text that cannot be used; fails the test where it can.
inline std::string complaint(const std::string& text, std::vector<std::string> overrides = {},
                             const std::string& profile = "", const std::string& file = "exp.yaml") {
    try {
        read(text, std::move(overrides), profile, file);
    } catch (const ExperimentError& e) {
        return e.what();
    }
    FAIL("accepted:\n" << text);
    return {};
}

}  // namespace gnnbench::test
