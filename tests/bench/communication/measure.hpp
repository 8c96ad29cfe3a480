#pragma once
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <gnnbench/transport.hpp>

#include "plugin/loader.hpp"
#include "worker/workload.hpp"

/// What the ranks of one launch measure; every result is a JSON object, the same on all ranks.
namespace gnnbench::bench {

/// A strategy with some parameters set.
struct Scheme {
    std::string name;
    std::vector<std::pair<std::string, std::string>> params;
    std::string text() const;
};

/// What is measured with what; the same on all ranks.
struct Ground {
    const PluginCatalog& catalog;
    const ProcessGroup& world;
    const DatasetView& data;
    std::vector<std::int64_t> widths;  ///< of the model
    int rounds = 1;
};

/// Exact schemes, in the order of tables: overlap off where it is a parameter.
std::vector<Scheme> schemes(const PluginCatalog& catalog);

/// Epochs through shared memory, through our MPI transport, and by MPI alone in its place, by turns. {scheme, skipped}
/// where the strategy says why it cannot; else {scheme, operations: [{operation, calls,
/// sent_bytes, shared_s, mpi_s, non_blocking_s, blocking_s, plain_s}], volume_differs}; plain_s is the lesser of the two
/// before it. The last operation is the phase `pack`, which plain MPI needs as our MPI transport does. Times and bytes
/// are means over ranks of an epoch's sums; each call's time is the best of all rounds.
nlohmann::json measure_scheme(const Ground& g, const Scheme& scheme);

/// Whole epochs over both transports by turns, nothing added: {scheme, skipped} or {scheme, shared_s, shared_exposed_s,
/// mpi_s, mpi_exposed_s}, medians over rounds, means over ranks; exposed are the phases `comm` and `pack`.
nlohmann::json measure_epochs(const Ground& g, const Scheme& scheme);

/// What sa-1d packs and adds up, under a partitioner: [{width, rows, bytes, pack_s, add_s, copy_s}]; means over
/// ranks of the best of all rounds.
nlohmann::json measure_packing(const Ground& g, const std::string& partitioner,
                               const std::vector<std::int64_t>& widths);

/// What small operations take one after another, with all that a communicator does: [{operation, bytes, shared_s, mpi_s,
/// plain_s}], means over ranks of the best of all rounds, each of many calls.
nlohmann::json measure_latency(const Ground& g);

/// The `cpu` kernel on one thread, with the parameter `transport`.
std::unique_ptr<Backend> cpu_backend(const Ground& g, const char* transport);

/// The mean over ranks of each value.
std::vector<double> mean_over_ranks(const ProcessGroup& world, std::vector<double> values);

}  // namespace gnnbench::bench
