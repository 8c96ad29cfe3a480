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

void run_worker(Algorithm algorithm, const gossip::Settings& settings, const gossip::Worker& worker,
                Ledger& ledger) {
    const auto train =
        algorithm == Algorithm::active_passive ? gossip::train_active_passive : gossip::train_gossip_gcn;
    ledger.records[static_cast<std::size_t>(worker.id)] = train(settings, worker);
}

int words_of(Algorithm algorithm, int workers) {
    return algorithm == Algorithm::active_passive ? gossip::ActivePassiveWords(workers).words()
                                                  : gossip::GossipGcnWords(workers).words();
}

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

    // Whoever ends an interval averages, or found nobody; Algorithm 5's passive workers average when they are asked.
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

    // Each worker's last request finds the pool empty.
    if (words[0] != settings.items + settings.workers)
        return fmt::format("the pool was asked {} times for {} items", words[0], settings.items);
    for (std::size_t word = 1; word < words.size(); ++word)
        if (words[word] != 0) return fmt::format("word {} was left at {}", word, words[word]);
    return {};
}

}  // namespace gnnbench::test
