#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <gnnbench/usize.hpp>

#include "hypergraph/hypergraph.hpp"

namespace gnnbench::distributed {

using hypergraph::Id;

/// Lists of ids.
struct Incidence {
    std::vector<std::int64_t> offsets{0};  ///< length lists + 1
    std::vector<Id> ids;
    std::span<const Id> of(Id list) const {
        return {ids.data() + offsets[list], usize(offsets[list + std::size_t{1}] - offsets[list])};
    }
    Id size(Id list) const { return static_cast<Id>(offsets[list + std::size_t{1}] - offsets[list]); }
};

}  // namespace gnnbench::distributed
