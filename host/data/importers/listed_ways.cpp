#include <data/importers/listed_ways.hpp>

#include <algorithm>

namespace gnnbench {

namespace {

constexpr std::uint64_t pair_of(std::uint64_t listed) { return listed >> 1; }

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
std::uint64_t hash_of(std::uint64_t pair) {
    pair = (pair ^ (pair >> 30)) * 0xbf58476d1ce4e5b9;
    pair = (pair ^ (pair >> 27)) * 0x94d049bb133111eb;
    return pair ^ (pair >> 31);
}

}  // namespace

void ListedWays::add(std::int32_t u, std::int32_t v) {
    if (u == v) return;
    const auto [least, most] = std::minmax(u, v);
    const std::uint64_t listed = std::uint64_t(least) << 32 | std::uint64_t(most) << 1 | (u > v ? 1 : 0);
    if (hash_of(pair_of(listed)) > largest_hash_) return;
    listed_.push_back(listed);
    if (listed_.size() == 2 * most_pairs_) compact();
}

void ListedWays::compact() {
    std::ranges::sort(listed_);
    listed_.erase(std::ranges::unique(listed_).begin(), listed_.end());
    while (listed_.size() > most_pairs_) {
        largest_hash_ /= 2;
        std::erase_if(listed_, [&](std::uint64_t l) { return hash_of(pair_of(l)) > largest_hash_; });
    }
}

Ways ListedWays::ways() {
    compact();
    bool once = false, both = false;
    for (std::size_t i = 0; i < listed_.size(); ++i) {
        const bool twice = i + 1 < listed_.size() && pair_of(listed_[i]) == pair_of(listed_[i + 1]);
        (twice ? both : once) = true;
        if (twice) ++i;
    }
    return once && both ? Ways::mixed : both ? Ways::both : once ? Ways::once : Ways::none;
}

}  // namespace gnnbench
