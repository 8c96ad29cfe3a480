#include <gnnbench/batches/processes.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

#include "core/host_span.hpp"
#include "core/idle_wait.hpp"
#include "core/mpi_check.hpp"

namespace gnnbench::workers {
namespace {

constexpr int home = 0;  ///< the rank whose memory has the words
constexpr std::int64_t word_bytes = 8;

MPI_Comm comm_of(const ProcessGroup& group) { return *static_cast<MPI_Comm*>(group.native()); }

/// A window on the words, locked for passive access as long as it lives. Where all ranks share a host it is of shared
/// memory: then an access is an atomic instruction of the rank that makes it, and needs nobody's progress. (Open MPI
/// 4.1 emulates atomic operations on other windows of one host by messages, and its compare-and-swap crashes.)
class Window {
public:
    Window(const ProcessGroup& group, int words) {
        const MPI_Comm comm = comm_of(group);
        const MPI_Aint bytes = group.rank() == home ? words * word_bytes : 0;
        const auto unit = static_cast<int>(word_bytes);
        std::int64_t* mine = nullptr;
        if (group.split_by_host().size() == group.size())
            check_mpi(
                MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, comm, static_cast<void*>(&mine), &window_),
                "MPI_Win_allocate_shared");
        else
            check_mpi(MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, comm, static_cast<void*>(&mine), &window_),
                      "MPI_Win_allocate");
        check_mpi(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
        check_mpi(MPI_Win_lock_all(0, window_), "MPI_Win_lock_all");
        if (group.rank() == home) {
            std::fill_n(mine, words, std::int64_t{0});
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
    /// Waits until this rank's accesses are done at `home`.
    void flush() const { check_mpi(MPI_Win_flush(home, window_), "MPI_Win_flush"); }
    MPI_Win get() const { return window_; }

private:
    MPI_Win window_ = MPI_WIN_NULL;
};

class WordsOfProcesses final : public SharedWords {
public:
    WordsOfProcesses(Rank rank, int words) : rank_(rank), window_(rank.processes, words) {}

private:
    std::int64_t do_compare_and_swap(Word word, std::int64_t expected, std::int64_t desired) override {
        const HostSpan timed = accessed({2 * word_bytes, word_bytes, 1}, "compare-and-swap");
        std::int64_t found = 0;
        check_mpi(MPI_Compare_and_swap(&desired, &expected, &found, MPI_INT64_T, home, index(word), window_.get()),
                  "MPI_Compare_and_swap");
        window_.flush();
        return found;
    }
    std::int64_t do_fetch_and_add(Word word, std::int64_t addend) override {
        const HostSpan timed = accessed({word_bytes, word_bytes, 1}, "fetch-and-add");
        std::int64_t found = 0;
        check_mpi(MPI_Fetch_and_op(&addend, &found, MPI_INT64_T, home, index(word), MPI_SUM, window_.get()),
                  "MPI_Fetch_and_op");
        window_.flush();
        return found;
    }
    void do_load(Word first, std::span<std::int64_t> values) override {
        const auto count = mpi_count(std::ssize(values), "MPI_Get");
        const HostSpan timed = accessed({0, count * word_bytes, 1}, "get");
        check_mpi(
            MPI_Get(values.data(), count, MPI_INT64_T, home, index(first), count, MPI_INT64_T, window_.get()),
            "MPI_Get");
        window_.flush();
    }
    void do_store(Word word, std::int64_t value) override {
        const HostSpan timed = accessed({word_bytes, 0, 1}, "put");
        check_mpi(MPI_Put(&value, 1, MPI_INT64_T, home, index(word), 1, MPI_INT64_T, window_.get()), "MPI_Put");
        window_.flush();
    }
    // Critical sections take some ten microseconds.
    void do_back_off(int attempt) override {
        const HostSpan timed(rank_.backend.trace(), Phase::wait, "back-off");
        std::this_thread::sleep_for(std::chrono::microseconds(1 << std::min(attempt, 10)));
    }

    HostSpan accessed(const Traffic& t, const char* operation) {
        rank_.world.count(CommOp::one_sided, Content::metadata, t);
        return {rank_.backend.trace(), Phase::comm, operation, t.sent_bytes + t.received_bytes, 2};
    }

    Rank rank_;
    Window window_;
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

std::unique_ptr<SharedWords> make_shared_words(Rank rank, int words) {
    return std::make_unique<WordsOfProcesses>(rank, words);
}

std::unique_ptr<PairwiseExchange> make_pairwise_exchange(Rank rank) {
    return std::make_unique<PairsOfProcesses>(rank);
}

}  // namespace gnnbench::workers
