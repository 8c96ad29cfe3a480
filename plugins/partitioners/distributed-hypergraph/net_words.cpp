#include "net_words.hpp"

#include <algorithm>

namespace gnnbench::distributed {

void NetWords::set(Id net, std::span<const std::uint32_t> words) {
    Place& place = place_[net];
    const auto length = static_cast<std::uint32_t>(words.size());
    if (length > place.room) {
        unused_ += place.room;
        place = {pool_.size(), length, length};
        // Twice the room, as a vector takes it, would be more than all else that a rank has of its nets.
        if (pool_.size() + length > pool_.capacity())
            pool_.reserve(pool_.size() + pool_.size() / 8 + 1024 + length);
        pool_.insert(pool_.end(), words.begin(), words.end());
        if (unused_ > pool_.size() / 4) compact();
        return;
    }
    std::ranges::copy(words, pool_.begin() + static_cast<std::ptrdiff_t>(place.first));
    place.length = length;
}

void NetWords::compact() {
    std::size_t used = 0;
    for (const Place& p : place_) used += p.length;
    std::vector<std::uint32_t> packed;
    packed.reserve(used);
    for (Place& p : place_) {
        const auto begin = pool_.begin() + static_cast<std::ptrdiff_t>(p.first);
        p = {packed.size(), p.length, p.length};
        packed.insert(packed.end(), begin, begin + p.length);
    }
    pool_ = std::move(packed);
    unused_ = 0;
}

}  // namespace gnnbench::distributed
