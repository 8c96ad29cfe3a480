#pragma once
#include "record/database.hpp"
#include "run/prepare.hpp"

namespace gnnbench {

/// Imports the journals of dead processes into the database, kills the remaining processes of their trials, and removes
/// the folders and shared memory that they left.
void recover(Database& database, const Notify& notify);

}  // namespace gnnbench
