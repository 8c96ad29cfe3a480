#pragma once
#include <algorithm>
#include <memory>

#include <gnnbench/batches/processes.hpp>

#include "core/host_span.hpp"

namespace gnnbench::workers {

inline constexpr std::int64_t word_bytes = 8;
inline constexpr int home = 0;  ///< the rank whose memory has the words

/// Counts and times each access.
class CountedWords : public SharedWords {
public:
    explicit CountedWords(Rank rank) : rank_(rank) {}

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
        sleep((1 << std::min(attempt, 10)) * 1e-6);
    }

    virtual std::int64_t swapped(Word word, std::int64_t expected, std::int64_t desired) = 0;
    virtual std::int64_t added(Word word, std::int64_t addend) = 0;
    virtual void get(Word first, std::span<std::int64_t> values) = 0;
    virtual void put(Word word, std::int64_t value) = 0;
    virtual void sleep(double seconds) = 0;

    HostSpan accessed(const Traffic& t, const char* operation) {
        rank_.world.count(CommOp::one_sided, Content::metadata, t);
        return {rank_.backend.trace(), Phase::comm, operation, t.sent_bytes + t.received_bytes, 2};
    }

    Rank rank_;
};

/// Counts and times each exchange.
class CountedPairs : public PairwiseExchange {
public:
    explicit CountedPairs(Rank rank) : rank_(rank) {}

private:
    void do_exchange(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) final {
        const auto bytes = static_cast<std::int64_t>(mine.size_bytes());
        rank_.world.count(CommOp::point_to_point, Content::metadata, {bytes, bytes, 1});
        const HostSpan timed(rank_.backend.trace(), Phase::wait, "partner", 2 * bytes, 2);
        meet(partner, mine, theirs);
    }
    virtual void meet(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) = 0;

    Rank rank_;
};

/// Where ranks take turns in one process. Collective.
std::unique_ptr<SharedWords> make_words_of_turns(Rank rank, int words);
std::unique_ptr<PairwiseExchange> make_pairs_of_turns(Rank rank);

}  // namespace gnnbench::workers
