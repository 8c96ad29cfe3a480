#include "simulation/engine.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "simulation/control.hpp"

namespace gnnbench::simulation {
namespace {

/// Set-up of a strategy is shallow: JSON and formatting are the deepest calls.
constexpr std::size_t stack_bytes = std::size_t{512} << 10;

std::vector<int> first(int ranks) {
    std::vector<int> all;
    for (int r = 0; r < ranks; ++r) all.push_back(r);
    return all;
}

}  // namespace

Engine::Engine(Machine machine, NetworkModel network, int ranks)
    : machine_(std::move(machine)),
      network_(network),
      ranks_(usize(ranks)),
      sharing_(timeline_, usize(ranks) + usize(machine_.nodes)),
      waits_for_(usize(ranks)) {
    if (ranks > machine_.devices())
        throw Unsupported(fmt::format("machine {} has {} devices; {} ranks need one each", machine_.name,
                                      machine_.devices(), ranks));
    for (int r = 0; r < ranks; ++r) ranks_[usize(r)] = std::make_unique<SimulatedRank>(*this, r);
}

Engine::~Engine() = default;

void Engine::run(const std::function<void(const ProcessGroup& world)>& body) {
    require(contexts_.empty(), "a simulation runs once");
    const auto world = std::make_shared<ControlGroup>(*this, first(static_cast<int>(ranks_.size())));
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
        contexts_.push_back(std::make_unique<Context>(
            [this, &body, world, r] {
                if (stopping_) return;
                try {
                    body(member_of(world, static_cast<int>(r)));
                } catch (const Abandoned&) {
                    return;  // another rank failed, and said why
                } catch (...) {
                    if (!error_) error_ = std::current_exception();
                }
            },
            stack_bytes));
        ready_.push_back(static_cast<int>(r));
    }
    take_turns();
    const auto ended = [](const std::unique_ptr<Context>& c) { return c->returned(); };
    const bool all_ended = std::ranges::all_of(contexts_, ended);
    const std::string waiting = all_ended || error_ ? "" : who_waits();
    unwind();
    if (error_) std::rethrow_exception(error_);
    if (!all_ended) throw LogicError("simulated ranks wait for each other for ever: " + waiting);
}

void Engine::take_turns() {
    while (!error_) {
        if (ready_.empty()) {
            if (!step()) return;
            continue;
        }
        const int next = ready_.front();
        ready_.pop_front();
        ++switches_;
        contexts_[usize(next)]->resume();
    }
}

bool Engine::step() {
    try {
        return timeline_.step();
    } catch (...) {  // by what an item does to memory
        error_ = std::current_exception();
        return true;
    }
}

/// Ranks that still wait leave by an exception.
void Engine::unwind() {
    stopping_ = true;
    for (const auto& c : contexts_)
        while (!c->returned()) c->resume();
}

void Engine::block(int rank, std::function<std::string()> why) {
    waits_for_[usize(rank)] = std::move(why);
    contexts_[usize(rank)]->suspend();
    waits_for_[usize(rank)] = nullptr;
    // A destructor that waits while its rank leaves by an exception gets no answer, and no second exception.
    // NOLINTNEXTLINE(bugprone-std-exception-baseclass): nothing on its way may take it for an error and go on
    if (stopping_ && std::uncaught_exceptions() == 0) throw Abandoned();
}

void Engine::wake(int rank, double time_s) {
    double& host_s = ranks_[usize(rank)]->state().host_s;
    host_s = std::max(host_s, time_s);
    if (host_s > timeline_.now_s())
        timeline_.at(host_s, *this, static_cast<std::uint64_t>(rank));
    else
        ready_.push_back(rank);
}

void Engine::pass(int rank, double time_s) {
    if (time_s < timeline_.now_s()) return;
    timeline_.at(time_s, *this, static_cast<std::uint64_t>(rank));
    block(rank, [] { return std::string("waits for its device"); });
}

std::string Engine::who_waits() const {
    constexpr int most = 8;
    std::string text;
    int waiting = 0;
    for (std::size_t r = 0; r < waits_for_.size(); ++r) {
        if (contexts_[r]->returned() || ++waiting > most) continue;
        text += fmt::format("{}rank {} {}", text.empty() ? "" : "; ", r,
                            waits_for_[r] ? waits_for_[r]() : std::string("has not begun"));
    }
    if (waiting > most) text += fmt::format("; and {} more", waiting - most);
    return text;
}

Simulation::Simulation(Machine machine, NetworkModel network, int ranks)
    : engine_(std::make_unique<Engine>(std::move(machine), network, ranks)) {}
Simulation::~Simulation() = default;

void Simulation::run(const std::function<void(const ProcessGroup& world)>& body) { engine_->run(body); }
void Simulation::columns_of_graph(ColumnReads reads) { engine_->columns_of_graph(std::move(reads)); }
double Simulation::now_s() const { return engine_->timeline().now_s(); }
SimulationCounts Simulation::counts() const { return {engine_->switches(), engine_->timeline().steps()}; }

}  // namespace gnnbench::simulation
