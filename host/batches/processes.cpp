#include <gnnbench/batches/processes.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "batches/counted.hpp"
#include "core/idle_wait.hpp"
#include "core/mpi_check.hpp"

namespace gnnbench::workers {
namespace {

MPI_Comm comm_of(const ProcessGroup& group) { return *static_cast<MPI_Comm*>(group.native()); }

/// A window on the words, locked for passive access as long as it lives. Where all ranks share a host it is of shared
/// memory.
class Window {
public:
    Window(const ProcessGroup& group, int words) {
        const MPI_Comm comm = comm_of(group);
        const MPI_Aint bytes = group.rank() == home ? words * word_bytes : 0;
        auto unit = static_cast<int>(word_bytes);
        std::int64_t* memory = nullptr;
        if (group.split_by_host().size() == group.size()) {
            check_mpi(
                MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, comm, static_cast<void*>(&memory), &window_),
                "MPI_Win_allocate_shared");
            MPI_Aint size = 0;
            check_mpi(MPI_Win_shared_query(window_, home, &size, &unit, static_cast<void*>(&memory)),
                      "MPI_Win_shared_query");
            shared_ = {memory, static_cast<std::size_t>(words)};
        } else {
            check_mpi(MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, comm, static_cast<void*>(&memory), &window_),
                      "MPI_Win_allocate (Open MPI 4 over TCP needs OMPI_MCA_osc=^ucx)");
        }
        check_mpi(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
        check_mpi(MPI_Win_lock_all(0, window_), "MPI_Win_lock_all");
        if (group.rank() == home) {
            std::fill_n(memory, words, std::int64_t{0});
            check_mpi(MPI_Win_sync(window_), "MPI_Win_sync");
        }
        group.barrier();  // nobody reads what is not set yet
        check_mpi(MPI_Win_sync(window_), "MPI_Win_sync");
    }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    ~Window() {
        // Freeing is collective. Where an error ends this rank the others may never come: MPI_Abort ends them all.
        if (std::uncaught_exceptions() > 0) return;
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }
    /// The words themselves, in this rank's address space; empty where ranks are on several hosts.
    std::span<std::int64_t> shared() const { return shared_; }
    /// Waits until this rank's accesses through MPI are done at `home`.
    void flush() const { check_mpi(MPI_Win_flush(home, window_), "MPI_Win_flush"); }
    MPI_Win get() const { return window_; }

private:
    MPI_Win window_ = MPI_WIN_NULL;
    std::span<std::int64_t> shared_;
};

/// The words are in a window.
class WordsOfProcesses : public CountedWords {
public:
    WordsOfProcesses(Rank rank, std::unique_ptr<Window> window) : CountedWords(rank), window_(std::move(window)) {}

protected:
    const Window& window() const { return *window_; }

private:
    void sleep(double seconds) override { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

    std::unique_ptr<Window> window_;
};

/// All ranks on one host: an access is an atomic instruction of the rank that makes it. MPI's own operations would need
/// `home`'s help there: MPICH 4.0 leaves them undone until `home` calls MPI, and Open MPI 4.1 emulates atomic ones by
/// messages outside shared windows, where its compare-and-swap crashes.
class WordsOfHost final : public WordsOfProcesses {
public:
    using WordsOfProcesses::WordsOfProcesses;

private:
    using Atomic = std::atomic_ref<std::int64_t>;
    static_assert(Atomic::is_always_lock_free, "a lock of one process does not guard another's access");

    Atomic at(Word word) const { return Atomic(window().shared()[static_cast<std::size_t>(index(word))]); }
    std::int64_t swapped(Word word, std::int64_t expected, std::int64_t desired) override {
        at(word).compare_exchange_strong(expected, desired);
        return expected;
    }
    std::int64_t added(Word word, std::int64_t addend) override { return at(word).fetch_add(addend); }
    void get(Word first, std::span<std::int64_t> values) override {
        for (int i = 0; std::int64_t& value : values) value = at(first + i++).load();
    }
    void put(Word word, std::int64_t value) override { at(word).store(value); }
};

/// Ranks on several hosts: MPI's one-sided operations.
class WordsAcrossHosts final : public WordsOfProcesses {
public:
    using WordsOfProcesses::WordsOfProcesses;

private:
    std::int64_t swapped(Word word, std::int64_t expected, std::int64_t desired) override {
        std::int64_t found = 0;
        check_mpi(
            MPI_Compare_and_swap(&desired, &expected, &found, MPI_INT64_T, home, index(word), window().get()),
            "MPI_Compare_and_swap");
        window().flush();
        return found;
    }
    std::int64_t added(Word word, std::int64_t addend) override {
        std::int64_t found = 0;
        check_mpi(MPI_Fetch_and_op(&addend, &found, MPI_INT64_T, home, index(word), MPI_SUM, window().get()),
                  "MPI_Fetch_and_op");
        window().flush();
        return found;
    }
    void get(Word first, std::span<std::int64_t> values) override {
        const auto count = mpi_count(std::ssize(values), "MPI_Get");
        check_mpi(
            MPI_Get(values.data(), count, MPI_INT64_T, home, index(first), count, MPI_INT64_T, window().get()),
            "MPI_Get");
        window().flush();
    }
    void put(Word word, std::int64_t value) override {
        check_mpi(MPI_Put(&value, 1, MPI_INT64_T, home, index(word), 1, MPI_INT64_T, window().get()), "MPI_Put");
        window().flush();
    }
};

class PairsOfProcesses final : public CountedPairs {
public:
    // A communicator of its own, so that its messages never match others.
    explicit PairsOfProcesses(Rank rank)
        : CountedPairs(rank), group_(rank.processes.split(0, rank.processes.rank())), comm_(comm_of(group_)) {}

private:
    void meet(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) override {
        const int count = mpi_count(std::ssize(mine), "MPI_Isend");
        MPI_Request both[2];
        check_mpi(MPI_Irecv(theirs.data(), count, MPI_INT64_T, partner, 0, comm_, &both[0]), "MPI_Irecv");
        check_mpi(MPI_Isend(mine.data(), count, MPI_INT64_T, partner, 0, comm_, &both[1]), "MPI_Isend");
        wait_idly(both);
    }

    ProcessGroup group_;
    MPI_Comm comm_;
};

}  // namespace

std::unique_ptr<SharedWords> make_shared_words(Rank rank, int words, WordAccess access) {
    if (rank.processes.turns()) return make_words_of_turns(rank, words);
    auto window = std::make_unique<Window>(rank.processes, words);
    if (window->shared().empty() || access == WordAccess::by_mpi)
        return std::make_unique<WordsAcrossHosts>(rank, std::move(window));
    return std::make_unique<WordsOfHost>(rank, std::move(window));
}

std::unique_ptr<PairwiseExchange> make_pairwise_exchange(Rank rank) {
    if (rank.processes.turns()) return make_pairs_of_turns(rank);
    return std::make_unique<PairsOfProcesses>(rank);
}

}  // namespace gnnbench::workers
