#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/matrix.hpp>
#include <gnnbench/model.hpp>
#include <gnnbench/params.hpp>
#include <gnnbench/plugin.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

class ProcessGroup;

using Part = std::int32_t;

/// Which part every vertex belongs to, and how vertices lie inside a part. A part may be empty.
struct Partition {
    Part parts = 1;
    std::vector<Part> part_of;  ///< length vertices, each in [0, parts)
    /// Where columns are ordered differently from rows (2D, 3D and Plexus layouts): the part of every vertex
    /// as a column; empty when the same as rows.
    std::vector<Part> column_part_of;
    /// A permutation of the original ids, length vertices: the vertices of each part lie in the order in which they
    /// appear here. Empty: by original id.
    std::vector<std::int32_t> order = {};
    /// Of a vertex cut: the part of each entry of the graph, in the graph's order. A part then has a copy of every vertex
    /// that is row or column of one of its entries; `part_of` says which copy is the root. Empty where whole vertices are
    /// dealt to parts.
    std::vector<Part> part_of_entry = {};
};

/// What a strategy requests from a partitioner.
struct PartitionNeed {
    Part parts = 1;           ///< parts of the rows
    Part column_parts = 0;    ///< parts of the columns, if different; 0: the rows' partition applies to columns
    bool vertex_cut = false;  ///< entries are dealt to parts, not whole vertices
};

/// What is known about a graph before it is read.
struct GraphSize {
    std::int64_t vertices = 0, edges = 0;
    bool weighted = false;
};

/// What a partitioner gets. Everything is valid during the call only.
struct PartitionTask {
    /// Row v of its graph lists the vertices that v aggregates from. `split`, which says which vertices are trained on,
    /// and features and labels are empty where only a graph is partitioned.
    const DatasetView& dataset;
    const ModelSpec& model;  ///< without widths where no model is trained (`gnnbench partition`)
    PartitionNeed need;
    const Params& params;
    std::uint64_t seed = 0;  ///< the cell's; a deterministic partitioner ignores it
    /// The ranks that partition together, for a distributed partitioner; nullptr: this process is alone.
    const ProcessGroup* processes = nullptr;
};

/// Rows first … last − 1.
struct RowRange {
    std::int64_t first = 0, last = 0;
    std::int64_t count() const { return last - first; }
    bool operator==(const RowRange&) const = default;
};

/// The rows of one rank of a distributed partitioner: consecutive, and with about as many vertices and entries together
/// as any other rank has. Reads a few row pointers.
RowRange rows_of_rank(const GraphView& graph, int ranks, int rank);

/// Why a partitioner that orders rows and columns alike does not support this; empty if it does.
std::string why_not_alike(const PartitionNeed& need);

/// The same of one that leaves no part empty, besides.
std::string why_not_alike_and_filled(const GraphSize& graph, const PartitionNeed& need);

/// Gives each empty part a vertex of the heaviest part that has several, for partitioners that leave no part empty. No
/// part becomes heavier than one was.
void fill_empty_parts(const GraphView& graph, Partition& partition);

/// A graph and a number of parts → Partition. Stateless; the same task gives the same partition, at any number of
/// ranks.
class Partitioner {
public:
    virtual ~Partitioner();
    /// Why it does not support this; empty if it does.
    virtual std::string why_unsupported(const GraphSize& graph, const PartitionNeed& need,
                                        const Params& params) const = 0;
    /// Throws OutOfMemory where memory does not suffice (the trial ends as `oom`), Unsupported where the graph turns
    /// out to be one that it cannot serve (`skipped`), DataError for a file that it cannot use.
    virtual Partition partition(const PartitionTask& task) const = 0;
    /// Whether partition() is collective over `task.processes`: each rank calls it, reads of the graph only the rows that
    /// rows_of_rank() gives it, and returns their parts alone in `part_of`, without any other array; what it throws, all
    /// ranks throw. Otherwise rank 0 calls it alone, without processes, and the host sends the partition to the others. A
    /// distributed partitioner serves a process that is alone, too.
    virtual bool distributed() const { return false; }
    /// Whether it deals entries to parts, as a need with vertex_cut requests; else it deals whole vertices.
    virtual bool cuts_vertices() const { return false; }
    /// A digest of what partition() reads besides its task, such as a file that a parameter names; empty: nothing.
    virtual std::string outside_input(const Params& params) const;
};

/// Why a partitioner does not support this, the kind of cut included; empty if it does.
std::string why_not_served(const Partitioner& partitioner, const GraphSize& graph, const PartitionNeed& need,
                           const Params& params);

