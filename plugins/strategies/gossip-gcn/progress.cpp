#include "progress.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::gossip {

LocalTraining::~LocalTraining() = default;

void check_settings(const Settings& settings, const Worker& worker) {
    if (settings.workers < 1 || worker.id < 0 || worker.id >= settings.workers)
        throw LogicError(
            fmt::format("worker {} of {}: expected ids from 0 to workers - 1", worker.id, settings.workers));
    if (settings.items < 0)
        throw LogicError(fmt::format("a work pool of {} items: expected 0 or more", settings.items));
    if (settings.averaging_interval < 1)
        throw LogicError(
            fmt::format("an averaging interval of {} batches: expected 1 or more", settings.averaging_interval));
}

Progress::Progress(const Settings& settings, const Worker& worker)
    : worker_(worker), interval_(settings.averaging_interval) {
    record_.averagings.resize(usize(settings.workers));
}

void Progress::train(std::int64_t item) {
    worker_.training.compute_gradient(item);
    ++record_.batches;
}

Meeting Progress::meet(int partner, bool clean_up) {
    if (partner < 0 || partner >= static_cast<int>(record_.averagings.size()) || partner == worker_.id)
        throw LogicError(fmt::format("worker {} is to average with worker {}", worker_.id, partner));
    if (record_.batches == 0)
        throw LogicError(
            fmt::format("worker {} is to average with worker {} before its first batch", worker_.id, partner));

    // Who I am, whom I mean, and how often we have met: what the partner says must mirror it.
    std::int64_t& averagings = record_.averagings[usize(partner)];
    const std::array<std::int64_t, 5> mine = {worker_.id, partner, averagings, record_.batches, clean_up ? 1 : 0};
    std::array<std::int64_t, 5> theirs{};
    worker_.pairs.exchange(partner, mine, theirs);
    if (theirs[0] != partner || theirs[1] != worker_.id || theirs[2] != averagings)
        throw LogicError(
            fmt::format("worker {} averages with {} for the {}th time, but was answered by {} for {}, {}th time",
                        worker_.id, partner, averagings + 1, theirs[0], theirs[1], theirs[2] + 1));
    return {.partner = partner,
            .number = averagings++,
            .my_batches = record_.batches,
            .their_batches = theirs[3],
            .they_clean_up = theirs[4] != 0};
}

void Progress::average_with(int partner) { worker_.training.average(meet(partner, false)); }

void Progress::average_in_clean_up_with(int partner) {
    worker_.training.average_in_clean_up(meet(partner, true));
    record_.averaged_in_clean_up = true;
}

WorkerRecord Progress::end(std::int64_t retries) {
    record_.lock_retries = retries;
    return std::move(record_);
}

int choose_available(const Worker& worker, Word available, int workers) {
    std::vector<std::int64_t> flags(usize(workers));
    worker.words.load(available, flags);
    std::vector<int> candidates;
    for (int other = 0; other < workers; ++other)
        if (flags[usize(other)] != 0) candidates.push_back(other);
    return candidates.empty() ? nobody : candidates[worker.random.below(candidates.size())];
}

}  // namespace gnnbench::gossip
