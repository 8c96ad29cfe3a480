#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "spec/cell.hpp"

namespace gnnbench {

/// What a trial is for. `reference` computes and caches the serial float64 results that `verify` compares with.
enum class Purpose { measure, verify, reference };
std::string to_text(Purpose purpose);

/// In TrialRequest::trace_epochs: the last epoch, whichever that is.
inline constexpr std::int64_t last_epoch = -1;

/// Settings of a trial with purpose `verify` or `reference`.
struct VerifyRequest {
    std::int64_t epochs = 5;  ///< of SGD
    /// Above either of these the graph is sampled down before it is verified.
    std::int64_t max_vertices = 1'000'000;
    std::int64_t max_work = 20'000'000'000;  ///< multiply-adds of the reference over all epochs
    std::string reference;                   ///< folder of cached reference results; empty: none is kept
    bool asks_partitioner = true;            ///< twice, to compare its answers
};

/// The host's request to a trial's ranks: every rank reads the same file, the worker's only argument.
struct TrialRequest {
    std::string trial;  ///< UUID; every journal line carries it
    Purpose purpose = Purpose::measure;
    std::string journal;        ///< file that rank 0 appends its lines to
    std::string store;          ///< folder of the dataset
    std::string export_folder;  ///< gets W0.npy, b0.npy …, embeddings.npy; empty: nothing is exported
    VerifyRequest verify;
    /// Epochs whose spans are kept, warm-up epochs counted; last_epoch: the last that is run. None: no trace.
    std::vector<std::int64_t> trace_epochs;
    bool late_step = false;    ///< after a measured trial one epoch more is trained and verified
    bool shares_host = false;  ///< other trials may run on this host at the same time
    Cell cell;
};

nlohmann::json to_json(const TrialRequest& request);
/// The inverse. Throws SpecError on anything missing, unknown or of a wrong type.
TrialRequest request_from_json(const nlohmann::json& j);

/// Throws EnvironmentError where the file cannot be written or read, SpecError where it is no request.
void write_request(const std::string& path, const TrialRequest& request);
TrialRequest read_request(const std::string& path);
/// Its two halves; `path` is for messages.
std::string request_text(const std::string& path);
TrialRequest request_from_text(const std::string& text, const std::string& path);

}  // namespace gnnbench
