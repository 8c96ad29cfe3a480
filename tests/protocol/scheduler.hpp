#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gnnbench/random.hpp>

#include "simulation/context.hpp"
#include "protocol/simulation.hpp"

namespace gnnbench::test {

/// Decides who runs: always the worker whose next step is the earliest; among equals the seed decides. Time is
/// counted in units without a meaning outside the simulation.
class Scheduler {
public:
    /// `run` outlives the scheduler. `trace`: print every step.
    Scheduler(const SimulatedRun& run, bool trace);

    /// What a worker does. What it throws ends the whole run, and is the mistake.
    void start(int worker, std::function<void()> body);
    /// Runs all workers until they have ended, one failed, or none can go on; then ends those that have not.
    void run();

    /// Called by a worker: its next step happens so many units from now, and is about to when this returns.
    void step(int worker, std::int64_t units, std::string what);
    /// Called by a worker that cannot go on until wake() is called for it.
    void wait(int worker, std::string what);
    void wake(int worker);
    /// Makes the result of a step part of the digest.
    void found(std::int64_t value);

    /// Units for an access: skewed towards short ones, a thousand times as long now and then.
    std::int64_t short_step();
    /// Units for a back-off. None is as long again as a thousand others': who polls meanwhile would take all steps.
    std::int64_t back_off_step(int attempt);
    /// Units for a batch or an averaging.
    std::int64_t training_step();

    const std::string& mistake() const { return mistake_; }
    std::int64_t steps() const { return steps_; }
    std::uint64_t digest() const { return digest_; }

private:
    struct Place {
        std::unique_ptr<simulation::Context> context;
        std::int64_t ready_at = 0;
        bool waits = false;
        std::string next = "start";
    };
    Place& at(int worker) { return places_[static_cast<std::size_t>(worker)]; }
    void pause(Place& place);
    int choose();
    void resume(int worker);
    bool all_ended() const;
    std::string positions() const;

    const SimulatedRun& run_;
    bool trace_;
    RandomStream random_;
    std::vector<Place> places_;
    std::int64_t now_ = 0, steps_ = 0;
    std::uint64_t digest_ = 0xcbf29ce484222325u;  ///< FNV-1a's start
    std::string mistake_;
    bool stopping_ = false;
};

}  // namespace gnnbench::test
