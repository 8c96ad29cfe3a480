#include <gnnbench/batches/shared_words.hpp>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench::workers {

SharedWords::~SharedWords() = default;
PairwiseExchange::~PairwiseExchange() = default;

void Lock::lock() {
    for (int attempt = 1;; ++attempt) {
        const std::int64_t owner = words_.compare_and_swap(word_, 0, mine_);
        if (owner == 0) return;
        if (owner == mine_)
            throw LogicError(
                fmt::format("worker {} locks word {} again, which it holds", mine_ - 1, index(word_)));
        ++retries_;
        words_.back_off(attempt);
    }
}

void Lock::unlock() {
    const std::int64_t owner = words_.compare_and_swap(word_, mine_, 0);
    if (owner != mine_)
        throw LogicError(fmt::format("worker {} unlocks word {}, which {}", mine_ - 1, index(word_),
                                     owner == 0 ? "is free" : fmt::format("worker {} holds", owner - 1)));
}

std::optional<std::int64_t> WorkPool::take() {
    const std::int64_t item = words_.fetch_and_add(next_, 1);
    if (item >= items_) return std::nullopt;
    return item;
}

}  // namespace gnnbench::workers
