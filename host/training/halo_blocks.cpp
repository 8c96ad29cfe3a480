#include <algorithm>
#include <numeric>

#include <gnnbench/training/halo.hpp>
#include <gnnbench/usize.hpp>

#include "training/block_counts.hpp"

namespace gnnbench {

HaloBlocks::HaloBlocks(const Adjacency& a, const IndexMap& index, Part i, Direction d, const HoldsBlock& holds,
                       Backend& backend)
    : backend_(backend), threads_(a.threads()) {
    if (!sparsity_of(a).has_entries()) {
        take_sizes(a, index, i, holds);
        return;
    }
    halo_ = make_halo(a, index, i, d, holds);
    for (const auto& rows : halo_->needed) needed_.push_back(std::ssize(rows));
    for (const auto& rows : halo_->sent) sent_.push_back(std::ssize(rows));
}

/// Matrices without entries are symmetric, so both directions are alike.
void HaloBlocks::take_sizes(const Adjacency& a, const IndexMap& index, Part i, const HoldsBlock& holds) {
    const BlockCounts counts(a, index, i);
    const auto nonzeros = counted_blocks(a, {index}, {index});
    const std::int64_t rows = index.size(i);
    own_ = {rows, rows, holds(i) ? nonzeros->at(i, i) : 0};
    remote_.rows = rows;
    for (Part j = 0; j < index.parts(); ++j) {
        const bool other = j != i;
        needed_.push_back(other && holds(j) ? counts.nonzero_columns(i, j) : 0);
        sent_.push_back(other && holds(i) ? counts.nonzero_columns(j, i) : 0);
        // Each is rounded by itself: a column that is needed has an entry.
        nonzeros_.push_back(needed_.back() > 0 ? std::max(nonzeros->at(i, j), needed_.back()) : 0);
        remote_.cols += needed_.back();
        remote_.nonzeros += nonzeros_.back();
    }
}

std::int64_t HaloBlocks::needed_rows() const { return std::reduce(needed_.begin(), needed_.end()); }
std::int64_t HaloBlocks::sent_rows() const { return std::reduce(sent_.begin(), sent_.end()); }

Array<std::int32_t> HaloBlocks::sent_list(Part j) const {
    if (halo_) return backend_.upload(std::span<const std::int32_t>(halo_->sent[usize(j)]));
    const std::int64_t rows = sent_[usize(j)];
    return {backend_.allocate(usize(rows) * sizeof(std::int32_t)), rows};
}

namespace {

SparseSize transposed(const SparseSize& a) { return {a.cols, a.rows, a.nonzeros}; }

}  // namespace

std::unique_ptr<PreparedMatrix> HaloBlocks::own() const {
    return halo_ ? backend_.prepare(halo_->own) : backend_.prepare(own_);
}
std::unique_ptr<PreparedMatrix> HaloBlocks::own_transposed() const {
    return halo_ ? backend_.prepare(gnnbench::transposed(halo_->own, threads_))
                 : backend_.prepare(transposed(own_));
}
std::unique_ptr<PreparedMatrix> HaloBlocks::remote() const {
    return halo_ ? backend_.prepare(halo_->remote) : backend_.prepare(remote_);
}
std::unique_ptr<PreparedMatrix> HaloBlocks::remote_transposed() const {
    return halo_ ? backend_.prepare(gnnbench::transposed(halo_->remote, threads_))
                 : backend_.prepare(transposed(remote_));
}
void HaloBlocks::each_block(const std::function<void(Part, std::unique_ptr<PreparedMatrix>)>& use) const {
    if (halo_) return halo_->each_block([&](Part j, const Csr& block) { use(j, backend_.prepare(block)); });
    for (std::size_t j = 0; j < needed_.size(); ++j)
        if (needed_[j] > 0)
            use(static_cast<Part>(j), backend_.prepare(SparseSize{own_.rows, needed_[j], nonzeros_[j]}));
}

}  // namespace gnnbench
