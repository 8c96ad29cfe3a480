// The gossip protocols with a thread for each worker; the preset tsan watches. Words are read and written without any
// atomic operation where the protocol says that a lock guards them, so a step outside its lock is a data race.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "protocol/ledger.hpp"
#include "protocol/meeting_table.hpp"

using namespace gnnbench;
using namespace gnnbench::test;
using gossip::Word;

namespace {

class ThreadWords : public gossip::SharedWords {
public:
    explicit ThreadWords(std::vector<std::int64_t>& words) : words_(words) {}

private:
    std::int64_t& at(Word word) { return words_.at(static_cast<std::size_t>(index(word))); }

    std::int64_t do_compare_and_swap(Word word, std::int64_t expected, std::int64_t desired) override {
        std::atomic_ref(at(word)).compare_exchange_strong(expected, desired);
        return expected;
    }
    std::int64_t do_fetch_and_add(Word word, std::int64_t addend) override {
        return std::atomic_ref(at(word)).fetch_add(addend);
    }
    void do_load(Word first, std::span<std::int64_t> values) override {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = at(first + static_cast<int>(i));
    }
    void do_store(Word word, std::int64_t value) override { at(word) = value; }
    void do_back_off(int attempt) override {
        std::this_thread::sleep_for(std::chrono::microseconds(1 << std::min(attempt, 10)));
    }

    std::vector<std::int64_t>& words_;
};

// Where threads meet.
struct MeetingPlace {
    explicit MeetingPlace(int workers) : table(workers) {}
    std::mutex mutex;
    std::condition_variable came;
    MeetingTable table;
    bool failed = false;  ///< a worker has ended with an error: nobody waits any longer
};

class ThreadPairs : public gossip::PairwiseExchange {
public:
    ThreadPairs(MeetingPlace& place, int worker) : place_(place), worker_(worker) {}

private:
    void do_exchange(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) override {
        std::unique_lock held(place_.mutex);
        std::optional<MeetingTable::Words> answer = place_.table.arrive(worker_, partner, mine);
        if (answer) {
            place_.came.notify_all();
        } else {
            const auto over = [&] { return place_.failed || place_.table.waits_for(worker_) == -1; };
            if (!place_.came.wait_for(held, std::chrono::seconds(60), over) || place_.failed)
                throw CommunicationError("the partner did not come");
            answer = place_.table.answer(worker_);
        }
        std::copy(answer->begin(), answer->end(), theirs.begin());
    }

    MeetingPlace& place_;
    int worker_;
};

std::string run_threads(Algorithm algorithm, const gossip::Settings& settings, std::uint64_t seed) {
    std::vector<std::int64_t> words(static_cast<std::size_t>(words_of(algorithm, settings.workers)));
    Ledger ledger(settings.workers, settings.items);
    MeetingPlace place(settings.workers);
    std::vector<std::string> errors(static_cast<std::size_t>(settings.workers));
    {
        std::vector<std::jthread> threads;
        for (int id = 0; id < settings.workers; ++id)
            threads.emplace_back([&, id] {
                ThreadWords mine(words);
                ThreadPairs pairs(place, id);
                RandomStream random(seed, Draw::sample, static_cast<std::uint32_t>(id));
                RandomStream pauses(seed, Draw::sample, static_cast<std::uint32_t>(1000 + id));
                // Worker 0 is slow.
                LedgerTraining training(ledger, id, [&] {
                    std::this_thread::sleep_for(std::chrono::microseconds(pauses.below(id == 0 ? 500 : 50)));
                });
                try {
                    run_worker(algorithm, settings,
                               {.id = id, .words = mine, .pairs = pairs, .training = training, .random = random},
                               ledger);
                } catch (const std::exception& error) {
                    errors[static_cast<std::size_t>(id)] = error.what();
                    const std::lock_guard held(place.mutex);
                    place.failed = true;
                    place.came.notify_all();
                }
            });
    }
    for (const std::string& error : errors)
        if (!error.empty()) return error;
    return find_mistake(algorithm, settings, ledger, words);
}

}  // namespace

TEST_CASE("a thread for each worker: every run ends, and its counts add up") {
    for (const Algorithm algorithm : all_algorithms)
        for (const int workers : {2, 4, 8})
            for (const std::int64_t items : {1, 7, 200})
                for (const std::int64_t interval : {1, 3})
                    for (const gossip::Schedule schedule : {gossip::Schedule::pairs, gossip::Schedule::rotating}) {
                        if (algorithm != Algorithm::scheduled && schedule != gossip::Schedule::pairs) continue;
                        const auto seed = static_cast<std::uint64_t>(items * 10 + interval);
                        INFO(name_of(algorithm) << ", " << workers << " workers, " << items << " items, interval "
                                                << interval << ", schedule " << static_cast<int>(schedule));
                        REQUIRE(run_threads(algorithm,
                                            {.workers = workers,
                                             .items = items,
                                             .averaging_interval = interval,
                                             .schedule = schedule},
                                            seed) == "");
                    }
}
