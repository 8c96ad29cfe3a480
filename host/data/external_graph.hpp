#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <data/content.hpp>
#include <data/edges.hpp>
#include <data/fill.hpp>
#include <data/memory_budget.hpp>
#include <data/spill_file.hpp>

namespace gnnbench {

/// What a stored graph's manifest says of it.
struct GraphFacts {
    std::int64_t edges = 0, self_loops = 0;
    std::int64_t listed_edges = 0, loops_dropped = 0, repeats_merged = 0;
    bool weighted = false;
    Symmetry symmetry;
};

/// A graph whose edges are not held in memory: they are sorted on disk while they come, and merged, repeats included, when
/// the store is written. Its arrays are to the bit those that build_graph and write_store make of the same edges.
class ExternalGraph {
public:
    /// `bytes`: what sorting may take. `weighted`: edges come with weights; `lines`: with the line of each. Listings directed
    /// and undirected only.
    static std::unique_ptr<ExternalGraph> make(std::string file, EdgePolicy policy, bool weighted, bool lines,
                                               const MemoryBudget& room, std::uint64_t bytes);
    virtual ~ExternalGraph() = default;

    /// The next listed edge; vertices from 0 on.
    virtual void add(std::int32_t source, std::int32_t target, float weight, std::int64_t line) = 0;
    /// After the last edge. Throws EnvironmentError where vertices without edges alone exceed memory, or the disk is too
    /// small for what is to be written.
    void end(std::int64_t vertices, std::int64_t feature_count);
    std::int64_t vertices() const { return vertices_; }
    std::int64_t listed_edges() const { return facts_.listed_edges; }
    void set_listed_edges(std::int64_t edges) { facts_.listed_edges = edges; }

    /// Writes row pointers, indices, weights and their sums, and the transpose's where it differs, as a store has them. Once.
    /// `where` begins errors.
    virtual GraphFacts write(const std::filesystem::path& folder, const std::string& where) = 0;

protected:
    ExternalGraph(std::string file, EdgePolicy policy, const MemoryBudget& room, std::uint64_t bytes)
        : file_(std::move(file)), policy_(policy), room_(room), bytes_(bytes) {}
    virtual std::uint64_t record_bytes() const = 0;

    std::string file_;
    EdgePolicy policy_;
    MemoryBudget room_;
    std::uint64_t bytes_;
    std::int64_t vertices_ = 0, added_ = 0;
    GraphFacts facts_;
};

/// What a dataset has outside memory.
struct OutsideParts {
    std::unique_ptr<ExternalGraph> graph;
    std::unique_ptr<SpillFile> features;  ///< [vertices × feature_count], float32; null: in memory, or drawn
    FillSpec fill;                        ///< of features, labels and masks that are not there
};

/// Edges one by one, held in memory as long as an import that holds all of them fits into its room, else sorted outside.
class EdgeCollector {
public:
    /// `held_bytes`: of an edge at the peak of such an import, beyond what EdgeCollector and build_graph take.
    EdgeCollector(std::string file, EdgePolicy policy, const MemoryBudget& room, std::uint64_t held_bytes = 0);
    /// Before the first edge, if they have weights or lines.
    void expect(bool weighted, bool lines);
    /// Where the size is stated: goes outside at once if it does not fit.
    void expect_size(std::int64_t vertices, std::int64_t edges, std::int64_t feature_count);

    void add(std::int32_t source, std::int32_t target, float weight = 1, std::int64_t line = 0) {
        if (outside_) return outside_->add(source, target, weight, line);
        edges_.source.push_back(source);
        edges_.target.push_back(target);
        if (weighted_) edges_.weight.push_back(weight);
        if (lines_) edges_.line.push_back(line);
        if (edges_.edges() > most_held_) go_outside();
    }
    bool is_outside() const { return outside_ != nullptr; }
    /// What is not for edges: tables of labels, for one. Throws EnvironmentError where it leaves too little for them.
    void reserve(std::uint64_t bytes, const std::string& what);
    /// Puts the graph into `data`, in memory or outside; of `feature_count` features in memory, or to be drawn.
    void finish(RawDataset& data, std::int64_t vertices, std::int64_t feature_count);

private:
    bool holds(std::int64_t vertices, std::int64_t edges, std::int64_t feature_count) const;
    void go_outside();

    EdgePolicy policy_;
    MemoryBudget room_;
    std::uint64_t held_bytes_, reserved_ = 0;
    EdgeList edges_;
    bool weighted_ = false, lines_ = false;
    std::int64_t most_held_ = 0;
    std::unique_ptr<ExternalGraph> outside_;
};

/// Bytes of an edge at the peak of build_graph and write_store.
std::uint64_t built_edge_bytes(EdgePolicy policy, bool weighted, bool lines);

/// Number of vertices, whether the graph is in memory or outside.
std::int64_t vertices_of(const RawDataset& data);
/// Sets the number of edges as the source counts them, where that differs.
void set_listed_edges(RawDataset& data, std::int64_t edges);

}  // namespace gnnbench
