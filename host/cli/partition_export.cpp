// gnnbench partition --export: an experiment on the expected graph that has a real one's degrees and parts.
#include "cli/partition_export.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include "cli/profiles.hpp"
#include "cli/written.hpp"
#include "core/existing_folder.hpp"
#include "data/profile.hpp"
#include "launch/machine.hpp"
#include "partition/expected_parts.hpp"
#include "record/lines.hpp"

namespace gnnbench {
namespace {

using nlohmann::ordered_json;

/// Of two parts and more; require_expectable saw that some were to be made.
std::vector<MeasuredParts> measured(const ExportedPartitions& of) {
    const auto& manifest = of.store.manifest();
    const std::int64_t entries = manifest.edges - manifest.self_loops;
    std::vector<MeasuredParts> all;
    for (const PartitionFacts& f : of.found)
        if (!f.missing() && f.parts > 1)
            all.push_back({f.parts, measured_shares(f.cost, manifest.vertices, entries)});
    if (!all.empty()) return all;
    const PartitionFacts& f = *std::ranges::find_if(of.found, &PartitionFacts::missing);
    throw SpecError(fmt::format("--export: no partition to export: {} {}", of.partitioner,
                                f.skipped() ? f.run.skipped : f.failed));
}

/// The mapping of `dataset:`.
ordered_json dataset_of(const ExportedPartitions& of, const ExpectationFiles& files,
                        const ExpectedDataset::Partitioned& parts) {
    const auto& manifest = of.store.manifest();
    ordered_json dataset = {{"expect", manifest.name},
                            {"profile_file", files.profile.filename().string()},
                            {"name", "expected-" + manifest.name}};
    if (!manifest.symmetric_pattern) {  // the degrees are those of the graph without directions
        dataset["directed"] = true;
        dataset["entries"] = manifest.edges - manifest.self_loops;
    }
    if (manifest.features > 0) dataset["features"] = manifest.features;
    if (manifest.classes > 0) dataset["classes"] = manifest.classes;
    dataset.update(expectation_keys(parts));
    return dataset;
}

std::string origin(const ExportedPartitions& of, const ExpectationFiles& files,
                   const std::vector<MeasuredParts>& measured, const ExpectedDataset::Partitioned& parts) {
    std::vector<std::int64_t> numbers;
    for (const MeasuredParts& m : measured) numbers.push_back(m.parts);
    const auto& manifest = of.store.manifest();
    std::string text = fmt::format(
        "# {} as a graph that is expected (docs/simulation.md, \"Graphs that do not fit here\"): run this file, "
        "or give\n"
        "# another experiment `imports: {}` in place of a dataset and a partitioner.\n"
        "# Made {} by gnnbench {}: {}\n"
        "# Of: dataset {}, digest {}; partitioner {}; {} parts; seed {}.\n"
        "# Measured: degrees (profile_file), features and classes; at {} parts locality, halo and imbalances.\n",
        manifest.name, files.experiment.filename().string(), utc_now().substr(0, 10),
        build_info().commit.substr(0, 12), of.command, manifest.name, manifest.digest, of.partitioner,
        fmt::join(numbers, ", "), of.seed, parts.parts);
    if (measured.size() > 1)
        text += fmt::format(
            "# Extrapolated: other numbers of parts, by growths fitted to {} parts (least squares of "
            "logarithms).\n",
            fmt::join(numbers, ", "));
    else
        text +=
            "# Not known: how any of it grows with the number of parts, as one number was measured. It is taken "
            "to "
            "stay.\n";
    return text +
           "# Assumed: how shares fall from the largest part to the others. The machine and the model are "
           "examples.\n";
}

/// One line a key; as JSON, which YAML contains, where a value is not a word.
std::string lines_of(const ordered_json& mapping) {
    std::string text;
    for (const auto& [key, value] : mapping.items()) text += fmt::format("  {}: {}\n", key, value.dump());
    return text;
}

}  // namespace

ExpectationFiles expectation_files(const std::filesystem::path& experiment) {
    if (experiment.extension() != ".yaml")
        throw SpecError(
            fmt::format("--export writes an experiment, {{name}}.yaml; found '{}'", experiment.string()));
    require_folder_of(experiment, "--export");
    ExpectationFiles files{experiment, experiment};
    files.profile.replace_extension(".profile.json");
    for (const auto& file : {files.experiment, files.profile})
        if (std::filesystem::exists(file))
            throw SpecError(
                fmt::format("--export: {} is already there; give another name, or remove it", file.string()));
    return files;
}

void require_expectable(const std::string& partitioner, bool cuts_vertices, const std::vector<Part>& parts) {
    if (partitioner == "random")
        throw SpecError(
            "--export: a partition at random has no locality to measure; an expected graph needs its "
            "degrees alone for it (gnnbench dataset profile DATASET)");
    if (partitioner == "block")
        throw SpecError("--export: an expected graph has no order of vertices that block could cut");
    if (cuts_vertices)
        throw SpecError(
            fmt::format("--export: {} deals edges to parts, and an expected graph has none", partitioner));
    if (std::ranges::none_of(parts, [](Part p) { return p > 1; }))
        throw SpecError("--export expects partitions of 2 parts or more in --parts");
}

void export_expectation(const ExportedPartitions& of, const ExpectationFiles& files) {
    const std::vector<MeasuredParts> all = measured(of);
    const ExpectedDataset::Partitioned parts = fitted_parts(all);
    ordered_json partitioner = of.partitioner;
    if (!of.params.empty()) {
        partitioner = {{"name", of.partitioner}};
        partitioner.update(ordered_json(of.params));
    }
    std::string ranks = std::to_string(parts.parts);
    if (all.size() > 1) ranks += fmt::format(", {}", 4 * parts.parts);  // else no growth is known
    const std::string text = fmt::format(
        "{}name: {}\n"
        "dataset:\n{}"
        "partitioner: {}\n"
        "model: {{layers: gcn, hidden: [128], activation: relu}}\n"
        "kernel: {{name: simulated, machine: perlmutter}}  # gnnbench machine list\n"
        "epochs: 1\nwarmup: 0\ntrials: 1\n"
        "matrix:\n  scheme: [sa-1d, bns-gcn, plexus-3d]\n  gpus: [{}]\n",
        origin(of, files, all, parts), ordered_json("expected-" + of.store.manifest().name).dump(),
        lines_of(dataset_of(of, files, parts)), partitioner.dump(), ranks);
    write_output(files.profile, profile_lines(measured_profile(of.store)));
    write_output(files.experiment, text);
}

}  // namespace gnnbench
