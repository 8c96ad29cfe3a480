#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <gnnbench/partition.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/trace.hpp>
#include <gnnbench/volume.hpp>

#include "core/status.hpp"
#include "record/journal.hpp"

namespace gnnbench {

/// How a trial ended, from its ranks' point of view.
struct TrialEnd {
    TrialStatus status = TrialStatus::ok;  ///< ok, skipped, oom, failed or diverged
    std::string reason;
    std::string notes = {};  ///< choices made at run time; empty if nothing ran
    /// By rank, on rank 0: the most memory of the host that its process has had in use; null elsewhere, and where nothing
    /// was measured.
    nlohmann::json host_peak_bytes = {};
    std::int64_t epochs = 0;  ///< that were trained, where ranks advance together
    /// Of the measured epochs (EnergyMeter::trial); null where nothing was measured.
    nlohmann::json energy = {};
};

/// Writes a trial's lines to the journal: rank 0 writes, the others contribute. The fields are those of
/// record/README.md.
class TrialRecord {
public:
    /// `journal` empty: nothing is written. `reaches_journal`: whether this rank may append to it, as ranks on rank
    /// 0's host may; network file systems do not keep appends from several hosts apart.
    TrialRecord(const ProcessGroup& group, const std::string& journal, std::string trial, bool reaches_journal);

    /// Every rank's JSON as a list in rank order; null except on rank 0. Collective.
    nlohmann::json gather(const nlohmann::json& mine) const;
    /// Rank 0 adds type and trial and appends the line; the other ranks do nothing.
    void write(const char* type, nlohmann::json fields);
    /// This rank adds a line of its own: at once, or by collect_own where it does not reach the journal.
    void write_own(const char* type, nlohmann::json fields);
    /// Rank 0 appends the lines of ranks that do not reach the journal. Collective, once training has ended; a trial
    /// that fails before has none of them.
    void collect_own();
    /// How the trial ended: the first call counts. What follows it (a step that is checked) is not measured.
    void write_end(const TrialEnd& end);
    bool writes() const { return writes_; }

private:
    const ProcessGroup& group_;
    std::string trial_;
    void append(WorkerJournal& journal, const char* type, nlohmann::json fields) const;

    bool writes_;
    bool has_ended_ = false;
    std::string path_;
    bool reaches_journal_;
    std::unique_ptr<WorkerJournal> journal_;         ///< of a rank other than 0: opened by its first line
    nlohmann::json kept_ = nlohmann::json::array();  ///< own lines, without a journal to append them to
};

/// Whether this rank runs on rank 0's host. Collective.
bool on_host_of_rank_0(const ProcessGroup& group);

/// The fields of a verification line.
struct VerificationLine {
    VerificationStatus status = VerificationStatus::unverified;
    std::string reason{};
    std::optional<double> loss_error{}, gradient_error{};
    std::optional<bool> volume_equal{};
    std::int64_t sampled_vertices = 0;  ///< 0: the whole graph
    std::string detail{};
    nlohmann::json checks = nlohmann::json::object();  ///< schemas/worker-record.schema.json
};
nlohmann::json to_json(const VerificationLine& line);
/// A setup line's field `dataset`.
nlohmann::json dataset_json(const DatasetView& data, const std::vector<std::string>& synthetic);
nlohmann::json to_json(const Volume& volume);
nlohmann::json to_json(const PartitionQuality& quality);
nlohmann::json to_json(const SetupCost& cost);
/// This rank's part of an epoch line.
nlohmann::json epoch_json(const EpochTimes& times, const Volume& volume, std::int64_t peak_memory_bytes);
/// An evaluation line; `start`: when the evaluation began.
nlohmann::json evaluation_json(std::int64_t epoch, const Score& score,
                               std::chrono::steady_clock::time_point start);
/// This rank's part of a spans line.
nlohmann::json to_json(std::span<const Span> spans);
/// The ranks' common text if all agree; else one line for each distinct text: "ranks 0, 2: …".
std::string merged_by_rank(const std::vector<std::string>& texts);
/// A trainer's notes, then its back end's.
std::string notes_of(const Trainer& trainer, const Backend& backend);
/// A step of all ranks from what each had of it: the mean over all samples. Collective where the step is this rank's.
Step over_ranks(const Step& mine, const ProcessGroup& group);
/// A number, or null where it is not finite.
nlohmann::json finite_or_null(double x);

}  // namespace gnnbench
