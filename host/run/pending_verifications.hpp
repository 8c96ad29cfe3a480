#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "run/due.hpp"

namespace gnnbench {

/// The combinations that a sweep verifies, each once, just before its first trial: so the first times come before all
/// is verified, and what is never reached costs nothing. Combinations whose trials are all there come last. Not
/// thread-safe.
class PendingVerifications {
public:
    struct Combination {
        const PreparedCell* cell = nullptr;  ///< that stands for all that share the key
        bool measured = false;               ///< its cell's trials are all there
    };

    /// What of a plan needs verification, by the verification keys; nothing where `verify` is false.
    static PendingVerifications of(const SweepContext& context);

    /// Whether the combination is being verified now, so that its trials have to wait.
    bool running(const std::string& key) const {
        return states_.contains(key) && states_.at(key) == State::running;
    }
    /// Whether it is to be verified now, by the caller, who says finished() afterwards.
    bool take(const std::string& key);
    void finished(const std::string& key) { states_.at(key) = State::done; }
    /// Another process is verifying it: what that finds is looked up when its trials are next.
    void reopen(const std::string& key) {
        states_.at(key) = State::due;
        --taken_;
    }
    /// Some key that nobody has taken; empty if there is none.
    std::string left() const;
    const Combination& combination(const std::string& key) const { return combinations_.at(key); }
    /// "[verify 2/7]" of the one taken last.
    std::string position() const;

    /// Nothing if its combination is there already. The cell must outlive this.
    void add(const PreparedCell& cell, bool measured);

private:
    enum class State { due, running, done };

    std::map<std::string, Combination> combinations_;  ///< by verification key, as all here
    std::map<std::string, State> states_;
    std::vector<std::string> order_;
    std::size_t taken_ = 0;
};

/// Whether a combination needs no verification now. Of one whose trials are all there, the code that measured them may
/// have been built anew since: it is checked once, whatever is found.
bool needs_no_verification(const PendingVerifications::Combination& combination, const Database& database);

}  // namespace gnnbench
