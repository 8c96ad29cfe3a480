#pragma once
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "record/lines.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {

/// Writes journal lines into the tables. Applying a line twice changes nothing. The caller holds the transaction.
class LineApplier {
public:
    explicit LineApplier(sqlite::Connection& connection);
    /// Throws DataError for a line that does not follow the contract of README.md.
    void apply(const nlohmann::json& line);
    /// Row ids; a missing row is created.
    std::int64_t experiment(const std::string& name);
    std::int64_t cell(const CellRecord& c);
    /// Forgets remembered row ids; needed after a rollback.
    void forget() { trial_ids_.clear(); }

private:
    void trial(const nlohmann::json& l);
    void start(std::int64_t trial, const nlohmann::json& l);
    void setup(std::int64_t trial, const nlohmann::json& l);
    void epoch(std::int64_t trial, const nlohmann::json& l);
    /// Stores one rank's epoch. False, with nothing else stored, if it is already there.
    bool rank_epoch(std::int64_t trial, std::int64_t epoch, std::int64_t rank, const nlohmann::json& l);
    void worker(std::int64_t trial, const nlohmann::json& l);
    void summarise_if_over(std::int64_t trial);
    void spans(std::int64_t trial, const nlohmann::json& l);
    void row_ages(std::int64_t trial, std::int64_t epoch, const nlohmann::json& l);
    void rank_spans(std::int64_t trial, std::int64_t epoch, std::int64_t rank, const nlohmann::json& list);
    void evaluation(std::int64_t trial, const nlohmann::json& l);
    void verification(std::int64_t trial, const nlohmann::json& l);
    void end(std::int64_t trial, const nlohmann::json& l);
    void outcome(std::int64_t trial, const nlohmann::json& l);
    std::int64_t machine(const nlohmann::json& description);
    std::int64_t trial_id(const std::string& uuid);

    sqlite::Connection* connection_;
    sqlite::Statement add_epoch_, add_rank_, add_phase_, add_volume_, add_span_, find_trial_, is_over_;
    std::map<std::string, std::int64_t> trial_ids_;
};

/// Fills the summary columns of one trial from its epochs and evaluations.
void summarise_trial(sqlite::Connection& connection, std::int64_t trial_id);

}  // namespace gnnbench
