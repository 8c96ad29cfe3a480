#include <gnnbench/batches/processes.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "core/host_span.hpp"
#include "core/idle_wait.hpp"
#include "core/mpi_check.hpp"

namespace gnnbench::workers {
namespace {

constexpr int home = 0;  ///< the rank whose memory has the words
constexpr std::int64_t word_bytes = 8;

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
                      "MPI_Win_allocate");
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

/// Counts and times each access.
class WordsOfProcesses : public SharedWords {
public:
    WordsOfProcesses(Rank rank, std::unique_ptr<Window> window) : rank_(rank), window_(std::move(window)) {}

protected:
    const Window& window() const { return *window_; }

private:
    std::int64_t do_compare_and_swap(Word word, std::int64_t expected, std::int64_t desired) final {
        const HostSpan timed = accessed({2 * word_bytes, word_bytes, 1}, "compare-and-swap");
        return swapped(word, expected, desired);
    }
    std::int64_t do_fetch_and_add(Word word, std::int64_t addend) final {
        const HostSpan timed = accessed({word_bytes, word_bytes, 1}, "fetch-and-add");
        return added(word, addend);
    }
    void do_load(Word first, std::span<std::int64_t> values) final {
        const HostSpan timed = accessed({0, std::ssize(values) * word_bytes, 1}, "get");
        get(first, values);
    }
    void do_store(Word word, std::int64_t value) final {
        const HostSpan timed = accessed({word_bytes, 0, 1}, "put");
        put(word, value);
    }
    // Critical sections take some ten microseconds.
    void do_back_off(int attempt) final {
        const HostSpan timed(rank_.backend.trace(), Phase::wait, "back-off");
        std::this_thread::sleep_for(std::chrono::microseconds(1 << std::min(attempt, 10)));
    }

    virtual std::int64_t swapped(Word word, std::int64_t expected, std::int64_t desired) = 0;
    virtual std::int64_t added(Word word, std::int64_t addend) = 0;
    virtual void get(Word first, std::span<std::int64_t> values) = 0;
    virtual void put(Word word, std::int64_t value) = 0;

    HostSpan accessed(const Traffic& t, const char* operation) {
        rank_.world.count(CommOp::one_sided, Content::metadata, t);
        return {rank_.backend.trace(), Phase::comm, operation, t.sent_bytes + t.received_bytes, 2};
    }

    Rank rank_;
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

class PairsOfProcesses final : public PairwiseExchange {
public:
    // A communicator of its own, so that its messages never match others.
    explicit PairsOfProcesses(Rank rank)
        : rank_(rank), group_(rank.processes.split(0, rank.processes.rank())), comm_(comm_of(group_)) {}

private:
    void do_exchange(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) override {
        const auto bytes = static_cast<std::int64_t>(mine.size_bytes());
        rank_.world.count(CommOp::point_to_point, Content::metadata, {bytes, bytes, 1});
        const HostSpan timed(rank_.backend.trace(), Phase::wait, "partner", 2 * bytes, 2);
        const int count = mpi_count(std::ssize(mine), "MPI_Isend");
        MPI_Request both[2];
        check_mpi(MPI_Irecv(theirs.data(), count, MPI_INT64_T, partner, 0, comm_, &both[0]), "MPI_Irecv");
        check_mpi(MPI_Isend(mine.data(), count, MPI_INT64_T, partner, 0, comm_, &both[1]), "MPI_Isend");
        wait_idly(both);
    }

    Rank rank_;
    ProcessGroup group_;
    MPI_Comm comm_;
};

}  // namespace

std::unique_ptr<SharedWords> make_shared_words(Rank rank, int words, WordAccess access) {
    auto window = std::make_unique<Window>(rank.processes, words);
    if (window->shared().empty() || access == WordAccess::by_mpi)
        return std::make_unique<WordsAcrossHosts>(rank, std::move(window));
    return std::make_unique<WordsOfHost>(rank, std::move(window));
}

std::unique_ptr<PairwiseExchange> make_pairwise_exchange(Rank rank) {
    return std::make_unique<PairsOfProcesses>(rank);
}

}  // namespace gnnbench::workers
