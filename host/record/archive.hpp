#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gnnbench {

/// An archive is a results database of one experiment's cells alone, with files that say how to run them again: one file
/// that every command reads.
using ArchivedFiles = std::map<std::string, std::string>;  ///< content, by name

/// Writes one, of the trials of these cells and of the verifications that serve them. Throws SpecError where the archive exists
/// already, EnvironmentError where it cannot be written.
void write_archive(const std::filesystem::path& database, std::span<const std::string> cell_digests,
                   const ArchivedFiles& files, const std::filesystem::path& archive);

/// Throws SpecError for a file that is no archive.
ArchivedFiles archived_files(const std::filesystem::path& archive);

/// What is known of a cell's measured trials on one machine, those that count.
struct CellOutcome {
    std::int64_t ok = 0, other = 0;  ///< trials
    std::string status;              ///< of the others, one of them
    double epoch_s = 0;              ///< median over the ok ones, as all below
    double sent_bytes_per_epoch = 0, final_loss = 0;
    bool has_loss = false;
};
/// By the cells' digests.
std::map<std::string, CellOutcome> outcomes_on(const std::filesystem::path& database,
                                               const std::string& machine_fingerprint);

/// The machine that measured most of these cells' trials, and the environment of its newest one.
struct MeasuredOn {
    std::string fingerprint, machine, provenance, device;  ///< `machine` and `provenance` are JSON
};
/// Throws SpecError where none of them has a trial that is ok.
MeasuredOn measured_on(const std::filesystem::path& database, std::span<const std::string> cell_digests);
/// The same of that machine, of any where `fingerprint` is empty; none where none has a trial that is ok.
std::optional<MeasuredOn> find_measured_on(const std::filesystem::path& database,
                                           std::span<const std::string> cell_digests,
                                           const std::string& fingerprint);

}  // namespace gnnbench
