#include <gnnbench/training/sharded_loss.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include <gnnbench/training/stated_volume.hpp>

namespace gnnbench {

ShardedLoss::ShardedLoss(Kernel& kernel, Communicator& class_group, Communicator& holders, std::int64_t rows,
                         std::int64_t classes)
    : kernel_(kernel),
      class_group_(class_group),
      holders_(holders),
      rows_(rows),
      classes_(classes),
      maxima_(kernel.matrix(rows, 1)),
      sums_(kernel.matrix(rows, 1)),
      loss_(kernel.upload(std::span<const double>(std::array{0.0}))) {}

void ShardedLoss::start(ConstMatrixView logits, const LossInput& in, MatrixView grad) {
    // m ← max over all classes
    kernel_.row_maxima(logits, maxima_);
    class_group_.all_reduce_now(maxima_, ReduceOp::maximum);
    // s ← Σ over all classes of exp(z − m)
    kernel_.row_exp_sums(logits, maxima_, sums_);
    class_group_.all_reduce_now(sums_);
    kernel_.softmax_cross_entropy_shard(logits, maxima_, sums_, first_class(), in, grad, loss_.data());
    summed_ = holders_.all_reduce_scalars(loss_.data(), 1);
}

double ShardedLoss::value() {
    kernel_.wait(StreamRole::compute, summed_);
    summed_ = {};
    double loss = 0;
    kernel_.download_bytes(loss_.data(), &loss, sizeof loss);
    return loss;
}

Matrix ShardedLoss::whole_rows(ConstMatrixView logits) {
    // Gathered shard after shard, then laid side by side.
    Matrix shards = kernel_.matrix(rows_ * classes_, 1), whole = kernel_.matrix(rows_, classes_);
    const auto part = [&](int k) {
        const std::int64_t first = block_begin(classes_, class_group_.size(), k);
        const std::int64_t count = block_size(classes_, class_group_.size(), k);
        return shards.view().rows_from(first * rows_, count * rows_).reshaped(rows_, count);
    };
    kernel_.copy(logits, part(class_group_.rank()));
    std::vector<std::int64_t> counts;
    for (int k = 0; k < class_group_.size(); ++k)
        counts.push_back(rows_ * block_size(classes_, class_group_.size(), k));
    class_group_.all_gather_now(shards, counts);
    for (int k = 0; k < class_group_.size(); ++k) {
        const MatrixView from = part(k);
        kernel_.copy(from, whole.view().cols_from(block_begin(classes_, class_group_.size(), k), from.cols));
    }
    return whole;
}

Accuracy ShardedLoss::accuracy(ConstMatrixView logits, const LossInput& in) {
    const Matrix whole = whole_rows(logits);
    // Correct and total of each split; a row is counted by the first rank of its class group alone.
    std::array<std::int64_t, 6> counts{};
    const Array<std::int64_t> device_counts = kernel_.upload(std::span<const std::int64_t>(counts));
    if (class_group_.rank() == 0) {
        kernel_.count_correct(whole, in, device_counts.data());
        kernel_.download_bytes(device_counts.data(), counts.data(), sizeof counts);
    }
    std::array<double, 6> sums{};
    std::copy(counts.begin(), counts.end(), sums.begin());
    const Array<double> device_sums = kernel_.upload(std::span<const double>(sums));
    holders_.all_reduce_scalars_now(device_sums.data(), 6);
    kernel_.download_bytes(device_sums.data(), sums.data(), sizeof sums);
    Accuracy a;
    for (std::size_t s = 0; s < 3; ++s)
        a.of[s] = sums[2 * s + 1] > 0 ? sums[2 * s] / sums[2 * s + 1] : std::numeric_limits<double>::quiet_NaN();
    return a;
}

void ShardedLoss::state_memory(MemoryStatement& m, std::int64_t rows) {
    m.matrix(rows, 2);  // maxima and sums
    m.list<double>(1);
}

Volume ShardedLoss::volume(std::int64_t rows, int class_ranks, int class_rank, int holder_ranks, int holder_rank,
                           std::int64_t element_bytes) {
    VolumeStatement v(element_bytes);
    for (int vector = 0; vector < 2; ++vector) v.all_reduce(rows, class_ranks, class_rank);  // maxima, sums
    v.all_reduce_scalars(1, holder_ranks, holder_rank);
    return v.total();
}

}  // namespace gnnbench
