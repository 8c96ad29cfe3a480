#include <gnnbench/batches/processes.hpp>

#include <chrono>
#include <thread>
#include <utility>

#include "batches/counted.hpp"

namespace gnnbench::workers {
namespace {

class WordsOfProcesses final : public CountedWords {
public:
    WordsOfProcesses(Rank rank, std::unique_ptr<RemoteWords> words)
        : CountedWords(rank), words_(std::move(words)) {}

private:
    std::int64_t swapped(Word word, std::int64_t expected, std::int64_t desired) override {
        return words_->compare_and_swap(index(word), expected, desired);
    }
    std::int64_t added(Word word, std::int64_t addend) override {
        return words_->fetch_and_add(index(word), addend);
    }
    void get(Word first, std::span<std::int64_t> values) override { words_->load(index(first), values); }
    void put(Word word, std::int64_t value) override { words_->store(index(word), value); }
    void sleep(double seconds) override { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

    std::unique_ptr<RemoteWords> words_;
};

class PairsOfProcesses final : public CountedPairs {
public:
    // A group of its own, so that its messages never match others.
    explicit PairsOfProcesses(Rank rank)
        : CountedPairs(rank), group_(rank.processes.split(0, rank.processes.rank())) {}

private:
    void meet(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) override {
        group_.trade(partner, mine, theirs);
    }

    ProcessGroup group_;
};

}  // namespace

std::unique_ptr<SharedWords> make_shared_words(Rank rank, int words, WordAccess access) {
    if (rank.processes.turns()) return make_words_of_turns(rank, words);
    return std::make_unique<WordsOfProcesses>(
        rank, rank.processes.remote_words(words, access == WordAccess::by_placement));
}

std::unique_ptr<PairwiseExchange> make_pairwise_exchange(Rank rank) {
    if (rank.processes.turns()) return make_pairs_of_turns(rank);
    return std::make_unique<PairsOfProcesses>(rank);
}

}  // namespace gnnbench::workers
