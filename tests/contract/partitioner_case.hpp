#pragma once
#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <gnnbench/partition.hpp>

#include "contract/graphs.hpp"
#include "plugin/loader.hpp"
#include "unit/data_support.hpp"

/// What tests of partitioners share.

namespace gnnbench::partitioners {

inline const PluginCatalog& catalog() {
    static const PluginCatalog found;
    return found;
}

/// Those that ship here; others may lie in GNNBENCH_PLUGIN_PATH and are held to the same contract.
struct Candidate {
    std::string name;
    std::unique_ptr<Partitioner> partitioner;
    std::span<const ParamDecl> declared;
    Params defaults() const { return Params(declared); }
    Partition partition(const GraphView& graph, const PartitionNeed& need, const Params& params,
                        std::uint64_t seed) const {
        const DatasetView data = graphs::bare(graph);
        Partition p =
            partitioner->partition({.dataset = data, .model = {}, .need = need, .params = params, .seed = seed});
        check_partition(p, need, {graph.vertices(), graph.edges()});
        return p;
    }
    using Settings = std::vector<std::pair<std::string, std::string>>;
    Params with(const Settings& settings) const {
        Params p = defaults();
        for (const auto& [name_of_param, text] : settings)
            for (const ParamDecl& d : declared)
                if (d.name == name_of_param) p.set(d, text);
        return p;
    }
    Params with(const std::string& name_of_param, const std::string& text) const {
        return with({{name_of_param, text}});
    }
};

/// What a partitioner is for: vertices or edges in so many parts.
inline PartitionNeed need_of(const Partitioner& partitioner, Part parts) {
    return {.parts = parts, .vertex_cut = partitioner.cuts_vertices()};
}

inline Candidate candidate(const std::string& name) {
    return {name, catalog().partitioner(name), catalog().find(PluginKind::partitioner, name).params};
}

inline GraphSize size_of(const graphs::NamedGraph& g) {
    return {.vertices = g.view().vertices(), .edges = g.view().edges(), .weighted = !g.weights.empty()};
}

/// What partitioners need that read files or run programs: both give vertex v part v mod parts.
class GivenFiles {
public:
    GivenFiles() {
        // Reads n from the header of a METIS file.
        folder_.write(
            "by_turns",
            "#!/bin/sh\nread -r n _ < \"$1\"\n"
            "awk -v n=\"$n\" -v k=\"$2\" 'BEGIN { for (v = 0; v < n; ++v) print v % k }' > \"$1.part.$2\"\n");
        std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
    }
    std::string program() const { return (folder_.path() / "by_turns").string(); }
    const test::TempFolder& folder() const { return folder_; }

    /// The defaults of others.
    Params params(const Candidate& c, const graphs::NamedGraph& g, Part parts) const {
        if (c.name == "command") return c.with("program", program());
        if (c.name != "file") return c.defaults();
        std::string text;
        for (std::int64_t v = 0; v < g.view().vertices(); ++v) text += std::to_string(v % parts) + "\n";
        return c.with("path", folder_.write("parts", text).string());
    }

private:
    test::TempFolder folder_;
};

inline void check_parts(const std::vector<Part>& part_of, std::int64_t vertices, Part parts) {
    CHECK(static_cast<std::int64_t>(part_of.size()) == vertices);
    for (std::size_t v = 0; v < part_of.size(); ++v) {
        INFO("vertex " << v << " is in part " << part_of[v] << " of " << parts);
        REQUIRE((part_of[v] >= 0 && part_of[v] < parts));
    }
}

inline std::vector<std::int64_t> sizes(const std::vector<Part>& part_of, Part parts) {
    std::vector<std::int64_t> count(static_cast<std::size_t>(parts));
    for (Part p : part_of) ++count[static_cast<std::size_t>(p)];
    return count;
}

inline void check_even(const std::vector<Part>& part_of, Part parts) {
    const auto count = sizes(part_of, parts);
    const auto [smallest, largest] = std::minmax_element(count.begin(), count.end());
    CHECK(*largest - *smallest <= 1);
}

}  // namespace gnnbench::partitioners
