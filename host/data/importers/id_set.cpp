#include <data/importers/id_set.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <iterator>

#include <gnnbench/usize.hpp>

namespace gnnbench {

namespace {

constexpr std::uint64_t word_bytes = sizeof(std::uint64_t) + sizeof(std::uint32_t);  // and the members before it

std::int64_t largest_of(std::span<const std::int64_t> ids) {
    std::int64_t largest = -1;
#pragma omp parallel for reduction(max : largest)
    for (std::size_t i = 0; i < ids.size(); ++i) largest = std::max(largest, ids[i]);
    return largest;
}

}  // namespace

bool IdSet::insert(std::span<const std::int64_t> ids) {
    if (!listed_) {
        const std::uint64_t needed = usize(largest_of(ids) / 64 + 1);
        if (needed <= most_bytes_ / word_bytes) {
            if (needed > words_.size())
                words_.resize(usize(
                    std::min(std::max<std::uint64_t>(needed, words_.size() / 2 * 3), most_bytes_ / word_bytes)));
            insert_bits(ids);
            return true;
        }
        list_bits();
    }
    const std::size_t most_pending = std::max<std::size_t>(usize(most_bytes_ / 64), 64);
    for (std::size_t begin = 0; begin < ids.size();) {
        const std::size_t take = std::min(ids.size() - begin, most_pending - pending_.size());
        pending_.insert(pending_.end(), ids.begin() + static_cast<std::ptrdiff_t>(begin),
                        ids.begin() + static_cast<std::ptrdiff_t>(begin + take));
        begin += take;
        if (pending_.size() == most_pending && !insert_pending()) return false;
    }
    return true;
}

void IdSet::insert_bits(std::span<const std::int64_t> ids) {
#pragma omp parallel for
    for (std::size_t i = 0; i < ids.size(); ++i) {
        std::atomic_ref<std::uint64_t> word(words_[usize(ids[i] >> 6)]);
        const std::uint64_t bit = std::uint64_t{1} << (ids[i] & 63);
        if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
    }
}

void IdSet::list_bits() {
    listed_ = true;
    for (std::size_t w = 0; w < words_.size(); ++w)
        for (std::uint64_t word = words_[w]; word != 0; word &= word - 1)
            list_.push_back(static_cast<std::int64_t>(w * 64) + std::countr_zero(word));
    words_ = {};
}

bool IdSet::insert_pending() {
    std::ranges::sort(pending_);
    pending_.erase(std::ranges::unique(pending_).begin(), pending_.end());
    std::vector<std::int64_t> fresh;
    std::ranges::set_difference(pending_, list_, std::back_inserter(fresh));
    pending_.clear();
    if ((list_.size() + fresh.size()) * sizeof(std::int64_t) > most_bytes_) return false;
    const auto middle = static_cast<std::ptrdiff_t>(list_.size());
    list_.insert(list_.end(), fresh.begin(), fresh.end());
    std::inplace_merge(list_.begin(), list_.begin() + middle, list_.end());
    return true;
}

bool IdSet::count() {
    if (listed_) {
        if (!insert_pending()) return false;
        pending_ = {};
        size_ = std::ssize(list_);
        return true;
    }
    before_.reserve(words_.size());
    for (const std::uint64_t word : words_) {
        before_.push_back(static_cast<std::uint32_t>(size_));
        size_ += std::popcount(word);
    }
    return true;
}

std::int64_t IdSet::rank(std::int64_t id) const {
    if (listed_) return std::ranges::lower_bound(list_, id) - list_.begin();
    const auto at = usize(id >> 6);
    return before_[at] + std::popcount(words_[at] & ((std::uint64_t{1} << (id & 63)) - 1));
}

std::uint64_t IdSet::bytes() const {
    return words_.size() * word_bytes + (list_.capacity() + pending_.capacity()) * sizeof(std::int64_t);
}

}  // namespace gnnbench
