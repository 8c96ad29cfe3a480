#pragma once
#include <cstdint>

#include <gnnbench/graph.hpp>
#include <gnnbench/verbs/operands.hpp>

/// Losses, their gradients, and the counts that scores are made of: phase `loss`.

namespace gnnbench {

/// What the loss sums over: split [rows] and either kind of label on the device; vertices of `counted` take part.
struct LossInput {
    const std::int32_t* labels = nullptr;  ///< [rows]: one label for each vertex
    const Split* split = nullptr;
    Split counted = Split::train;
    double scale = 1;  ///< 1 / |counted vertices of the whole graph|, of a label matrix also / |all classes|
    /// [rows × columns of the logits], contiguous, of 0 and 1: any number of labels for each vertex.
    const std::uint8_t* label_matrix = nullptr;
    bool multi_label = false;  ///< label_matrix holds the labels, not `labels`
};

namespace verb {

struct SoftmaxCrossEntropy {
    ConstMatrixView logits;
    LossInput in;
    MatrixView grad;
    double* loss_out;

    static constexpr Phase phase = Phase::loss;
    const char* operation() const { return "softmax-cross-entropy"; }
    void check() const;
    bool empty() const { return false; }
    auto operands() const { return std::array{reads(logits), writes(grad)}; }
};

struct RowMaxima {
    ConstMatrixView logits;
    MatrixView maxima;

    static constexpr Phase phase = Phase::loss;
    const char* operation() const { return "row-maxima"; }
    void check() const;
    bool empty() const { return false; }
    auto operands() const { return std::array{reads(logits), writes(maxima)}; }
};

struct RowExpSums {
    ConstMatrixView logits, maxima;
    MatrixView sums;

    static constexpr Phase phase = Phase::loss;
    const char* operation() const { return "row-exp-sums"; }
    void check() const;
    bool empty() const { return false; }
    auto operands() const { return std::array{reads(logits), reads(maxima), writes(sums)}; }
};

struct SoftmaxCrossEntropyShard {
    ConstMatrixView logits, maxima, sums;
    std::int64_t first_class;
    LossInput in;
    MatrixView grad;
    double* loss_out;

    static constexpr Phase phase = Phase::loss;
    const char* operation() const { return "softmax-cross-entropy"; }
    void check() const;
    bool empty() const { return false; }
    auto operands() const { return std::array{reads(logits), reads(maxima), reads(sums), writes(grad)}; }
};

struct CountCorrect {
    ConstMatrixView logits;
    LossInput in;
    std::int64_t* counts;

    static constexpr Phase phase = Phase::loss;
    const char* operation() const { return "count-correct"; }
    void check() const;
    bool empty() const { return false; }
    auto operands() const { return std::array{reads(logits)}; }
};

struct BinaryCrossEntropy {
    ConstMatrixView logits;
    LossInput in;
    MatrixView grad;
    double* loss_out;

    static constexpr Phase phase = Phase::loss;
    const char* operation() const { return "binary-cross-entropy"; }
    void check() const;
    bool empty() const { return false; }
    auto operands() const { return std::array{reads(logits), writes(grad)}; }
};

struct CountPositives {
    ConstMatrixView logits;
    LossInput in;
    std::int64_t* counts;

    static constexpr Phase phase = Phase::loss;
    const char* operation() const { return "count-positives"; }
    void check() const;
    bool empty() const { return false; }
    auto operands() const { return std::array{reads(logits)}; }
};

}  // namespace verb

#define GNNBENCH_LOSS_VERBS(X) \
    X(SoftmaxCrossEntropy)     \
    X(RowMaxima) X(RowExpSums) X(SoftmaxCrossEntropyShard) X(CountCorrect) X(BinaryCrossEntropy) X(CountPositives)

template <class B>
class LossVerbs {
    friend B;
    LossVerbs() = default;

public:
    /// Softmax cross entropy of logits [n × classes]: grad ← (softmax − onehot) · scale on counted rows, 0 on
    /// the others (may alias logits); loss_out (one float64, device) ← Σ over counted rows of −log p · scale.
    void softmax_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad, double* loss_out) {
        static_cast<B&>(*this).run(verb::SoftmaxCrossEntropy{logits, in, grad, loss_out});
    }

    // The same loss where a row's classes are distributed over ranks: each holds columns [first_class, first_class +
    // cols). maxima and sums [n × 1] are reduced over those ranks between the calls.
    /// maxima ← the largest logit of each row; −∞ where this shard has no class.
    void row_maxima(ConstMatrixView logits, MatrixView maxima) {
        static_cast<B&>(*this).run(verb::RowMaxima{logits, maxima});
    }
    /// sums ← Σ_c exp(logit − maximum) over this shard's classes.
    void row_exp_sums(ConstMatrixView logits, ConstMatrixView maxima, MatrixView sums) {
        static_cast<B&>(*this).run(verb::RowExpSums{logits, maxima, sums});
    }
    /// As softmax_cross_entropy, with maxima and sums of whole rows; the rank with a row's label adds its loss.
    void softmax_cross_entropy_shard(ConstMatrixView logits, ConstMatrixView maxima, ConstMatrixView sums,
                                     std::int64_t first_class, const LossInput& in, MatrixView grad,
                                     double* loss_out) {
        static_cast<B&>(*this).run(
            verb::SoftmaxCrossEntropyShard{logits, maxima, sums, first_class, in, grad, loss_out});
    }
    /// counts (6 int64, device) ← correct and total of train, validation, test rows, by arg max.
    void count_correct(ConstMatrixView logits, const LossInput& in, std::int64_t* counts) {
        static_cast<B&>(*this).run(verb::CountCorrect{logits, in, counts});
    }

    // The loss for a label matrix. Element-wise, so that a rank may hold any columns of the logits.
    /// Binary cross-entropy with logits x and labels y: grad ← (σ(x) − y) · scale on counted rows, 0 on the others (may
    /// alias logits); loss_out (one float64, device) ← Σ over counted elements of (log(1 + eˣ) − y·x) · scale, computed
    /// as max(t, 0) + log1p(exp(−|t|)) with t = −x where y = 1, else x, which no finite x overflows.
    void binary_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad, double* loss_out) {
        static_cast<B&>(*this).run(verb::BinaryCrossEntropy{logits, in, grad, loss_out});
    }
    /// counts (9 int64, device) ← true positives, false positives, false negatives of train, validation, test rows; a
    /// logit above 0 claims its label.
    void count_positives(ConstMatrixView logits, const LossInput& in, std::int64_t* counts) {
        static_cast<B&>(*this).run(verb::CountPositives{logits, in, counts});
    }
};

}  // namespace gnnbench
