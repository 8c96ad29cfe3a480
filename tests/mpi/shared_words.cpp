// Words, locks and meetings of workers among processes.
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <thread>

#include <catch2/catch.hpp>

#include <gnnbench/batches/processes.hpp>
#include <gnnbench/plugin.hpp>

#include "contract/not_here.hpp"
#include "plugin/loader.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace std::chrono_literals;
using workers::Word;
using workers::WordAccess;

namespace {

/// A rank with the back end `reference`.
struct Bench {
    Bench() : backend(PluginCatalog().kernel("reference")->create({.dtype = DType::f64})) {}
    ProcessGroup processes = mpi_world();
    std::unique_ptr<Backend> backend;
    VolumeCounter counter;
    Communicator world{backend->connect(processes), *backend, counter};
    Rank rank{*backend, world, processes};
    int me = processes.rank(), size = processes.size();

    std::int64_t over_ranks(std::int64_t mine) const {
        return static_cast<std::int64_t>(processes.sum({static_cast<double>(mine)})[0]);
    }
};

double processor_s() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(use.ru_utime) + seconds(use.ru_stime);
}

}  // namespace

TEST_CASE("shared words: every item of the pool is taken once, whoever takes it") {
    Bench b;
    const auto access = GENERATE(WordAccess::by_placement, WordAccess::by_mpi);
    const auto words = workers::make_shared_words(b.rank, 4, access);
    constexpr std::int64_t items = 2000;
    workers::WorkPool pool(*words, Word{1}, items);
    std::int64_t taken = 0, sum = 0;
    while (const auto item = pool.take()) {
        ++taken;
        sum += *item;
    }
    CHECK(b.over_ranks(taken) == items);
    CHECK(b.over_ranks(sum) == items * (items - 1) / 2);
    CHECK(words->load(Word{0}) == 0);
}

TEST_CASE("shared words: a lock excludes the others") {
    Bench b;
    const auto access = GENERATE(WordAccess::by_placement, WordAccess::by_mpi);
    const auto words = workers::make_shared_words(b.rank, 2, access);
    workers::Lock lock(*words, Word{0}, b.me);
    constexpr std::int64_t rounds = 200;
    for (std::int64_t i = 0; i < rounds; ++i) {
        lock.lock();
        // Neither step is atomic: without the lock, increments are lost.
        const std::int64_t before = words->load(Word{1});
        if (i % 50 == 0) std::this_thread::sleep_for(200us);
        words->store(Word{1}, before + 1);
        lock.unlock();
    }
    b.processes.barrier();
    CHECK(words->load(Word{1}) == rounds * b.size);
}

TEST_CASE("shared words: accesses are counted as metadata, one-sided") {
    Bench b;
    const auto access = GENERATE(WordAccess::by_placement, WordAccess::by_mpi);
    const auto words = workers::make_shared_words(b.rank, 8, access);
    b.counter.take();
    words->fetch_and_add(Word{0}, 1);
    words->compare_and_swap(Word{1}, 0, 0);
    std::array<std::int64_t, 3> several{};
    words->load(Word{2}, several);
    words->store(Word{5}, 0);
    const Volume counted = b.counter.take();
    CHECK(counted == Volume{{{CommOp::one_sided, Content::metadata}, {8 + 16 + 8, 8 + 8 + 24, 4}}});
}

TEST_CASE("shared words: a rank that computes keeps nobody waiting") {
    Bench b;
    const auto words = workers::make_shared_words(b.rank, 1);
    const auto finished = workers::make_shared_words(b.rank, 1);
    b.processes.barrier();
    if (b.me == 0) {
        // The memory is this rank's, and it makes no call of MPI until all others are through.
        const auto until = std::chrono::steady_clock::now() + 1500ms;
        while (std::chrono::steady_clock::now() < until) {
        }
        CHECK(finished->load(Word{0}) == b.size - 1);
    } else {
        for (int i = 0; i < 100; ++i) words->fetch_and_add(Word{0}, 1);
        finished->fetch_and_add(Word{0}, 1);
    }
    b.processes.barrier();
    CHECK(words->load(Word{0}) == 100 * (b.size - 1));
}

/// What a second's wait may take of a core. A sanitized poll takes several times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double most_of_a_core = 0.3;
#else
constexpr double most_of_a_core = 0.05;
#endif

TEST_CASE("meetings: each has what the other gave, in order, and waiting keeps no core busy") {
    Bench b;
    if (b.size < 2) return contract::not_here("one rank has no other");
    const auto pairs = workers::make_pairwise_exchange(b.rank);
    const int partner = b.me ^ 1;
    if (partner < b.size) {
        for (std::int64_t i = 0; i < 50; ++i) {
            const std::array<std::int64_t, 2> mine{b.me, i};
            std::array<std::int64_t, 2> theirs{};
            pairs->exchange(partner, mine, theirs);
            CHECK(theirs == std::array<std::int64_t, 2>{partner, i});
        }
        const std::array<std::int64_t, 1> mine{7};
        std::array<std::int64_t, 1> theirs{};
        if (b.me % 2 == 0) std::this_thread::sleep_for(1s);
        const double before_s = processor_s();
        pairs->exchange(partner, mine, theirs);
        if (b.me % 2 == 1) CHECK(processor_s() - before_s < most_of_a_core);
    }
    const double before_s = processor_s();
    if (b.me == 0) std::this_thread::sleep_for(1s);
    b.processes.wait_for_all();
    if (b.me != 0) CHECK(processor_s() - before_s < most_of_a_core);
}
