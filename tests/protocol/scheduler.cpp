#include "protocol/scheduler.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

#include <fmt/format.h>

namespace gnnbench::test {
namespace {

// Ends a worker when the run has failed elsewhere.
struct Stopped {};

// Runs that end take a hundredth of it.
constexpr std::int64_t step_limit = 200000;

constexpr std::size_t stack_bytes = std::size_t{256} << 10;

}  // namespace

Scheduler::Scheduler(const SimulatedRun& run, bool trace)
    : run_(run),
      trace_(trace),
      random_(run.seed, Draw::sample, 0xfffffffeu),
      places_(static_cast<std::size_t>(run.settings.workers)) {}

void Scheduler::start(int worker, std::function<void()> body) {
    auto run_body = [this, worker, body = std::move(body)] {
        try {
            body();
        } catch (const Stopped&) {
        } catch (const std::exception& error) {
            if (mistake_.empty()) mistake_ = error.what();
        }
    };
    at(worker).context = std::make_unique<simulation::Context>(std::move(run_body), stack_bytes);
}

void Scheduler::step(int worker, std::int64_t units, std::string what) {
    Place& place = at(worker);
    place.ready_at = now_ + 1 + units * run_.slowdown[static_cast<std::size_t>(worker)];
    place.next = std::move(what);
    pause(place);
}

void Scheduler::wait(int worker, std::string what) {
    Place& place = at(worker);
    place.waits = true;
    place.next = std::move(what);
    pause(place);
}

void Scheduler::wake(int worker) {
    at(worker).waits = false;
    at(worker).ready_at = now_ + 1;
}

void Scheduler::found(std::int64_t value) {
    digest_ = (digest_ ^ static_cast<std::uint64_t>(value)) * 0x100000001b3u;
}

std::int64_t Scheduler::short_step() {
    const std::int64_t units = std::int64_t{1} << random_.below(static_cast<std::uint64_t>(run_.step_bits) + 1);
    return random_.below(256) == 0 ? units * 1000 : units;
}

std::int64_t Scheduler::back_off_step(int attempt) {
    return std::int64_t{1} << (random_.below(static_cast<std::uint64_t>(run_.step_bits) + 1) +
                               static_cast<std::uint64_t>(std::min(attempt, 10)));
}

std::int64_t Scheduler::training_step() {
    return run_.training + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(run_.training)));
}

void Scheduler::run() {
    while (mistake_.empty()) {
        const int worker = choose();
        if (worker < 0) break;
        if (++steps_ > step_limit) {
            mistake_ = fmt::format("no end after {} steps: {}", step_limit, positions());
            break;
        }
        resume(worker);
    }
    if (mistake_.empty() && !all_ended()) mistake_ = "nobody can go on: " + positions();
    stopping_ = true;
    for (Place& place : places_)
        if (!place.context->returned()) place.context->resume();
}

void Scheduler::pause(Place& place) {
    if (stopping_) throw Stopped();
    place.context->suspend();
    if (stopping_) throw Stopped();
}

int Scheduler::choose() {
    int chosen = -1;
    std::uint64_t equals = 0;
    for (int worker = 0; worker < run_.settings.workers; ++worker) {
        const Place& place = at(worker);
        if (place.waits || place.context->returned()) continue;
        if (chosen < 0 || place.ready_at < at(chosen).ready_at) {
            chosen = worker;
            equals = 1;
        } else if (place.ready_at == at(chosen).ready_at && random_.below(++equals) == 0) {
            chosen = worker;
        }
    }
    return chosen;
}

void Scheduler::resume(int worker) {
    Place& place = at(worker);
    now_ = place.ready_at;
    found(worker);
    if (trace_) std::printf("%12lld  worker %d  %s\n", static_cast<long long>(now_), worker, place.next.c_str());
    place.context->resume();
}

bool Scheduler::all_ended() const {
    for (const Place& place : places_)
        if (!place.context->returned()) return false;
    return true;
}

std::string Scheduler::positions() const {
    std::string text;
    for (std::size_t worker = 0; worker < places_.size(); ++worker)
        text += fmt::format("{}worker {} {}", worker == 0 ? "" : "; ", worker,
                            places_[worker].context->returned() ? "has ended" : "at: " + places_[worker].next);
    return text;
}

}  // namespace gnnbench::test
