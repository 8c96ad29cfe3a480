#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gnnbench/communicator.hpp>
#include <gnnbench/even_blocks.hpp>
#include <gnnbench/usize.hpp>

/// Ranks laid out on a grid of up to three dimensions.

namespace gnnbench {

enum class Axis : std::uint8_t { x, y, z };

/// A rank's coordinates: place[axis] ∈ {0 … extent(axis) − 1}.
struct GridPlace {
    std::array<int, 3> at{};
    int operator[](Axis a) const { return at[usize(a)]; }
    int& operator[](Axis a) { return at[usize(a)]; }
    bool operator==(const GridPlace&) const = default;
};

/// Ranks {0 … X·Y·Z − 1} on an X × Y × Z grid, z running fastest: rank (x, y, z) = (x·Y + y)·Z + z. Pure numbers,
/// so that volumes can be stated for any rank without one.
struct GridShape {
    std::array<int, 3> extents{1, 1, 1};

    int extent(Axis a) const { return extents[usize(a)]; }
    int ranks() const { return extents[0] * extents[1] * extents[2]; }
    GridPlace place(int rank) const;
    int rank(const GridPlace& p) const;
    /// A place's number among those with the same coordinate a, in the order of their ranks.
    int rank_in_plane(Axis a, GridPlace p) const;
    /// "2x3", "2x2x2": without trailing extents of 1 after the second.
    std::string text() const;
    bool operator==(const GridShape&) const = default;
};

/// One rank's coordinates on the grid, with a communicator for each of its lines and planes:
///   along(a)   {ranks that differ from this one in coordinate a alone}, numbered by coordinate a
///   plane(a)   {ranks with the same coordinate a}, numbered by their rank in the world
class ProcessGrid {
public:
    /// Collective over `world`, which has shape.ranks() ranks and outlives the grid.
    ProcessGrid(Communicator& world, GridShape shape);

    const GridShape& shape() const { return shape_; }
    const GridPlace& place() const { return place_; }
    int extent(Axis a) const { return shape_.extent(a); }
    int at(Axis a) const { return place_[a]; }
    Communicator& world() const { return world_; }
    Communicator& along(Axis a) { return along_[usize(a)]; }
    Communicator& plane(Axis a) { return plane_[usize(a)]; }

private:
    Communicator& world_;
    GridShape shape_;
    GridPlace place_;
    std::vector<Communicator> along_, plane_;  ///< by axis
};

}  // namespace gnnbench
