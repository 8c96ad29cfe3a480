#include <gnnbench/training/sparsity.hpp>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/training/lines.hpp>
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

/// By a walk over the graph.
class WalkedCounts final : public SparsityCounts {
public:
    bool has_entries() const override { return true; }

    std::vector<std::int64_t> of_blocks(const Adjacency& a, const CutOrder& rows,
                                        const CutOrder& columns) const override {
        const TileChoice whole_rows;
        const std::int64_t row_runs = std::int64_t{rows.index.parts()} * rows.runs;
        const std::int64_t column_runs = std::int64_t{columns.index.parts()} * columns.runs;
        const std::vector<std::int32_t> row_run = runs_of(rows), column_run = runs_of(columns);
        std::vector<std::int64_t> nonzeros(usize(row_runs * column_runs));
        for (std::int64_t v = 0; v < a.vertices(); ++v) {
            const auto line = nonzeros.begin() + row_run[usize(v)] * column_runs;
            a.pattern(Direction::forward, v, whole_rows, [&](std::int64_t j) { ++line[column_run[usize(j)]]; });
        }
        return nonzeros;
    }

    LineCounts of_line(const Adjacency& a, const IndexMap& index, Part part, Direction d) const override {
        const Lines lines(a, d, index.owned(part), Entries::columns);
        const auto parts = usize(index.parts());
        LineCounts n{std::vector<std::int64_t>(parts), std::vector<std::int64_t>(parts)};
        std::vector<bool> column_seen(usize(a.vertices()));
        std::vector<std::int64_t> row_seen(parts, -1);  // by part, the last row with an entry there
        for (std::int64_t r = 0; r < lines.size(); ++r)
            lines.pattern(r, [&](GlobalId column) {
                const auto j = usize(index.part_of(column));
                if (!column_seen[usize(value(column))]) {
                    column_seen[usize(value(column))] = true;
                    ++n.columns[j];
                }
                if (row_seen[j] != r) {
                    row_seen[j] = r;
                    ++n.rows[j];
                }
            });
        return n;
    }
};

}  // namespace

SparsityCounts::~SparsityCounts() = default;

const SparsityCounts& sparsity_of(const Adjacency& a) {
    static const WalkedCounts walked;
    if (SharedSetup* const shared = a.shared())
        if (const auto& known = shared->of<KnownSparsity>().counts) return *known;
    return walked;
}

void require_entries(SharedSetup* shared, const std::string& what) {
    if (!shared) return;
    if (const auto& known = shared->of<KnownSparsity>().counts; known && !known->has_entries())
        throw Unsupported(fmt::format("{} needs the graph's entries, and this graph is only expected", what));
}

}  // namespace gnnbench
