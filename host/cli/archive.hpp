#pragma once
#include <filesystem>

#include "cli/options.hpp"
#include "run/prepare.hpp"

namespace gnnbench {

/// `export EXPERIMENT --archive FILE`; returns the exit code.
int export_archive(const ExperimentChoice& choice, const std::filesystem::path& archive,
                   const GlobalOptions& options);

}  // namespace gnnbench