/// Throws LogicError, which says where, unless each vertex, and of a vertex cut each entry, has a part of those that `need`
/// requests, and the order is empty or a permutation.
void check_partition(const Partition& partition, const PartitionNeed& need, const GraphSize& graph);

/// The order of vertices under a partition: parts one after another, inside a part by the partition's order.
///
/// Global ids  G = {0 … n−1}, the dataset's order.
/// Position    of v: offset[part_of(v)] + local(v); part p owns positions [offset[p], offset[p+1]).
///
/// Has two arrays over all vertices, which copies share and which may be in memory that the ranks of a host share; none
/// where every vertex's position is its id: one part, or runs of vertices.
class IndexMap {
public:
    /// Both empty where every position is an id.
    struct Places {
        std::span<const std::int32_t> position;    ///< by original id
        std::span<const std::int32_t> vertex;      ///< original id by position
        std::shared_ptr<const void> memory;        ///< what keeps them
        std::span<const Part> part_of_entry = {};  ///< Partition::part_of_entry
    };

    explicit IndexMap(const Partition& partition);
    /// From another map's arrays; `offsets` has length parts + 1.
    IndexMap(std::vector<std::int64_t> offsets, bool by_id, Places places);
    /// One part, by id.
    static IndexMap one_part(std::int64_t vertices) { return {{0, vertices}, true, {}}; }
    const std::vector<std::int64_t>& offsets() const { return offsets_; }
    const Places& places() const { return places_; }

    Part parts() const { return static_cast<Part>(offsets_.size()) - 1; }
    std::int64_t vertices() const { return offsets_.back(); }
    std::int64_t size(Part p) const { return offset(p + 1) - offset(p); }
    std::int64_t largest() const;
    std::int64_t offset(Part p) const { return offsets_[usize(p)]; }
    std::int64_t position(GlobalId v) const {
        return identity() ? value(v) : std::int64_t{places_.position[usize(value(v))]};
    }
    Part part_at(std::int64_t position) const {
        Part p = first_part_[usize(position >> shift_)];
        while (offsets_[usize(p) + 1] <= position) ++p;
        return p;
    }
    Part part_of(GlobalId v) const { return part_at(position(v)); }
    LocalId local(GlobalId v) const {
        const std::int64_t at = position(v);
        return LocalId{static_cast<std::int32_t>(at - offset(part_at(at)))};
    }
    GlobalId vertex_at(std::int64_t position) const {
        return GlobalId{identity() ? position : std::int64_t{places_.vertex[usize(position)]}};
    }
    GlobalId global(Part p, LocalId l) const { return vertex_at(offset(p) + value(l)); }
    /// Under a vertex cut, the part of each entry of the graph; parts are then those of the roots. Else empty.
    std::span<const Part> part_of_entry() const { return places_.part_of_entry; }
    /// Whether vertices of a part lie by original id.
    bool by_id() const { return by_id_; }
    /// The original ids of part p, or of `count` parts from it on, in the order of positions.
    std::vector<GlobalId> owned(Part p, Part count = 1) const;

    /// Whether every vertex's position is its id.
    bool identity() const { return places_.position.empty(); }

private:
    void index_parts();

    std::vector<std::int64_t> offsets_;  ///< length parts + 1
    Places places_;
    /// For runs of 2^shift_ positions, the part of the first.
    int shift_ = 0;
    std::vector<Part> first_part_;
    bool by_id_ = true;
};

/// How good a partition is for a graph (rows are destinations; an entry whose column is owned elsewhere is cut). A vertex cut
/// cuts no entry: its connectivity − 1 counts copies beside the roots, and parts are measured in copies and in entries.
struct PartitionQuality {
    std::int64_t edge_cut = 0;                ///< entries (i, j), i ≠ j, with part(i) ≠ part(j)
    std::int64_t connectivity_minus_one = 0;  ///< Σ over columns of |parts with a nonzero in it ∪ {owner}| − 1
    double vertex_imbalance = 1;              ///< largest part ÷ mean part, in vertices
    double nonzero_imbalance = 1;             ///< the same in nonzeros, which partitioners balance: row_nonzeros
};
PartitionQuality measure_quality(const GraphView& graph, const Partition& partition);

/// What one part contributes: sums over all parts give the quality, maxima its imbalances.
struct PartQuality {
    std::int64_t edge_cut = 0;
    std::int64_t needed = 0;  ///< columns of others in which its rows have a nonzero: summed, connectivity−1
    std::int64_t vertices = 0;
    std::int64_t nonzeros = 0;  ///< Σ row_nonzeros of its rows
};
PartQuality measure_part(const GraphView& graph, const IndexMap& index, Part part);

}  // namespace gnnbench
