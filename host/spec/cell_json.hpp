#pragma once
#include <span>
#include <string_view>

#include "spec/cell.hpp"
#include "spec/fields.hpp"

namespace gnnbench {

/// The declared fields of a cell's identity, in the order of its JSON: by section, then by key.
std::span<const Field* const> identity_fields();
/// Whether a cell's JSON and digest leave the field out (Field::is_later).
bool is_left_out(const Field& field, const Cell& cell);

}  // namespace gnnbench
