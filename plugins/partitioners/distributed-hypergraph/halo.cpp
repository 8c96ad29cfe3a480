#include "halo.hpp"

namespace gnnbench::distributed {

void IdSet::index() {
    before_.resize(bits_.size());
    Id count = 0;
    for (std::size_t i = 0; i < bits_.size(); ++i) {
        before_[i] = count;
        count += static_cast<Id>(std::popcount(bits_[i]));
    }
}

std::vector<Id> IdSet::listed() const {
    std::vector<Id> ids;
    for (std::size_t i = 0; i < bits_.size(); ++i)
        for (std::uint64_t left = bits_[i]; left != 0; left &= left - 1)
            ids.push_back(static_cast<Id>(i * 64) + static_cast<Id>(std::countr_zero(left)));
    return ids;
}

Halo::Halo(const Ranks& ranks, std::vector<std::int64_t> first, std::vector<Id> ghosts)
    : own_first_(static_cast<Id>(first[usize(ranks.rank())])),
      owned_(static_cast<Id>(first[usize(ranks.rank()) + 1]) - own_first_) {
    Lists lists{.first = std::move(first), .ghosts = std::move(ghosts), .run = {}, .copies = {}};
    Mail<Id> wanted(usize(ranks.count()));
    auto ghost = lists.ghosts.begin();
    for (std::size_t r = 0; r < wanted.size(); ++r) {
        lists.run.push_back(static_cast<Id>(ghost - lists.ghosts.begin()));
        const auto end = std::lower_bound(ghost, lists.ghosts.end(), lists.first[r + 1]);
        wanted[r].assign(ghost, end);
        ghost = end;
    }
    lists.run.push_back(static_cast<Id>(lists.ghosts.size()));
    const Received<Id> in = ranks.exchange(wanted);
    for (int r = 0; r < ranks.count(); ++r) {
        const auto globals = in.from(r);
        lists.copies.emplace_back(globals.begin(), globals.end());
        for (Id& id : lists.copies.back()) id -= own_first_;
    }
    lists_ = std::make_shared<const Lists>(std::move(lists));
}

}  // namespace gnnbench::distributed
