#include "protocol/simulation.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include "protocol/meeting_table.hpp"
#include "protocol/scheduler.hpp"

namespace gnnbench::test {

using gossip::Word;

std::string name_of(Fault fault) {
    switch (fault) {
        case Fault::none:
            return "none";
        case Fault::swapped_locks:
            return "swapped-locks";
        case Fault::unlocked_p:
            return "unlocked-p";
        case Fault::split_pool:
            return "split-pool";
        case Fault::available_early:
            return "available-early";
        case Fault::lost_partner:
            return "lost-partner";
        case Fault::lost_answer:
            return "lost-answer";
        case Fault::missing_leave:
            return "missing-leave";
    }
    return "?";
}

SimulatedRun SimulatedRun::from_seed(std::uint64_t seed, Fault fault) {
    RandomStream random(seed, Draw::sample, 0xffffffffu);
    const auto below = [&](std::uint64_t bound) { return static_cast<std::int64_t>(random.below(bound)); };
    SimulatedRun run;
    run.seed = seed;
    run.fault = fault;
    run.algorithm = all_algorithms[below(std::size(all_algorithms))];
    if (fault == Fault::unlocked_p) run.algorithm = Algorithm::active_passive;
    if (fault == Fault::swapped_locks || fault == Fault::lost_partner) run.algorithm = Algorithm::gossip_gcn;
    if (fault == Fault::available_early)
        run.algorithm = below(2) == 0 ? Algorithm::active_passive : Algorithm::gossip_gcn;
    if (fault == Fault::lost_answer) run.algorithm = Algorithm::requested;
    if (fault == Fault::missing_leave) run.algorithm = below(2) == 0 ? Algorithm::requested : Algorithm::scheduled;
    const int least = fault == Fault::none ? 1 : 2;
    run.settings.workers = run.algorithm == Algorithm::active_passive
                               ? static_cast<int>(2 + 2 * below(4))
                               : static_cast<int>(least + below(static_cast<std::uint64_t>(9 - least)));
    // One pool in four is smaller than the workers are many.
    run.settings.items = below(4) == 0 ? below(static_cast<std::uint64_t>(run.settings.workers) + 1) : below(100);
    run.settings.averaging_interval = below(2) == 0 ? 1 : 1 + below(8);
    if (run.algorithm == Algorithm::scheduled && below(2) == 0) run.settings.schedule = gossip::Schedule::rotating;
    for (int worker = 0; worker < run.settings.workers; ++worker)
        run.slowdown.push_back(below(4) == 0 ? 2 + below(50) : 1);
    run.step_bits = static_cast<int>(below(10));
    run.training = std::int64_t{1} << below(12);
    return run;
}

std::string SimulatedRun::text() const {
    return fmt::format(
        "{}{}, {} workers with slowdowns {}, {} items, interval {}, steps of up to {}, training {}{}",
        name_of(algorithm), settings.schedule == gossip::Schedule::rotating ? ", rotating" : "", settings.workers,
        fmt::join(slowdown, " "), settings.items, settings.averaging_interval, 1 << step_bits, training,
        fault == Fault::none ? "" : ", fault " + name_of(fault));
}

namespace {

// Every access is a step of its own, with the run's fault in it.
class SimulatedWords : public gossip::SharedWords {
public:
    SimulatedWords(Scheduler& scheduler, const SimulatedRun& run, std::vector<std::int64_t>& words, int worker)
        : scheduler_(scheduler), run_(run), words_(words), worker_(worker) {}

private:
    std::int64_t& at(Word word) { return words_.at(static_cast<std::size_t>(index(word))); }

    void step(const char* what, Word word) {
        scheduler_.step(worker_, scheduler_.short_step(), fmt::format("{} word {}", what, index(word)));
    }

    Word faulty(Word word) const {
        if (run_.fault != Fault::swapped_locks || worker_ != 0) return word;
        if (word == gossip::GossipGcnWords::available_lock) return gossip::GossipGcnWords::partner_lock;
        if (word == gossip::GossipGcnWords::partner_lock) return gossip::GossipGcnWords::available_lock;
        return word;
    }

    std::int64_t do_compare_and_swap(Word word, std::int64_t expected, std::int64_t desired) override {
        word = faulty(word);
        step("compare and swap", word);
        const gossip::ActivePassiveWords at_5(run_.settings.workers);
        if (run_.fault == Fault::unlocked_p && index(word) >= index(at_5.partner_lock(0))) return expected;
        const std::int64_t was = at(word);
        if (was == expected) at(word) = desired;
        scheduler_.found(was);
        return was;
    }

    std::int64_t do_fetch_and_add(Word word, std::int64_t addend) override {
        step("fetch and add", word);
        const std::int64_t was = at(word);
        if (run_.fault == Fault::missing_leave && addend == gossip::ScheduledWords::has_left) return was;
        if (run_.fault == Fault::split_pool) step("write back", word);
        at(word) = was + addend;
        scheduler_.found(was);
        return was;
    }

