#include "protocol/ledger.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench::test {

using gossip::Meeting;

void LedgerTraining::expect(bool held, const char* what) const {
    if (!held) throw Error(fmt::format("worker {}: {}", worker_, what));
}

void LedgerTraining::compute_gradient(std::int64_t item) {
    expect(batches_ == updates_ && !cleaned_up_, "a batch before the last one's update, or after the clean-up");
    pause_();
    ++ledger_.trained.at(static_cast<std::size_t>(item));
    ++batches_;
}

void LedgerTraining::average(const Meeting& meeting) {
    expect(batches_ == updates_ + 1, "an averaging without a gradient of this batch");
    expect(meeting.my_batches == batches_, "another number of batches than were trained");
    pause_();
    ledger_.averagings[worker_].push_back({meeting, false});
}

void LedgerTraining::update_weights() {
    expect(batches_ == updates_ + 1, "an update without a gradient");
    ++updates_;
}

void LedgerTraining::average_in_clean_up(const Meeting& meeting) {
    expect(batches_ > 0, "an averaging with a gradient that does not exist");
    expect(batches_ == updates_ && !cleaned_up_, "a clean-up before the last update, or a second one");
    expect(meeting.my_batches == batches_, "another number of batches than were trained");
    pause_();
    cleaned_up_ = true;
    ledger_.averagings[worker_].push_back({meeting, true});
}

namespace {

struct AlgorithmUnderTest {
    const char* name;
    gossip::WorkerRecord (*train)(const gossip::Settings&, const gossip::Worker&);
    int (*words)(int workers);
};

template <class Words>
int count(int workers) {
    return Words(workers).words();
}

AlgorithmUnderTest of(Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::active_passive:
            return {"active-passive", gossip::train_active_passive, count<gossip::ActivePassiveWords>};
        case Algorithm::gossip_gcn:
            return {"gossip-gcn", gossip::train_gossip_gcn, count<gossip::GossipGcnWords>};
        case Algorithm::requested:
            return {"requested", gossip::train_requested, count<gossip::RequestedWords>};
        case Algorithm::scheduled:
            return {"scheduled", gossip::train_scheduled, count<gossip::ScheduledWords>};
    }
    throw LogicError("no such algorithm");
}

/// Each of the variants' workers says that it has left; a scheduled one also, to how many rounds it came.
std::vector<std::int64_t> words_at_end(Algorithm algorithm, const gossip::Settings& settings,
                                       const Ledger& ledger) {
    std::vector<std::int64_t> words(static_cast<std::size_t>(words_of(algorithm, settings.workers)));
    const auto at = [&](gossip::Word word) -> std::int64_t& {
        return words[static_cast<std::size_t>(index(word))];
    };
    words[0] = settings.items + settings.workers;  // each worker's last request finds the pool empty
    for (int worker = 0; worker < settings.workers; ++worker) {
        if (algorithm == Algorithm::requested) at(gossip::RequestedWords(settings.workers).left(worker)) = 1;
        if (algorithm == Algorithm::scheduled)
            at(gossip::ScheduledWords::rounds(worker)) =
                gossip::ScheduledWords::has_left +
                ledger.records[static_cast<std::size_t>(worker)].batches / settings.averaging_interval;
    }
    return words;
}

}  // namespace

std::string name_of(Algorithm algorithm) { return of(algorithm).name; }

void run_worker(Algorithm algorithm, const gossip::Settings& settings, const gossip::Worker& worker,
                Ledger& ledger) {
    ledger.records[static_cast<std::size_t>(worker.id)] = of(algorithm).train(settings, worker);
}

int words_of(Algorithm algorithm, int workers) { return of(algorithm).words(workers); }

