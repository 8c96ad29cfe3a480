#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/matrix.hpp>
#include <gnnbench/params.hpp>
#include <gnnbench/plugin.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

using Part = std::int32_t;

/// Which part every vertex belongs to. A part may be empty.
struct Partition {
    Part parts = 1;
    std::vector<Part> part_of;  ///< length vertices, each in [0, parts)
    /// Where columns are ordered differently from rows (2D, 3D and Plexus layouts): the part of every vertex
    /// as a column; empty when the same as rows.
    std::vector<Part> column_part_of;
};

/// What a strategy requests from a partitioner.
struct PartitionNeed {
    Part parts = 1;         ///< parts of the rows
    Part column_parts = 0;  ///< parts of the columns, if different; 0: the rows' partition applies to columns
};

/// What is known about a graph before it is read.
struct GraphSize {
    std::int64_t vertices = 0, edges = 0;
    bool weighted = false;
};

/// graph + number of parts → Partition. Stateless; the same arguments give the same partition.
class Partitioner {
public:
    virtual ~Partitioner();
    /// Why it does not support this; empty if it does.
    virtual std::string why_unsupported(const GraphSize& graph, const PartitionNeed& need,
                                        const Params& params) const = 0;
    /// `seed` is the cell's; a deterministic partitioner ignores it.
    virtual Partition partition(const GraphView& graph, const PartitionNeed& need, const Params& params,
                                std::uint64_t seed) const = 0;
};

/// The order of vertices under a partition: parts one after another, inside a part by original id.
///
/// Global ids  G = {0 … n−1}, the dataset's order.
/// Position    of v: offset[part_of(v)] + local(v); part p owns positions [offset[p], offset[p+1]).
class IndexMap {
public:
    explicit IndexMap(const Partition& partition);

    Part parts() const { return static_cast<Part>(offsets_.size()) - 1; }
    std::int64_t vertices() const { return static_cast<std::int64_t>(part_of_.size()); }
    std::int64_t size(Part p) const { return offset(p + 1) - offset(p); }
    std::int64_t largest() const;
    std::int64_t offset(Part p) const { return offsets_[usize(p)]; }
    Part part_of(GlobalId v) const { return part_of_[usize(value(v))]; }
    LocalId local(GlobalId v) const { return local_[usize(value(v))]; }
    GlobalId global(Part p, LocalId l) const { return order_[usize(offset(p) + value(l))]; }
    /// The original ids of part p in local order.
    std::span<const GlobalId> owned(Part p) const;

private:
    std::vector<std::int64_t> offsets_;  ///< length parts + 1
    std::vector<Part> part_of_;          ///< length vertices
    std::vector<LocalId> local_;         ///< length vertices
    std::vector<GlobalId> order_;        ///< length vertices: original id by position
};

/// How good a partition is for a graph (rows are destinations; an entry whose column is owned elsewhere is cut).
struct PartitionQuality {
    std::int64_t edge_cut = 0;                ///< entries (i, j), i ≠ j, with part(i) ≠ part(j)
    std::int64_t connectivity_minus_one = 0;  ///< Σ over columns of |parts with a nonzero in it ∪ {owner}| − 1
    double vertex_imbalance = 1;              ///< largest part ÷ mean part, in vertices
    double nonzero_imbalance = 1;             ///< the same in entries of its rows
};
PartitionQuality measure_quality(const GraphView& graph, const Partition& partition);

}  // namespace gnnbench
