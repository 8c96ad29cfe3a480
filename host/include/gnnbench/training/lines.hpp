#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <gnnbench/training/adjacency.hpp>

namespace gnnbench {

/// What the entries of lines are read for: their columns alone, or their values too.
enum class Entries : std::uint8_t { columns, values };

/// The vertices of parts that ascend, in runs: one of all, unless every vertex's position is its id.
std::vector<ColumnRange> columns_of(const IndexMap& index, std::span<const Part> parts);

/// Rows of Â or Âᵀ for some vertices, each with its columns ascending by original id. They are read from the graph; rows
/// of Âᵀ whose graph has no transpose at hand are collected by one walk over all of it.
class Lines {
public:
    /// `a` must outlive it. Where values are read, it holds the scales of their columns: of all columns where there are more
    /// entries than vertices, which is less than the entries will take, else of those alone, by a set of 1.5 bits for
    /// each vertex.
    Lines(const Adjacency& a, Direction d, std::vector<GlobalId> vertices, Entries entries);
    /// Entries in other columns than these may be left out.
    Lines(const Adjacency& a, Direction d, std::vector<GlobalId> vertices, Entries entries,
          std::span<const ColumnRange> columns);

    std::int64_t size() const { return std::ssize(vertices_); }
    /// Calls visit(column: GlobalId, value: double) for each entry of line r; made for Entries::values. May be called
    /// from several threads, like pattern().
    template <class Visit>
    void visit(std::int64_t r, Visit&& visit) const {
        const auto each = [&](std::int64_t column, double w) { visit(GlobalId{column}, w); };
        if (!scales_.empty()) return a_.line(d_, value(vertices_[usize(r)]), from_, scales_, each);
        if (!few_scales_.empty()) return a_.line(d_, value(vertices_[usize(r)]), from_, few_scales_, each);
        if (start_.empty()) return a_.line(d_, value(vertices_[usize(r)]), from_, each);
        for (auto e = usize(start_[usize(r)]); e < usize(start_[usize(r) + 1]); ++e)
            visit(GlobalId{columns_[e]}, values_[e]);
    }
    /// visit(column: GlobalId), without the values.
    template <class Visit>
    void pattern(std::int64_t r, Visit&& visit) const {
        if (start_.empty())
            return a_.pattern(d_, value(vertices_[usize(r)]), from_,
                              [&](std::int64_t column) { visit(GlobalId{column}); });
        for (auto e = usize(start_[usize(r)]); e < usize(start_[usize(r) + 1]); ++e) visit(GlobalId{columns_[e]});
    }

private:
    void collect(Entries entries);
    /// The columns of all lines.
    PositionSet columns_of_lines() const;

    const Adjacency& a_;
    Direction d_;
    std::vector<GlobalId> vertices_;
    TileChoice from_;
    ColumnScales scales_;              ///< where there are several entries for each column
    FewScales few_scales_;             ///< elsewhere
    std::vector<std::int64_t> start_;  ///< empty: nothing was collected
    std::vector<std::int32_t> columns_;
    std::vector<double> values_;
};

}  // namespace gnnbench
