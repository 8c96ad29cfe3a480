#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "check/forwarding_backend.hpp"
#include "check/host_copy.hpp"

namespace gnnbench {

/// ReLU and leaky ReLU have a kink at 0: on which side of it a sum lies decides a derivative, and where the sum is 0
/// but for rounding, rounding decides. Two runs of one strategy apply their activations in the same order to matrices
/// of the same shapes, whatever the strategy distributes, so that the sides of one run can be given to another.

/// The sides of all elements of one application: positive or not. [rows × cols]
struct KinkSides {
    std::int64_t rows = 0, cols = 0;
    std::vector<bool> positive;
};

/// An element whose side in one run differs from the side that the other run's sum has.
struct KinkTurn {
    std::size_t application = 0;  ///< counted from the first of the training
    std::int64_t row = 0, col = 0;
    std::vector<double> sums;  ///< the whole row's, before the activation, in the run that takes the sides
    double reach = 0;          ///< how far rounding moves this sum, or the row's sums on average: the largest seen

    double sum() const { return sums[usize(col)]; }
};

/// What one run recorded, and where another run, in float64, took it against the sign of its own sum.
struct KinkHistory {
    std::vector<KinkSides> applications;
    std::vector<KinkTurn> turns;  ///< in order of application
    std::int64_t left_out = 0;    ///< turns beyond the first max_turns
    bool fits = true;             ///< the other run had the same applications
    static constexpr std::size_t max_turns = 100'000;
};

/// Whether an epilogue has a kink.
inline bool has_kink(const Epilogue& e) {
    return e.activation == Activation::relu || e.activation == Activation::leaky_relu;
}

/// Splits epilogues with a kink off products, so that a decorator sees sums before the activation.
class KinkBackend : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;

private:
    /// c holds the sums with their bias; applies activation and dropout.
    virtual void finish(const Epilogue& e, MatrixView c) = 0;
    /// Performs v, a product, or Apply in place, whose result is c.
    template <class Verb>
    void split(Verb v, MatrixView c) {
        if (!has_kink(v.e)) return inner().run(v);
        Epilogue rest = std::exchange(v.e, bias_of(v.e));
        inner().run(v);
        rest.bias = nullptr;
        finish(rest, c);
    }

    using ForwardingBackend::perform;
#define GNNBENCH_SPLIT_VERB(V) \
    void perform(const verb::V& v) final { split(v, v.c); }
    GNNBENCH_EACH_PRODUCT(GNNBENCH_SPLIT_VERB)
#undef GNNBENCH_SPLIT_VERB
    void perform(const verb::Apply& v) final;
};

/// Records the sides that a run takes, from the results of the verbs as the kernel computes them.
class KinkRecorder final : public ForwardingBackend {
public:
    KinkRecorder(std::unique_ptr<Backend> inner, KinkHistory& history)
        : ForwardingBackend(std::move(inner)), history_(history) {}

private:
    void record(const Epilogue& e, ConstMatrixView c);

    using ForwardingBackend::perform;
#define GNNBENCH_RECORDED_VERB(V)             \
    void perform(const verb::V& v) override { \
        inner().run(v);                       \
        record(v.e, v.c);                     \
    }
    GNNBENCH_EACH_PRODUCT(GNNBENCH_RECORDED_VERB)
#undef GNNBENCH_RECORDED_VERB
    void perform(const verb::Apply& v) override {
        inner().run(v);
        record(v.e, v.z);
    }

    KinkHistory& history_;
};

/// Takes recorded sides in float64. A sum on the wrong side becomes ±2^-1000 on the right one, whose derivative is then
/// the recorded run's.
class KinkReplay final : public KinkBackend {
public:
    /// Where sums have other sides than those taken is noted in the history, or, in a run that is `perturbed`, how far
    /// the sums noted there have moved.
    enum class Notes : std::uint8_t { turns, reach };
    KinkReplay(std::unique_ptr<Backend> inner, KinkHistory& history, Notes notes)
        : KinkBackend(std::move(inner)), history_(history), notes_(notes) {}

private:
    void finish(const Epilogue& e, MatrixView c) override;
    void note_turn(const HostMatrix& sums, std::int64_t row, std::int64_t col);
    void note_reach(const HostMatrix& sums);

    KinkHistory& history_;
    Notes notes_;
    std::size_t next_ = 0;       ///< application
    std::size_t next_turn_ = 0;  ///< of Notes::reach
};

}  // namespace gnnbench
