// Words that workers share, beside the same MPI calls made bare.
#include <vector>

#include <gnnbench/batches/processes.hpp>

#include "mpi/check.hpp"
#include "gossip_gcn.hpp"
#include "measure.hpp"

namespace gnnbench::bench {
namespace {

using gossip::Word;
using nlohmann::json;

/// A window on 64-bit words of rank 0, as make_shared_words has where all ranks share a host.
class BareWindow {
public:
    BareWindow(const ProcessGroup& world, int words) {
        std::int64_t* mine = nullptr;
        check_mpi(
            MPI_Win_allocate_shared(world.rank() == 0 ? 8 * words : 0, 8, MPI_INFO_NULL,
                                    *static_cast<MPI_Comm*>(world.native()), static_cast<void*>(&mine), &window_),
            "MPI_Win_allocate_shared");
        check_mpi(MPI_Win_lock_all(0, window_), "MPI_Win_lock_all");
        if (world.rank() == 0) std::fill_n(mine, words, std::int64_t{0});
        world.barrier();
    }
    BareWindow(const BareWindow&) = delete;
    BareWindow& operator=(const BareWindow&) = delete;
    ~BareWindow() {
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }
    MPI_Win get() const { return window_; }
    void flush() const { MPI_Win_flush(0, window_); }

private:
    MPI_Win window_ = MPI_WIN_NULL;
};

/// One access, as a worker made it.
struct Access {
    enum class Kind { compare_and_swap, fetch_and_add, get, put } kind;
    int word, count;
    std::int64_t operand, expected;
};

/// Forwards to other words, and writes down every access.
class NotedWords final : public gossip::SharedWords {
public:
    explicit NotedWords(gossip::SharedWords& inner) : inner_(inner) {}
    std::vector<Access> accesses;

private:
    std::int64_t do_compare_and_swap(Word w, std::int64_t expected, std::int64_t desired) override {
        accesses.push_back({Access::Kind::compare_and_swap, index(w), 1, desired, expected});
        return inner_.compare_and_swap(w, expected, desired);
    }
    std::int64_t do_fetch_and_add(Word w, std::int64_t addend) override {
        accesses.push_back({Access::Kind::fetch_and_add, index(w), 1, addend, 0});
        return inner_.fetch_and_add(w, addend);
    }
    void do_load(Word first, std::span<std::int64_t> values) override {
        accesses.push_back({Access::Kind::get, index(first), static_cast<int>(values.size()), 0, 0});
        inner_.load(first, values);
    }
    void do_store(Word w, std::int64_t value) override {
        accesses.push_back({Access::Kind::put, index(w), 1, value, 0});
        inner_.store(w, value);
    }
    void do_back_off(int attempt) override { inner_.back_off(attempt); }

