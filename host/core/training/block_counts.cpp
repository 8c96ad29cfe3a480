#include "core/training/block_counts.hpp"

#include <fmt/format.h>

#include <gnnbench/training/vertex_order.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// By original id: the run that a vertex is in.
std::vector<std::int32_t> runs_of(const CutOrder& order) {
    const IndexMap& index = order.index;
    std::vector<std::int32_t> run(usize(index.vertices()));
    for (Part p = 0; p < index.parts(); ++p)
        for (std::int64_t at = index.offset(p); at < index.offset(p + 1); ++at)
            run[usize(value(index.vertex_at(at)))] =
                p * order.runs + block_of(index.size(p), order.runs, at - index.offset(p));
    return run;
}

}  // namespace

CountedBlocks::CountedBlocks(const Adjacency& a, const CutOrder& rows, const CutOrder& columns)
    : columns_(std::int64_t{columns.index.parts()} * columns.runs),
      nonzeros_(usize(std::int64_t{rows.index.parts()} * rows.runs * columns_)),
      row_order_(rows.index),
      column_order_(columns.index) {
    if (const ExpectedGraph* graph = expected_graph(a.shared()))
        expect(*graph, has_loops(a, *graph), rows, columns);
    else
        count(a, rows, columns);
}

void CountedBlocks::expect(const ExpectedGraph& graph, bool loops, const CutOrder& rows, const CutOrder& columns) {
    const auto run_of = [](const CutOrder& order, std::int64_t number) {
        const auto part = static_cast<Part>(number / order.runs);
        const auto run = static_cast<int>(number % order.runs);
        const std::int64_t begin = order.index.offset(part), size = order.index.size(part);
        const std::int64_t first = begin + block_begin(size, order.runs, run);
        return ExpectedRun{order.index, first, first + block_size(size, order.runs, run)};
    };
    for (std::size_t k = 0; k < nonzeros_.size(); ++k) {
        const auto row = static_cast<std::int64_t>(k) / columns_, column = static_cast<std::int64_t>(k) % columns_;
        nonzeros_[k] = ExpectedGraph::rounded(
            graph.nonzeros(run_of(rows, row), run_of(columns, column), loops).mean, row, column);
    }
}

void CountedBlocks::count(const Adjacency& a, const CutOrder& rows, const CutOrder& columns) {
    const TileChoice whole_rows;
    const std::vector<std::int32_t> row_run = runs_of(rows), column_run = runs_of(columns);
    for (std::int64_t v = 0; v < a.vertices(); ++v) {
        const auto line = nonzeros_.begin() + row_run[usize(v)] * columns_;
        a.pattern(Direction::forward, v, whole_rows, [&](std::int64_t j) { ++line[column_run[usize(j)]]; });
    }
}

bool has_loops(const Adjacency& a, const ExpectedGraph& graph) {
    return static_cast<double>(a.nonzeros()) > graph.entries() + 0.5 * static_cast<double>(a.vertices());
}

std::string name_of(const IndexMap& index) {
    const auto& offsets = index.offsets();
    const void* order = index.identity() ? index.places().memory.get() : index.places().position.data();
    std::string name = fmt::format("{} ", order);
    return name.append(reinterpret_cast<const char*>(offsets.data()), offsets.size() * sizeof offsets[0]);
}

std::shared_ptr<const CountedBlocks> counted_blocks(const Adjacency& a, const CutOrder& rows,
                                                    const CutOrder& columns) {
    const std::string name =
        fmt::format("{}/{} by {}/{}", name_of(rows.index), rows.runs, name_of(columns.index), columns.runs);
    return made_once<CountedBlocks>(a.shared(), name, [&] { return CountedBlocks(a, rows, columns); });
}

}  // namespace gnnbench
