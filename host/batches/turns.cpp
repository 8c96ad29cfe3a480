// Shared words and meetings of ranks that take turns in one process: words are memory, time is the ranks' own.
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

#include "batches/counted.hpp"

namespace gnnbench::workers {
namespace {

/// What the first rank of the group has made, on all of them. Collective.
template <class T>
std::shared_ptr<T> shared(const ProcessGroup& group, std::shared_ptr<T> made) {
    void* first = &made;
    group.broadcast(static_cast<void*>(&first), sizeof first, home);
    std::shared_ptr<T> mine = *static_cast<const std::shared_ptr<T>*>(first);
    group.barrier();  // until all have their copy, the first rank's must stay where it is
    return mine;
}

class WordsOfTurns final : public CountedWords {
public:
    WordsOfTurns(Rank rank, int words)
        : CountedWords(rank),
          turns_(*rank.processes.turns()),
          words_(shared(rank.processes, std::make_shared<std::vector<std::int64_t>>(usize(words)))) {}

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

/// Of all ranks: what one has given another and the other has not taken, and who waits for whom.
struct Meetings {
    explicit Meetings(int ranks) : waits_for(usize(ranks), -1) {}
    std::map<std::pair<int, int>, std::deque<std::vector<std::int64_t>>> given;  ///< by giver and taker
    std::vector<int> waits_for;
};

class PairsOfTurns final : public CountedPairs {
public:
    explicit PairsOfTurns(Rank rank)
        : CountedPairs(rank),
          turns_(*rank.processes.turns()),
          me_(rank.processes.rank()),
          meetings_(shared(rank.processes, std::make_shared<Meetings>(rank.processes.size()))) {}

private:
    void meet(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) override {
        turns_.in_order();
        meetings_->given[{me_, partner}].emplace_back(mine.begin(), mine.end());
        if (meetings_->waits_for[usize(partner)] == me_) turns_.wake(partner);
        auto& from_partner = meetings_->given[{partner, me_}];
        if (from_partner.empty()) {
            meetings_->waits_for[usize(me_)] = partner;
            turns_.wait(fmt::format("worker {} to exchange words", partner));
            meetings_->waits_for[usize(me_)] = -1;
        }
        std::ranges::copy(from_partner.front(), theirs.begin());
        from_partner.pop_front();
        turns_.pass(turns_.reach_s(partner) / 2);
    }

    Turns& turns_;
    int me_;
    std::shared_ptr<Meetings> meetings_;
};

}  // namespace

std::unique_ptr<SharedWords> make_words_of_turns(Rank rank, int words) {
    return std::make_unique<WordsOfTurns>(rank, words);
}
std::unique_ptr<PairwiseExchange> make_pairs_of_turns(Rank rank) { return std::make_unique<PairsOfTurns>(rank); }

}  // namespace gnnbench::workers
