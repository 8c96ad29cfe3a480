#pragma once
#include <span>
#include <string_view>

#include "spec/cell.hpp"
#include "spec/fields.hpp"

namespace gnnbench {

/// The declared fields of a cell's identity, in the order of its JSON: by section, then by key.
std::span<const Field* const> identity_fields();

}  // namespace gnnbench
