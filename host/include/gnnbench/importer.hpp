#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/params.hpp>
#include <gnnbench/plugin.hpp>

namespace gnnbench {

/// How an input lists its edges.
struct EdgeListing {
    bool weighted = false;  ///< every edge comes with a weight
    bool undirected =
        false;  ///< an edge is listed once for both directions; the user's `directed` decides otherwise
};

/// Takes the edges of an input, in any number of pieces and in the input's order. The host keeps, sorts or writes them, within
/// the memory that the import may take; the spans are read before the call returns.
class EdgeSink {
public:
    virtual ~EdgeSink() = default;
    /// Before the first edge; without it edges are directed and have no weights.
    virtual void begin(const EdgeListing& listing) = 0;
    /// Edge e goes from source[e] to target[e]: target[e] aggregates from source[e]. Vertices count from 0. `weight`: as many,
    /// finite; empty where edges have no weights.
    virtual void add(std::span<const std::int32_t> source, std::span<const std::int32_t> target,
                     std::span<const float> weight = {}) = 0;
};

/// All of an input but its edges. What is empty is drawn at random by the host, and the store lists it as `synthetic`.
struct ImportedData {
    std::string name;           ///< of the dataset; empty: from the file's name
    std::int64_t vertices = 0;  ///< 1 to 2³¹ − 1; every edge's vertices are below it
    std::int64_t feature_count = 0;
    std::vector<float> features;       ///< [vertices × feature_count], row-major, finite
    std::int32_t classes = 0;          ///< 0: as many as the largest label says
    std::vector<std::int32_t> labels;  ///< length vertices, in [−1, classes), −1 where unknown
    std::vector<std::uint8_t>
        label_matrix;  ///< [vertices × classes] of 0 and 1, in place of labels: any number each
    std::int32_t splits = 0;
    std::vector<Split> masks;  ///< [splits × vertices]; a vertex without a label is in none
};

/// One input format: an importer is stateless, and the same files and parameters give the same data. Besides the parameters
/// that it declares, the host gives every importer those of edges (directed, loops, repeats, reverse), of what is drawn
/// (features, classes, train_fraction, validation_fraction, test_fraction, seed) and `licence`, and obeys them itself.
class Importer {
public:
    virtual ~Importer() = default;
    /// Whether a file or folder is of this format, from its name or its first bytes. Called with any path, also of what is not
    /// there; may not throw. Built-in formats are asked first.
    virtual bool recognises(const std::filesystem::path&) const { return false; }
    /// All files that `read` reads, so that a change of one makes another dataset.
    virtual std::vector<std::filesystem::path> inputs(const std::filesystem::path& path) const { return {path}; }
    /// Reads the input. Bad input is a DataError (gnnbench/error.hpp) that names file and line or array, what was found and
    /// what is allowed; sizes that a file states are checked against the file before memory is taken
    /// (gnnbench/array_size.hpp).
    virtual ImportedData read(const std::filesystem::path& path, const Params& params, EdgeSink& edges) const = 0;
};

}  // namespace gnnbench