namespace {

// The averagings of a with b, which must mirror those of b with a.
std::string find_asymmetry(const Ledger& ledger, std::size_t a, std::size_t b) {
    const auto with = [&](std::size_t worker, std::size_t partner) {
        std::vector<Averaging> found;
        std::ranges::copy_if(
            ledger.averagings[worker], std::back_inserter(found),
            [&](const Averaging& averaging) { return averaging.meeting.partner == static_cast<int>(partner); });
        return found;
    };
    const auto ours = with(a, b), theirs = with(b, a);
    if (ours.size() != theirs.size() || static_cast<std::int64_t>(ours.size()) != ledger.records[a].averagings[b])
        return fmt::format(
            "workers {} and {}: {} averagings of the one with the other, {} of the other with the one, {} "
            "recorded",
            a, b, ours.size(), theirs.size(), ledger.records[a].averagings[b]);
    for (std::size_t i = 0; i < ours.size(); ++i) {
        const Meeting &mine = ours[i].meeting, &yours = theirs[i].meeting;
        if (mine.number != static_cast<std::int64_t>(i) || yours.number != mine.number ||
            mine.my_batches != yours.their_batches || mine.their_batches != yours.my_batches ||
            mine.they_clean_up != theirs[i].in_clean_up || yours.they_clean_up != ours[i].in_clean_up)
            return fmt::format("workers {} and {} tell averaging {} differently", a, b, i);
    }
    return {};
}

/// Of every averaging, whether the schedule has it in the round that the worker's batches say.
std::string find_unscheduled(const gossip::Settings& settings, const Ledger& ledger) {
    for (int a = 0; a < settings.workers; ++a)
        for (const Averaging& averaging : ledger.averagings[static_cast<std::size_t>(a)]) {
            const Meeting& m = averaging.meeting;
            const std::int64_t round = m.my_batches / settings.averaging_interval;
            if (m.my_batches != m.their_batches ||
                m.partner != gossip::scheduled_partner(settings.schedule, settings.workers, a, round))
                return fmt::format("worker {} met {} after {} batches, {} of that one", a, m.partner, m.my_batches,
                                   m.their_batches);
        }
    return {};
}

}  // namespace

std::string find_mistake(Algorithm algorithm, const gossip::Settings& settings, const Ledger& ledger,
                         const std::vector<std::int64_t>& words) {
    for (std::size_t item = 0; item < ledger.trained.size(); ++item)
        if (ledger.trained[item] != 1)
            return fmt::format("item {} was trained {} times", item, ledger.trained[item]);
    std::int64_t batches = 0;
    for (const gossip::WorkerRecord& record : ledger.records) batches += record.batches;
    if (batches != settings.items) return fmt::format("{} batches recorded of {} items", batches, settings.items);

    for (std::size_t a = 0; a < ledger.records.size(); ++a)
        for (std::size_t b = 0; b < ledger.records.size(); ++b)
            if (std::string found = find_asymmetry(ledger, a, b); !found.empty()) return found;

    // Whoever ends an interval averages, or found nobody; Algorithm 5's passive workers average when they are asked. The
    // variants have no averaging in the clean-up, and scheduled partners are those of the schedule.
    if (algorithm == Algorithm::requested || algorithm == Algorithm::scheduled)
        for (std::size_t a = 0; a < ledger.records.size(); ++a)
            if (ledger.records[a].averaged_in_clean_up) return fmt::format("worker {} averaged in a clean-up", a);
    if (algorithm == Algorithm::scheduled)
        if (std::string found = find_unscheduled(settings, ledger); !found.empty()) return found;
    for (std::size_t a = 0; a < ledger.records.size(); ++a) {
        const gossip::WorkerRecord& record = ledger.records[a];
        const std::int64_t averagings =
            std::accumulate(record.averagings.begin(), record.averagings.end(), std::int64_t{0}) -
            (record.averaged_in_clean_up ? 1 : 0);
        const bool passive = algorithm == Algorithm::active_passive && static_cast<int>(a) < settings.workers / 2;
        if (!passive && averagings + record.nobody_available != record.batches / settings.averaging_interval)
            return fmt::format("worker {}: {} averagings and {} intervals without a partner; {} batches by {}", a,
                               averagings, record.nobody_available, record.batches, settings.averaging_interval);
    }

    const std::vector<std::int64_t> expected = words_at_end(algorithm, settings, ledger);
    for (std::size_t word = 0; word < words.size(); ++word)
        if (words[word] != expected[word])
            return fmt::format("word {} was left at {}, not {}", word, words[word], expected[word]);
    return {};
}

}  // namespace gnnbench::test
