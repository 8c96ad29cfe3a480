#pragma once
#include <cstdint>
#include <string>

#include "record/sqlite.hpp"

namespace gnnbench {

/// Row id of an experiment. Throws SpecError naming the existing ones.
std::int64_t experiment_id(const sqlite::Connection& connection, const std::string& name);

}  // namespace gnnbench
