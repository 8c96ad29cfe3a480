#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <gnnbench/random.hpp>
#include <gnnbench/strategy.hpp>

#include "check/bounds.hpp"
#include "check/forwarding_backend.hpp"
#include "check/host_copy.hpp"

namespace gnnbench {

/// Random signs, 32 of a random word.
class RandomSigns {
public:
    RandomSigns(std::uint64_t seed, std::uint32_t salt) : draw_(seed, Draw::sample, salt) {}
    /// 1 or −1.
    double operator()() {
        if (left_ == 0) {
            bits_ = draw_();
            left_ = 32;
        }
        --left_;
        const double sign = (bits_ & 1u) != 0 ? 1 : -1;
        bits_ >>= 1;
        return sign;
    }

private:
    RandomStream draw_;
    std::uint32_t bits_ = 0;
    int left_ = 0;
};

/// A back end in float64 that moves each element of every result by what rounding to float32 in that verb may do to
/// it, up or down at random: a training on it shows what such rounding does to a training, the response.
///
/// How far: a verb rounds after each of its operations, by at most u of what that operation gives. The roundings of an
/// element are independent of each other as far as anybody knows, so it moves by the root of the sum of their squares:
/// of a sum of products p_k, u·√(Σ s_k² + Σ p_k²), s_k the partial sums. γ_k(|A||B|), which host/check allows a verb,
/// assumes that all roundings have the same sign: for sums of thousands of terms it is hundreds of times as much, and
/// no training would be well-conditioned (Higham & Mary, A New Approach to Probabilistic Rounding Error Analysis, 2019).
/// Matrices that are prepared are moved once. What a transport's reductions round is left out: P − 1 additions, beside
/// the products that they sum up.
class PerturbedBackend final : public ForwardingBackend {
public:
    /// The same `seed` on all ranks: ranks that hold copies of a parameter move it alike. Products on up to `threads`
    /// threads.
    PerturbedBackend(std::unique_ptr<Backend> inner, std::uint64_t seed, int rank, int threads);

private:
    /// Squares of the roundings of a product's elements, before its ends.
    using Squares = HostMatrix;

    std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts t) override;
    std::unique_ptr<PreparedMatrix> do_refer(const CsrView& a) override;
    using ForwardingBackend::perform;
    void perform(const verb::Spmm& v) override;
    void perform(const verb::SpmmUnprepared& v) override;
    void perform(const verb::SpmmTransposed& v) override;
    void perform(const verb::Gemm& v) override;
    void perform(const verb::Attend& v) override;
    void perform(const verb::AttendBackward& v) override;
    void perform(const verb::DynamicAttend& v) override;
    void perform(const verb::DynamicBackward& v) override;
    void perform(const verb::HeadDots& v) override;
    void perform(const verb::HeadSums& v) override;
    void perform(const verb::AddHeads& v) override;
    void perform(const verb::RescaleHeads& v) override;
    void perform(const verb::MeanOfHeads& v) override;
    void perform(const verb::SpreadToHeads& v) override;
    void perform(const verb::Apply& v) override;
    void perform(const verb::ApplyBackward& v) override;
    void perform(const verb::ColumnSums& v) override;
    void perform(const verb::SoftmaxCrossEntropy& v) override;
    void perform(const verb::RowExpSums& v) override;
    void perform(const verb::SoftmaxCrossEntropyShard& v) override;
    void perform(const verb::BinaryCrossEntropy& v) override;
    void perform(const verb::OptimizerStep& v) override;
    void perform(const verb::Axpby& v) override;
    void perform(const verb::ScatterAddRows& v) override;

    Squares squares_of(const Csr& a, ConstMatrixView b) const;
    /// Performs a product and moves its result. `squares` are those of its sums.
    template <class Product>
    void multiply(Product v, const Squares& squares);
    /// Moves a complete product without its activation, then applies that and dropout.
    void finish(const Squares& squares, const HostMatrix& before, MatrixView c, Scale s, const Epilogue& e);
    /// Each element moves by `roundings` roundings of its own size.
    void move_by(MatrixView m, double roundings);
    void move_loss_gradient(const HostMatrix& logits, double scale, MatrixView grad);
    void move_loss(const HostMatrix& logits, const LossInput& in, double* loss_out);
    double rounded(double x) { return x + own_() * unit_ * x; }

    RandomSigns own_, common_;  ///< of this rank, of all ranks
    double unit_;
    int threads_;
};

/// Weights as float32 may round them, each up or down at random where it does.
ModelWeights perturbed(ModelWeights weights, std::uint64_t seed);

}  // namespace gnnbench
