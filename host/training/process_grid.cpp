#include <gnnbench/training/process_grid.hpp>

#include <fmt/format.h>

namespace gnnbench {

GridPlace GridShape::place(int rank) const {
    return {{rank / (extents[1] * extents[2]), rank / extents[2] % extents[1], rank % extents[2]}};
}

int GridShape::rank(const GridPlace& p) const { return (p.at[0] * extents[1] + p.at[1]) * extents[2] + p.at[2]; }

int GridShape::rank_in_plane(Axis a, GridPlace p) const {
    GridShape plane = *this;
    plane.extents[usize(a)] = 1;
    p[a] = 0;
    return plane.rank(p);
}

std::string GridShape::text() const {
    return extents[2] == 1 ? fmt::format("{}x{}", extents[0], extents[1])
                           : fmt::format("{}x{}x{}", extents[0], extents[1], extents[2]);
}

ProcessGrid::ProcessGrid(Communicator& world, GridShape shape)
    : world_(world), shape_(shape), place_(shape.place(world.rank())) {
    if (shape.ranks() != world.size())
        throw LogicError(
            fmt::format("a {} grid has {} ranks; {} given", shape.text(), shape.ranks(), world.size()));
    for (const Axis a : {Axis::x, Axis::y, Axis::z}) {
        // A line is named by its rank with coordinate a = 0, a plane by its coordinate a.
        GridPlace start = place_;
        start[a] = 0;
        along_.push_back(world.split(shape.rank(start), place_[a]));
        plane_.push_back(world.split(place_[a], world.rank()));
    }
}

}  // namespace gnnbench
