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

}  // namespace gnnbench
