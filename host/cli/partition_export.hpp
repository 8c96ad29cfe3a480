#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gnnbench/params.hpp>

#include "cli/partition_report.hpp"
#include "data/store.hpp"

namespace gnnbench {

/// Where `gnnbench partition --export` writes: an experiment on the expected graph, and beside it the graph's degrees.
struct ExpectationFiles {
    std::filesystem::path experiment, profile;
};

/// "folder/mine.yaml" and "folder/mine.profile.json". Throws SpecError where either is already there, where the folder is
/// not, or where the name does not end in .yaml.
ExpectationFiles expectation_files(const std::filesystem::path& experiment);

/// Throws SpecError if no expected graph has what this partitioner makes.
void require_expectable(const std::string& partitioner, bool cuts_vertices, const std::vector<Part>& parts);

struct ExportedPartitions {
    const Store& store;
    std::string partitioner;
    nlohmann::json params;  ///< that differ from their defaults
    std::uint64_t seed = 0;
    std::string command;  ///< that made them
    const std::vector<PartitionFacts>& found;
};

/// Throws SpecError if no partition was made.
void export_expectation(const ExportedPartitions& of, const ExpectationFiles& files);

}  // namespace gnnbench
