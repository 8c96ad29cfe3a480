#include "mpi/words.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

namespace gnnbench {
namespace {

constexpr std::int64_t word_bytes = 8;
constexpr int home = 0;  ///< the rank whose memory has the words

/// A window on the words, locked for passive access as long as it lives. Where all ranks share a host it is of shared
/// memory.
class Window {
public:
    Window(MPI_Comm comm, int words, bool one_host) {
        int rank = 0;
        check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
        const MPI_Aint bytes = rank == home ? words * word_bytes : 0;
        auto unit = static_cast<int>(word_bytes);
        std::int64_t* memory = nullptr;
        if (one_host) {
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
        if (rank == home) {
            std::fill_n(memory, words, std::int64_t{0});
            check_mpi(MPI_Win_sync(window_), "MPI_Win_sync");
        }
        check_mpi(MPI_Barrier(comm), "MPI_Barrier");  // nobody reads what is not set yet
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

/// All ranks on one host: an access is an atomic instruction of the rank that makes it. MPI's own operations would need
/// `home`'s help there: MPICH 4.0 leaves them undone until `home` calls MPI, and Open MPI 4.1 emulates atomic ones by
/// messages outside shared windows, where its compare-and-swap crashes.
class WordsOfHost final : public RemoteWords {
public:
    explicit WordsOfHost(std::unique_ptr<Window> window) : window_(std::move(window)) {}

    std::int64_t compare_and_swap(int word, std::int64_t expected, std::int64_t desired) override {
        at(word).compare_exchange_strong(expected, desired);
        return expected;
    }
    std::int64_t fetch_and_add(int word, std::int64_t addend) override { return at(word).fetch_add(addend); }
    void load(int first, std::span<std::int64_t> values) override {
        for (std::int64_t& value : values) value = at(first++).load();
    }
    void store(int word, std::int64_t value) override { at(word).store(value); }

private:
    using Atomic = std::atomic_ref<std::int64_t>;
    static_assert(Atomic::is_always_lock_free, "a lock of one process does not guard another's access");

    Atomic at(int word) const { return Atomic(window_->shared()[static_cast<std::size_t>(word)]); }

    std::unique_ptr<Window> window_;
};

/// Ranks on several hosts: MPI's one-sided operations.
class WordsAcrossHosts final : public RemoteWords {
public:
    explicit WordsAcrossHosts(std::unique_ptr<Window> window) : window_(std::move(window)) {}

    std::int64_t compare_and_swap(int word, std::int64_t expected, std::int64_t desired) override {
        std::int64_t found = 0;
        check_mpi(MPI_Compare_and_swap(&desired, &expected, &found, MPI_INT64_T, home, word, window_->get()),
                  "MPI_Compare_and_swap");
        window_->flush();
        return found;
    }
    std::int64_t fetch_and_add(int word, std::int64_t addend) override {
        std::int64_t found = 0;
        check_mpi(MPI_Fetch_and_op(&addend, &found, MPI_INT64_T, home, word, MPI_SUM, window_->get()),
                  "MPI_Fetch_and_op");
        window_->flush();
        return found;
    }
    void load(int first, std::span<std::int64_t> values) override {
        const auto count = mpi_count(std::ssize(values), "MPI_Get");
        check_mpi(MPI_Get(values.data(), count, MPI_INT64_T, home, first, count, MPI_INT64_T, window_->get()),
                  "MPI_Get");
        window_->flush();
    }
    void store(int word, std::int64_t value) override {
        check_mpi(MPI_Put(&value, 1, MPI_INT64_T, home, word, 1, MPI_INT64_T, window_->get()), "MPI_Put");
        window_->flush();
    }

private:
    std::unique_ptr<Window> window_;
};

}  // namespace

std::unique_ptr<RemoteWords> words_in_window(MPI_Comm comm, int count, bool one_host, bool in_place) {
    auto window = std::make_unique<Window>(comm, count, one_host);
    if (one_host && in_place) return std::make_unique<WordsOfHost>(std::move(window));
    return std::make_unique<WordsAcrossHosts>(std::move(window));
}

}  // namespace gnnbench
