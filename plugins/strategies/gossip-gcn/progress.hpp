#pragma once
#include <cstdint>

#include "protocol.hpp"

namespace gnnbench::gossip {

inline constexpr int nobody = -1;  ///< where the thesis writes -1 for a partner

/// Throws LogicError unless the settings make sense and the worker is one of theirs.
void check_settings(const Settings& settings, const Worker& worker);

/// What both protocols count and do alike: batches, averaging intervals, and meetings with partners.
class Progress {
public:
    Progress(const Settings& settings, const Worker& worker);

    /// Trains `item` as far as its gradients.
    void train(std::int64_t item);
    /// The gradients are this worker's first.
    bool first_batch() const { return record_.batches == 1; }
    /// "count is a multiple of averaging_interval".
    bool interval_ended() const { return record_.batches % interval_ == 0; }
    void found_nobody() { ++record_.nobody_available; }

    /// Waits for the partner and averages with it.
    void average_with(int partner);
    void average_in_clean_up_with(int partner);

    /// `retries`: of all locks that the worker used.
    WorkerRecord end(std::int64_t retries);

private:
    Meeting meet(int partner, bool clean_up);

    const Worker& worker_;
    std::int64_t interval_;
    WorkerRecord record_;
};

/// One of those whose word is 1, each as likely; `nobody` where there is none. The caller holds the lock of the words.
int choose_available(const Worker& worker, Word available, int workers);

}  // namespace gnnbench::gossip
