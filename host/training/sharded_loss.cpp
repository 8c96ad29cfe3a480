#include <gnnbench/training/sharded_loss.hpp>

#include <array>
#include <vector>

#include <gnnbench/training/loss.hpp>
#include <gnnbench/training/stated_volume.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

ShardedLoss::ShardedLoss(Backend& backend, Communicator& class_group, Communicator& holders, std::int64_t rows,
                         std::int64_t classes, bool multi_label)
    : backend_(backend),
      class_group_(class_group),
      holders_(holders),
      rows_(rows),
      classes_(classes),
      multi_label_(multi_label),
      maxima_(multi_label ? Matrix() : backend.matrix(rows, 1)),
      sums_(multi_label ? Matrix() : backend.matrix(rows, 1)),
      loss_(backend.upload(std::span<const double>(std::array{0.0}))) {}

void ShardedLoss::start(ConstMatrixView logits, const LossInput& in, MatrixView grad) {
    require(in.multi_label == multi_label_, "the loss was made for the other kind of labels");
    if (multi_label_) {
        backend_.binary_cross_entropy(logits, in, grad, loss_.data());
    } else {
        // m ← max over all classes
        backend_.row_maxima(logits, maxima_);
        class_group_.all_reduce_now(maxima_, ReduceOp::maximum);
        // s ← Σ over all classes of exp(z − m)
        backend_.row_exp_sums(logits, maxima_, sums_);
        class_group_.all_reduce_now(sums_);
        backend_.softmax_cross_entropy_shard(logits, maxima_, sums_, first_class(), in, grad, loss_.data());
    }
    summed_ = holders_.all_reduce_scalars(loss_.data(), 1);
}

double ShardedLoss::value() {
    backend_.wait(StreamRole::compute, summed_);
    summed_ = {};
    double loss = 0;
    backend_.download_bytes(loss_.data(), &loss, sizeof loss);
    return loss;
}

Matrix ShardedLoss::whole_rows(ConstMatrixView logits) {
    // Gathered shard after shard, then laid side by side.
    Matrix shards = backend_.matrix(rows_ * classes_, 1), whole = backend_.matrix(rows_, classes_);
    const auto part = [&](int k) {
        const std::int64_t first = block_begin(classes_, class_group_.size(), k);
        const std::int64_t count = block_size(classes_, class_group_.size(), k);
        return shards.view().rows_from(first * rows_, count * rows_).reshaped(rows_, count);
    };
    backend_.copy(logits, part(class_group_.rank()));
    std::vector<std::int64_t> counts;
    for (int k = 0; k < class_group_.size(); ++k)
        counts.push_back(rows_ * block_size(classes_, class_group_.size(), k));
    class_group_.all_gather_now(shards, counts);
    for (int k = 0; k < class_group_.size(); ++k) {
        const MatrixView from = part(k);
        backend_.copy(from, whole.view().cols_from(block_begin(classes_, class_group_.size(), k), from.cols));
    }
    return whole;
}

Score ShardedLoss::score(ConstMatrixView logits, const LossInput& in) {
    const std::int64_t numbers = score_counts(multi_label_);
    const std::vector<std::int64_t> none(usize(numbers));
    const Array<std::int64_t> counts = backend_.upload(std::span<const std::int64_t>(none));
    std::vector<double> sums(usize(numbers));
    if (multi_label_) {
        sums = count_score(backend_, logits, in, counts.data());
    } else {
        // A row is counted by the first rank of its class group alone.
        const Matrix whole = whole_rows(logits);
        if (class_group_.rank() == 0) sums = count_score(backend_, whole, in, counts.data());
    }
    const Array<double> device_sums = backend_.upload(std::span<const double>(sums));
    holders_.all_reduce_scalars_now(device_sums.data(), numbers);
    backend_.download_bytes(device_sums.data(), sums.data(), sums.size() * sizeof(double));
    return score_of(multi_label_, sums);
}

void ShardedLoss::state_memory(MemoryStatement& m, std::int64_t rows, bool multi_label) {
    if (!multi_label) m.matrix(rows, 2);  // maxima and sums
    m.list<double>(1);
}

Volume ShardedLoss::volume(std::int64_t rows, bool multi_label, int class_ranks, int class_rank, int holder_ranks,
                           int holder_rank, std::int64_t element_bytes) {
    VolumeStatement v(element_bytes);
    const int vectors = multi_label ? 0 : 2;  // maxima, sums
    for (int i = 0; i < vectors; ++i) v.all_reduce(rows, class_ranks, class_rank);
    v.all_reduce_scalars(1, holder_ranks, holder_rank);
    return v.total();
}

}  // namespace gnnbench
