#pragma once
#include <cstdint>
#include <optional>
#include <span>

/// What independent workers share and how they meet: words with atomic operations, on them locks and a pool of work,
/// and an exchange between two.

namespace gnnbench::workers {

/// Position of a word of 64 bits among those of one run; {0 … words − 1}. All words are 0 at the start.
enum class Word : std::int32_t {};

constexpr Word operator+(Word first, int offset) { return Word{static_cast<std::int32_t>(first) + offset}; }
constexpr std::int32_t index(Word word) { return static_cast<std::int32_t>(word); }

/// One worker's access to the words that all workers share. An implementation decides where they are; none of its
/// calls needs another worker to make one. Any call may throw, CommunicationError for example: the protocol then ends
/// without freeing its locks, because the trial has failed.
class SharedWords {
public:
    virtual ~SharedWords();

    /// Sets the word to `desired` if it is `expected`. Returns what it was. Atomic. Everything that a worker did
    /// before a call is seen by the worker whose compare_and_swap of the same word finds its result.
    std::int64_t compare_and_swap(Word word, std::int64_t expected, std::int64_t desired) {
        return do_compare_and_swap(word, expected, desired);
    }
    /// Returns what the word was before `addend` was added. Atomic.
    std::int64_t fetch_and_add(Word word, std::int64_t addend) { return do_fetch_and_add(word, addend); }

    /// The words {first … first + values.size() − 1}. Neither load nor store is atomic: the caller holds the lock that
    /// guards the words.
    void load(Word first, std::span<std::int64_t> values) { do_load(first, values); }
    std::int64_t load(Word word) {
        std::int64_t value = 0;
        do_load(word, {&value, 1});
        return value;
    }
    void store(Word word, std::int64_t value) { do_store(word, value); }

    /// Waits before another attempt, longer after more of them (attempt = 1, 2, …), without keeping a core busy.
    void back_off(int attempt) { do_back_off(attempt); }

private:
    virtual std::int64_t do_compare_and_swap(Word word, std::int64_t expected, std::int64_t desired) = 0;
    virtual std::int64_t do_fetch_and_add(Word word, std::int64_t addend) = 0;
    virtual void do_load(Word first, std::span<std::int64_t> values) = 0;
    virtual void do_store(Word word, std::int64_t value) = 0;
    virtual void do_back_off(int attempt) = 0;
};

/// A lock in a word: 0 is free, w + 1 is held by worker w. Taken by compare-and-swap and back-off, not first come first
/// served. Freed only by unlock(): an error between the two fails the trial, and leaves the word naming its owner.
class Lock {
public:
    /// `words` outlives the lock.
    Lock(SharedWords& words, Word word, int worker) : words_(words), word_(word), mine_(worker + 1) {}
    /// Throws LogicError where this worker holds it already.
    void lock();
    /// Throws LogicError where this worker does not hold it.
    void unlock();
    /// How often lock() had to try again, in all.
    std::int64_t retries() const { return retries_; }

private:
    SharedWords& words_;
    Word word_;
    std::int64_t mine_;
    std::int64_t retries_ = 0;
};

/// The work pool: items {0 … items − 1}, each handed out once, in order. Taking one is a single fetch_and_add,
/// whether or not there is one left.
class WorkPool {
public:
    /// `next` is the shared word that counts what was asked for. `words` outlives the pool.
    WorkPool(SharedWords& words, Word next, std::int64_t items) : words_(words), next_(next), items_(items) {}
    /// Empty once all items are taken.
    std::optional<std::int64_t> take();

private:
    SharedWords& words_;
    Word next_;
    std::int64_t items_;
};

/// Two workers that name each other exchange a few words. Serves as their barrier, too.
class PairwiseExchange {
public:
    virtual ~PairwiseExchange();
    /// Blocks, without keeping a core busy, until `partner` calls exchange with this worker; then each has what the
    /// other gave. Both spans have the same length on both sides. Exchanges of one pair are matched in order.
    void exchange(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) {
        do_exchange(partner, mine, theirs);
    }

private:
    virtual void do_exchange(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) = 0;
};

}  // namespace gnnbench::workers
