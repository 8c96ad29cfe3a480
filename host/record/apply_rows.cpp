// The rows that a trial refers to: experiment, cell and machine, made where they are missing.
#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "record/apply.hpp"
#include "record/line_fields.hpp"

namespace gnnbench {

std::int64_t LineApplier::trial_id(const std::string& uuid) {
    if (const auto known = trial_ids_.find(uuid); known != trial_ids_.end()) return known->second;
    find_trial_.bind(uuid);
    if (!find_trial_.step())
        throw DataError(
            fmt::format("a journal line refers to the trial {}, but no 'trial' line precedes it.", uuid));
    const std::int64_t id = find_trial_.integer(0);
    find_trial_.reset();
    return trial_ids_[uuid] = id;
}

std::int64_t LineApplier::experiment(const std::string& name) {
    connection_
        ->prepare("INSERT INTO experiment (name, first_seen) VALUES (?,?) ON CONFLICT DO NOTHING",
                  "store an experiment")
        .run(name, utc_now());
    auto find = connection_->prepare("SELECT id FROM experiment WHERE name = ?", "look for an experiment");
    find.bind(name);
    find.step();
    return find.integer(0);
}

std::int64_t LineApplier::cell(const CellRecord& c) {
    connection_
        ->prepare("INSERT INTO cell (digest, identity, verification_key) VALUES (?,?,?) ON CONFLICT DO NOTHING",
                  "store a cell")
        .run(c.digest, c.identity.dump(), c.verification_key);
    auto find = connection_->prepare("SELECT id FROM cell WHERE digest = ?", "look for a cell");
    find.bind(c.digest);
    find.step();
    return find.integer(0);
}

std::int64_t LineApplier::machine(const nlohmann::json& description) {
    const std::string fingerprint = machine_fingerprint(description);
    const std::string cpu = line_fields::text(description, "cpu");
    connection_
        ->prepare(
            "INSERT INTO machine (fingerprint, description, cpu, cores) VALUES (?,?,?,?) ON CONFLICT DO NOTHING",
            "store a machine")
        .run(fingerprint, description.dump(), cpu.empty() ? std::nullopt : std::optional(cpu),
             line_fields::integer(description, "cores"));
    auto find = connection_->prepare("SELECT id FROM machine WHERE fingerprint = ?", "look for a machine");
    find.bind(fingerprint);
    find.step();
    return find.integer(0);
}

}  // namespace gnnbench