    gossip::SharedWords& inner_;
};

void repeat_bare(const std::vector<Access>& accesses, const BareWindow& window) {
    std::vector<std::int64_t> values(64);
    std::int64_t found = 0;
    for (const Access& a : accesses) {
        switch (a.kind) {
            case Access::Kind::compare_and_swap:
                MPI_Compare_and_swap(&a.operand, &a.expected, &found, MPI_INT64_T, 0, a.word, window.get());
                break;
            case Access::Kind::fetch_and_add:
                MPI_Fetch_and_op(&a.operand, &found, MPI_INT64_T, 0, a.word, MPI_SUM, window.get());
                break;
            case Access::Kind::get:
                MPI_Get(values.data(), a.count, MPI_INT64_T, 0, a.word, a.count, MPI_INT64_T, window.get());
                break;
            case Access::Kind::put:
                MPI_Put(&a.operand, 1, MPI_INT64_T, 0, a.word, 1, MPI_INT64_T, window.get());
                break;
        }
        window.flush();
    }
}

/// Trains nothing.
class NoTraining final : public gossip::LocalTraining {
    void compute_gradient(std::int64_t) override {}
    void average(const gossip::Meeting&) override {}
    void update_weights() override {}
    void average_in_clean_up(const gossip::Meeting&) override {}
};

/// Stands for the partner: answers at once, and then leaves the pair and is available again, as it would by itself.
class PresentPartner final : public gossip::PairwiseExchange {
public:
    PresentPartner(gossip::SharedWords& words, int workers) : words_(words), at_(workers) {}

private:
    void do_exchange(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) override {
        std::ranges::copy(mine, theirs.begin());
        theirs[0] = mine[1];
        theirs[1] = mine[0];
        words_.store(at_.partner(partner), 0);
        words_.store(at_.available + partner, 1);
    }
    gossip::SharedWords& words_;
    gossip::GossipGcnWords at_;
};

/// A rank's shared words, with the back end and communicator that they are counted and timed by.
struct Words {
    explicit Words(const Ground& g, int count)
        : backend(g.catalog.kernel("reference")->create({})),
          world(backend->connect(g.world), *backend, counter),
          words(workers::make_shared_words({*backend, world, g.world}, count)) {}
    std::unique_ptr<Backend> backend;
    VolumeCounter counter;
    Communicator world;
    std::unique_ptr<gossip::SharedWords> words;
};

/// Rank 1 alone works, in an epoch that is traced, as in training; the time is its own.
double by_rank_1(const Ground& g, Backend* traced, const std::function<void()>& work) {
    double seconds = 0;
    g.world.barrier();
    if (g.world.rank() == 1) {
        if (traced) traced->trace().begin_epoch();
        seconds = seconds_of(work);
        if (traced) traced->trace().end_epoch();
    }
    return g.world.sum({seconds})[0];
}

}  // namespace

json measure_pool(const Ground& g) {
    Words ours(g, 1);
    const BareWindow window(g.world, 1);
    gossip::WorkPool pool(*ours.words, Word{0}, std::int64_t{1} << 60);
    const auto take = [&] {
        for (std::int64_t i = 0; i < g.repetitions; ++i) pool.take();
    };
    const std::vector<Access> bare(static_cast<std::size_t>(g.repetitions),
                                   {Access::Kind::fetch_and_add, 0, 1, 1, 0});
    return by_turns(
        g, "taking an item from the pool, beside MPI_Fetch_and_op and a flush",
        [&] { return by_rank_1(g, ours.backend.get(), take) / static_cast<double>(g.repetitions); },
        [&] {
            return by_rank_1(g, nullptr, [&] { repeat_bare(bare, window); }) / static_cast<double>(g.repetitions);
        });
}

json measure_agreement(const Ground& g) {
    constexpr int workers = 8;
    const gossip::GossipGcnWords at(workers);
    Words ours(g, at.words());
    const BareWindow window(g.world, at.words());
    NoTraining training;
    std::int64_t items = g.repetitions;
    const auto agree = [&](gossip::SharedWords& words) {
        PresentPartner partner(words, workers);
        RandomStream random(1, Draw::gossip);
        words.store(at.next_item, 0);
        for (int w = 1; w < workers; ++w) words.store(at.available + w, 1);
        gossip::train_gossip_gcn(
            {.workers = workers, .items = items, .averaging_interval = 1},
            {.id = 0, .words = words, .pairs = partner, .training = training, .random = random});
    };
    NotedWords noted(*ours.words);
    by_rank_1(g, nullptr, [&] { agree(noted); });
    json result = by_turns(
        g, "agreeing on one of 7 partners and leaving the pair, beside the same one-sided operations",
        [&] { return by_rank_1(g, ours.backend.get(), [&] { agree(*ours.words); }) / static_cast<double>(items); },
        [&] {
            return by_rank_1(g, nullptr, [&] { repeat_bare(noted.accesses, window); }) /
                   static_cast<double>(items);
        });
    result["operations"] =
        g.world.sum({static_cast<double>(noted.accesses.size())})[0] / static_cast<double>(items);
    return result;
}

}  // namespace gnnbench::bench
