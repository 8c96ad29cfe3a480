// Shared words and meetings of ranks that take turns in one process: words are memory, time is the ranks' own.
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include <gnnbench/usize.hpp>

#include "batches/counted.hpp"
#include "core/of_first_rank.hpp"

namespace gnnbench::workers {
namespace {

class WordsOfTurns final : public CountedWords {
public:
    WordsOfTurns(Rank rank, int words)
        : CountedWords(rank),
          turns_(*rank.processes.turns()),
          words_(of_first_rank(rank.processes, std::make_shared<std::vector<std::int64_t>>(usize(words)))) {}

private:
    std::int64_t& at(Word word) { return words_->at(usize(index(word))); }
    /// An access is made half way through its time.
    template <class Access>
    void access(Access&& access) {
        turns_.pass(turns_.reach_s(home) / 2);
        turns_.in_order();
        access();
        turns_.pass(turns_.reach_s(home) / 2);
    }

    std::int64_t swapped(Word word, std::int64_t expected, std::int64_t desired) override {
        std::int64_t found = 0;
        access([&] {
            found = at(word);
            if (found == expected) at(word) = desired;
        });
        return found;
    }
    std::int64_t added(Word word, std::int64_t addend) override {
        std::int64_t found = 0;
        access([&] { found = std::exchange(at(word), at(word) + addend); });
        return found;
    }
    void get(Word first, std::span<std::int64_t> values) override {
        access([&] {
            for (int i = 0; std::int64_t& value : values) value = at(first + i++);
        });
    }
    void put(Word word, std::int64_t value) override {
        access([&] { at(word) = value; });
    }
    void sleep(double seconds) override { turns_.pass(seconds); }

    Turns& turns_;
    std::shared_ptr<std::vector<std::int64_t>> words_;
};

class PairsOfTurns final : public CountedPairs {
public:
    // A group of its own, so that its letters never match others.
    explicit PairsOfTurns(Rank rank)
        : CountedPairs(rank), group_(rank.processes.split(0, rank.processes.rank())), turns_(*group_.turns()) {}

private:
    void meet(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) override {
        const Turns::Key key{.number = met_[partner]++};
        const auto bytes = std::as_bytes(mine);
        turns_.in_order();
        turns_.post(partner, key, std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end()));
        const Turns::Letter letter = turns_.collect(partner, key);
        std::memcpy(theirs.data(), letter->data(), letter->size());
        turns_.pass(turns_.reach_s(partner) / 2);
    }

    ProcessGroup group_;
    Turns& turns_;
    std::map<int, std::uint64_t> met_;  ///< by partner, how often
};

}  // namespace

std::unique_ptr<SharedWords> make_words_of_turns(Rank rank, int words) {
    return std::make_unique<WordsOfTurns>(rank, words);
}
std::unique_ptr<PairwiseExchange> make_pairs_of_turns(Rank rank) { return std::make_unique<PairsOfTurns>(rank); }

}  // namespace gnnbench::workers
