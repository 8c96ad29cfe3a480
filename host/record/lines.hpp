#pragma once
/// The journal lines written by a host, as structs (README.md lists them).
#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "core/status.hpp"

namespace gnnbench {

/// A cell as results store it.
struct CellRecord {
    std::string digest;       ///< cell_digest(): equal for equal cells
    nlohmann::json identity;  ///< the JSON that `digest` is computed from; what results show of a cell is in it
    /// Equal for all cells that one verification serves (scheme, parameters and versions, model, partitioner,
    /// ranks, kernel, precision, dataset), as far as the same `code` computes them.
    std::string verification_key;
    /// Digests of the built code: {"scheme", "partitioner", "kernel", "core", "worker"}; see CodeDigests. No part of
    /// the cell's identity; every trial keeps the code that ran it.
    nlohmann::json code = nlohmann::json::object();
};

struct TrialStart {
    std::string trial;       ///< new_uuid()
    std::string experiment;  ///< its name
    CellRecord cell;
    int number = 0;                   ///< in its cell, from 0
    int block = 0;                    ///< randomised block
    std::string purpose = "measure";  ///< or "verify"
    std::string started;              ///< utc_now()
    nlohmann::json machine;           ///< determines whether results are comparable; tables show `cpu` and `cores`
    nlohmann::json provenance = nlohmann::json::object();
    bool oversubscribed = false;
};

struct TrialOutcome {
    std::string trial;
    TrialStatus status = TrialStatus::interrupted;
    std::string reason, log_tail;
    std::string ended;  ///< utc_now()
    double wall_s = 0;
};

nlohmann::json trial_line(const TrialStart& t);
nlohmann::json outcome_line(const TrialOutcome& o);

nlohmann::json cell_to_json(const CellRecord& c);  ///< the trial line's fields of a cell
CellRecord cell_record_from_json(const nlohmann::json& line);

/// 32 hex digits: XXH3-128 of the machine description.
std::string machine_fingerprint(const nlohmann::json& machine);
std::string new_uuid();
/// "2026-03-01T12:00:00.123Z"
std::string utc_now();

}  // namespace gnnbench
