#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <gnnbench/model.hpp>
#include <gnnbench/params.hpp>
#include <gnnbench/slowdown.hpp>

#include "spec/shared_json.hpp"

namespace gnnbench {

/// A plugin as a cell names it: every declared parameter resolved. A scheme may be a program instead of a plugin
/// (see docs/baselines.md).
struct PluginChoice {
    std::string name;
    std::string version;  ///< of the plugin that was found, or of the program's files; part of the cell's identity
    Params params;
    /// As tables show it: "mg-gcn", or "mg-gcn(overlap=false)" with what differs from the defaults.
    std::string label;
    std::vector<std::string> command{};  ///< a program's command as written; empty for a plugin
    std::vector<std::string> program{};  ///< the same with absolute paths, to be run; not part of the identity
    std::string approximation{};  ///< what a program does not train exactly, as its user says; empty: it is exact

    bool is_program() const { return !command.empty(); }
};

/// Where a cell's graph comes from. `source` is the YAML mapping as resolved JSON: {"store": name},
/// {"path": file, …import options} or {"generate": kind, …parameters}.
struct DatasetChoice {
    SharedJson source;
    int split = 0;       ///< which of the store's splits into train, validation and test; in `source` too
    std::string name;    ///< as tables show it
    std::string digest;  ///< of the store's content; empty until the store exists
    std::string store;   ///< folder of the store; empty until it exists; not part of the cell's identity
};

/// One fully resolved setting of an experiment. Its identity is cell_digest().
struct Cell {
    DatasetChoice dataset;
    /// widths hold only the hidden layers until the dataset is known (features, hidden …, classes after).
    ModelSpec model;
    /// weight_decay as written: one number for all layers, or one per layer (hidden layers + 1).
    TrainSpec train;
    PluginChoice scheme, partitioner, kernel;
    int gpus = 1;
    int threads_per_rank = 1;
    std::string precision = "float32";  ///< or "float64"
    std::int64_t epochs = 20;           ///< measured ones
    std::int64_t warmup = 2;            ///< before them; stored, flagged
    std::int64_t evaluate_every = 0;    ///< epochs between evaluations; 0: only after the last
    std::int64_t patience = 0;    ///< evaluations without a better validation score before stopping; 0: never
    std::string initial_weights;  ///< folder of W0.npy, b0.npy …; empty: drawn from the seed
    bool separate_wait = false;   ///< barrier before each operation (see Communicator)
    Slowdown slowdown{};          ///< without its seed, which is the cell's; part of the identity where declared
};

/// As YAML writes it and tables show it, "{3: 2, jitter: 0.2}"; "none" where none is declared.
std::string slowdown_text(const Slowdown& slowdown);

/// Limits of a trial's run; they do not change what it measures and are not part of a cell's identity.
struct Limits {
    double trial_timeout_s = 3600;
    double verify_timeout_s = 600;
    double memory_per_rank_gib =
        0;  ///< of one device; 0: what the host has, where the kernel works in host memory
};

/// The device that a program computes on: "cuda" under the kernel of that name, else "cpu".
std::string device_of(const Cell& cell);
/// Why a program's losses cannot equal the reference's; empty where they must.
std::string program_approximation(const Cell& cell);

/// Keys are spelled as in YAML. `identity` is the form stored in journals and databases: all but the store's folder
/// and a program's absolute paths.
enum class JsonFor { identity, worker };
nlohmann::json to_json(const Cell& cell, JsonFor use);
/// Its top-level keys under JsonFor::identity, in their order, and the value of one. Throws LogicError for others.
std::span<const std::string_view> identity_keys();
nlohmann::json identity_part(const Cell& cell, std::string_view key);
/// The inverse of to_json(cell, JsonFor::worker). Throws SpecError on anything missing or unknown.
Cell cell_from_json(const nlohmann::json& j);

/// 32 hex digits: XXH3-128 of the identity JSON without display fields (the dataset's name, labels), and
/// with the dataset's digest in place of its source once there is one. Hidden widths only: a cell whose widths
/// were completed with features and classes has another digest, so complete a copy.
std::string cell_digest(const Cell& cell);

/// The cell with the defaults of all that a verification does not depend on (PartOf::identity).
Cell as_verified(const Cell& cell);

}  // namespace gnnbench
