#include <gnnbench/vertex_copies.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/position_set.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

std::vector<std::int32_t> members(const std::vector<bool>& set) {
    std::vector<std::int32_t> list;
    for (std::size_t i = 0; i < set.size(); ++i)
        if (set[i]) list.push_back(static_cast<std::int32_t>(i));
    return list;
}

}  // namespace

VertexCopies::VertexCopies(const GraphView& graph, const IndexMap& index, Part part)
    : index_(index), part_(part), lent_(usize(index.parts())) {
    const auto part_of_entry = index.part_of_entry();
    require(std::ssize(part_of_entry) == graph.edges(), "a vertex cut has a part for every entry");
    PositionSet held(index.vertices());
    std::vector<std::vector<bool>> lent(usize(index.parts()));
    const std::int64_t first = index.offset(part), end = index.offset(part + 1);
    const auto meets = [&](std::int64_t position, Part q) {
        const bool root = position >= first && position < end;
        if (q == part) {
            if (!root) held.insert(position);
        } else if (root) {
            auto& set = lent[usize(q)];
            if (set.empty()) set.resize(usize(end - first));
            set[usize(position - first)] = true;
        }
    };
    for (std::int64_t v = 0; v < graph.vertices(); ++v) {
        const std::int64_t row = index.position(GlobalId{v});
        bool diagonal = false;
        for (std::int64_t e = graph.indptr[usize(v)]; e < graph.indptr[usize(v) + 1]; ++e) {
            const Part q = part_of_entry[usize(e)];
            const std::int32_t column = graph.indices[usize(e)];
            diagonal = diagonal || column == v;
            entries_ += q == part;
            meets(row, q);
            meets(index.position(GlobalId{column}), q);
        }
        missing_diagonals_ += !diagonal && row >= first && row < end;
    }
    held.count();
    for (Part j = 0; j < index.parts(); ++j) held_.push_back(held.members(index.offset(j), index.offset(j + 1)));
    for (std::size_t j = 0; j < lent.size(); ++j) lent_[j] = members(lent[j]);
}

std::int64_t VertexCopies::rows(const std::vector<std::vector<std::int32_t>>& lists) {
    std::int64_t n = 0;
    for (const auto& list : lists) n += std::ssize(list);
    return n;
}

std::vector<GlobalId> VertexCopies::held_vertices() const {
    std::vector<GlobalId> vertices;
    for (Part j = 0; j < index_.parts(); ++j)
        for (const std::int32_t local : held_[usize(j)]) vertices.push_back(index_.global(j, LocalId{local}));
    return vertices;
}

PartQuality VertexCopies::quality() const {
    return {.edge_cut = 0,
            .needed = held_rows(),
            .vertices = index_.size(part_) + held_rows(),
            .nonzeros = entries_ + missing_diagonals_};
}

namespace {

struct Entry {
    std::int32_t row, column;
};

/// The entries of each part, one part after another; `first` has length parts + 1.
struct GroupedEntries {
    std::vector<std::int64_t> first;
    std::vector<Entry> entries;

    GroupedEntries(const GraphView& graph, const Partition& cut)
        : first(usize(cut.parts) + 1), entries(usize(graph.edges())) {
        for (const Part p : cut.part_of_entry) ++first[usize(p) + 1];
        for (std::size_t p = 1; p < first.size(); ++p) first[p] += first[p - 1];
        std::vector<std::int64_t> next(first.begin(), first.end() - 1);
        for (std::int64_t v = 0; v < graph.vertices(); ++v)
            for (std::int64_t e = graph.indptr[usize(v)]; e < graph.indptr[usize(v) + 1]; ++e)
                entries[usize(next[usize(cut.part_of_entry[usize(e)])]++)] = {static_cast<std::int32_t>(v),
                                                                              graph.indices[usize(e)]};
    }
};

}  // namespace

std::vector<PartQuality> measure_copies(const GraphView& graph, const Partition& cut,
                                        const std::function<void(Part, std::int32_t)>& visit) {
    const GroupedEntries of(graph, cut);
    std::vector<PartQuality> parts(usize(cut.parts));
    for (const Part root : cut.part_of) ++parts[usize(root)].vertices, ++parts[usize(root)].nonzeros;
    std::vector<Part> met(cut.part_of);  // the last part that had a copy; the root, so that it is none
    for (Part p = 0; p < cut.parts; ++p) {
        PartQuality& mine = parts[usize(p)];
        for (std::int64_t i = of.first[usize(p)]; i < of.first[usize(p) + 1]; ++i) {
            const auto [row, column] = of.entries[usize(i)];
            ++mine.nonzeros;
            if (row == column) --parts[usize(cut.part_of[usize(row)])].nonzeros;  // its diagonal is stored
            for (const std::int32_t v : {row, column}) {
                if (met[usize(v)] == p || cut.part_of[usize(v)] == p) continue;
                met[usize(v)] = p;
                ++mine.vertices;
                ++mine.needed;
                if (visit) visit(p, v);
            }
        }
    }
    return parts;
}

}  // namespace gnnbench