    void do_load(Word first, std::span<std::int64_t> values) override {
        for (std::size_t i = 0; i < values.size(); ++i) {
            step("load", first + static_cast<int>(i));
            values[i] = at(first + static_cast<int>(i));
            scheduler_.found(values[i]);
        }
    }

    void do_store(Word word, std::int64_t value) override {
        step("store", word);
        // Line 26 is the only one that writes another's partner.
        const gossip::GossipGcnWords at_6(run_.settings.workers);
        const bool line_26 = run_.algorithm == Algorithm::gossip_gcn && word != at_6.partner(worker_) &&
                             index(word) >= index(at_6.partner(0));
        if (run_.fault == Fault::lost_partner && line_26 && !lost_) {
            lost_ = true;
            return;
        }
        const bool answers = value == gossip::RequestedWords::accepted || value == gossip::RequestedWords::refused;
        if (run_.fault == Fault::lost_answer && answers && !lost_) {
            lost_ = true;
            return;
        }
        if (run_.fault == Fault::missing_leave &&
            word == gossip::RequestedWords(run_.settings.workers).left(worker_))
            return;
        at(word) = value;
        scheduler_.found(value);
    }

    void do_back_off(int attempt) override {
        scheduler_.step(worker_, scheduler_.back_off_step(attempt), "back off");
    }

    Scheduler& scheduler_;
    const SimulatedRun& run_;
    std::vector<std::int64_t>& words_;
    int worker_;
    bool lost_ = false;
};

class SimulatedPairs : public gossip::PairwiseExchange {
public:
    SimulatedPairs(Scheduler& scheduler, MeetingTable& table, int worker)
        : scheduler_(scheduler), table_(table), worker_(worker) {}

private:
    void do_exchange(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) override {
        scheduler_.step(worker_, scheduler_.short_step(), fmt::format("comes to meet {}", partner));
        std::optional<MeetingTable::Words> answer = table_.arrive(worker_, partner, mine);
        if (answer) {
            scheduler_.wake(partner);
        } else {
            scheduler_.wait(worker_, fmt::format("waits for {}", partner));
            answer = table_.answer(worker_);
        }
        require(answer->size() == theirs.size(), "both sides of an exchange give as much");
        std::copy(answer->begin(), answer->end(), theirs.begin());
    }

    Scheduler& scheduler_;
    MeetingTable& table_;
    int worker_;
};

// One worker and all that it needs.
struct SimulatedWorker {
    SimulatedWorker(Scheduler& scheduler, const SimulatedRun& run, std::vector<std::int64_t>& shared,
                    MeetingTable& table, Ledger& ledger, int id)
        : words(scheduler, run, shared, id),
          pairs(scheduler, table, id),
          training(ledger, id, [&scheduler, id] { scheduler.step(id, scheduler.training_step(), "training"); }),
          random(run.seed, Draw::sample, static_cast<std::uint32_t>(id)),
          worker{.id = id, .words = words, .pairs = pairs, .training = training, .random = random} {}
    SimulatedWords words;
    SimulatedPairs pairs;
    LedgerTraining training;
    RandomStream random;
    gossip::Worker worker;
};

std::vector<std::int64_t> words_at_start(const SimulatedRun& run) {
    const int workers = run.settings.workers;
    std::vector<std::int64_t> words(static_cast<std::size_t>(words_of(run.algorithm, workers)));
    if (run.fault != Fault::available_early) return words;
    const bool active_passive = run.algorithm == Algorithm::active_passive;
    const Word first = active_passive ? gossip::ActivePassiveWords::available : gossip::GossipGcnWords::available;
    for (int i = 0; i < (active_passive ? workers / 2 : workers); ++i)
        words[static_cast<std::size_t>(index(first + i))] = 1;
    return words;
}

}  // namespace

SimulationResult simulate(const SimulatedRun& run, bool trace) {
    std::vector<std::int64_t> words = words_at_start(run);
    Ledger ledger(run.settings.workers, run.settings.items);
    MeetingTable table(run.settings.workers);
    Scheduler scheduler(run, trace);
    std::vector<std::unique_ptr<SimulatedWorker>> workers;
    for (int id = 0; id < run.settings.workers; ++id) {
        workers.push_back(std::make_unique<SimulatedWorker>(scheduler, run, words, table, ledger, id));
        scheduler.start(id, [&run, &ledger, &worker = workers.back()->worker] {
            run_worker(run.algorithm, run.settings, worker, ledger);
        });
    }
    scheduler.run();

    SimulationResult result{
        .mistake = scheduler.mistake(), .steps = scheduler.steps(), .digest = scheduler.digest()};
    if (result.mistake.empty()) result.mistake = find_mistake(run.algorithm, run.settings, ledger, words);
    for (const std::vector<Averaging>& averagings : ledger.averagings)
        result.averagings += static_cast<std::int64_t>(averagings.size());
    result.averagings /= 2;
    return result;
}

}  // namespace gnnbench::test
