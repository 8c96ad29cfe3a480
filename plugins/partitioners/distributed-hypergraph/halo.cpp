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
    : first_(std::move(first)),
      own_first_(static_cast<Id>(first_[usize(ranks.rank())])),
      owned_(static_cast<Id>(first_[usize(ranks.rank()) + 1]) - own_first_),
      ghosts_(std::move(ghosts)),
      run_(usize(ranks.count()) + 1),
      copies_(usize(ranks.count())) {
    Mail<Id> wanted(copies_.size());
    std::size_t at = 0;
    for (std::size_t r = 0; r < wanted.size(); ++r) {
        run_[r] = static_cast<Id>(at);
        while (at < ghosts_.size() && ghosts_[at] < first_[r + 1]) wanted[r].push_back(ghosts_[at++]);
    }
    run_.back() = static_cast<Id>(ghosts_.size());
    const Received<Id> in = ranks.exchange(wanted);
    for (int r = 0; r < ranks.count(); ++r)
        for (const Id global : in.from(r)) copies_[usize(r)].push_back(global - own_first_);
}

}  // namespace gnnbench::distributed
