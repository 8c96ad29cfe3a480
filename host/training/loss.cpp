#include <gnnbench/training/loss.hpp>

#include <limits>

#include <gnnbench/usize.hpp>

namespace gnnbench {

void loss_and_gradient(Backend& backend, ConstMatrixView logits, const LossInput& in, MatrixView grad,
                       double* loss) {
    if (in.multi_label)
        backend.binary_cross_entropy(logits, in, grad, loss);
    else
        backend.softmax_cross_entropy(logits, in, grad, loss);
}

std::vector<double> count_score(Backend& backend, ConstMatrixView logits, const LossInput& in,
                                std::int64_t* counts) {
    if (in.multi_label)
        backend.count_positives(logits, in, counts);
    else
        backend.count_correct(logits, in, counts);
    std::vector<std::int64_t> found(usize(score_counts(in.multi_label)));
    backend.download_bytes(counts, found.data(), found.size() * sizeof(std::int64_t));
    return {found.begin(), found.end()};
}

Score score_of(bool multi_label, std::span<const double> counts) {
    Score score{.metric = multi_label ? ScoreMetric::micro_f1 : ScoreMetric::accuracy, .of = {}};
    for (std::size_t s = 0; s < score.of.size(); ++s) {
        const double hits = multi_label ? 2 * counts[3 * s] : counts[2 * s];
        const double all = multi_label ? hits + counts[3 * s + 1] + counts[3 * s + 2] : counts[2 * s + 1];
        score.of[s] = all > 0 ? hits / all : std::numeric_limits<double>::quiet_NaN();
    }
    return score;
}

}  // namespace gnnbench
