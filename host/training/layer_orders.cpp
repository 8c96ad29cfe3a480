// The orders of a layer's products: each class is one, from its formulas to its widths and buffers.
#include <gnnbench/training/layer.hpp>

namespace gnnbench {
namespace {

/// What the orders without T from the forward pass have in common: U = ÂᵀG; dW = HᵀU; dH = UWᵀ.
class GradientThroughU : public Layer {
public:
    using Layer::Layer;
    void backward(const BackwardStep& s) const final {
        bias_gradient(s);
        const MatrixView u = s.product(spec().g);
        s.aggregate(Direction::backward, s.g, u);  // U = Âᵀ G
        weight_gradients(s, s.h, u);               // dW = Hᵀ U
        if (!spec().input_gradient) return;
        s.backend.gemm(Transpose::no, u, Transpose::yes, s.values.weight, s.dh);  // dH = U Wᵀ
        add_self_input_gradient(s);
    }
};

class TransformFirst final : public GradientThroughU {
public:
    using GradientThroughU::GradientThroughU;
    std::int64_t width(Direction) const override { return spec().g; }
    void forward(const ForwardStep& s) const override {
        const MatrixView t = s.product(spec().g);
        s.h.multiply(s.backend, s.values.weight, t);                        // T = H W
        s.aggregate(Direction::forward, t, s.z, epilogue_without_self(s));  // H' = σ(Â T + b)
        add_self(s);
    }
};

class AggregateFirst final : public GradientThroughU {
public:
    using GradientThroughU::GradientThroughU;
    std::int64_t width(Direction d) const override { return d == Direction::forward ? spec().f : spec().g; }
    bool aggregates_input() const override { return true; }
    void forward(const ForwardStep& s) const override {
        const MatrixView t = s.product(spec().f);
        s.aggregate(Direction::forward, s.h.dense, t);  // T = Â H
        // H' = σ(T W + b)
        s.backend.gemm(Transpose::no, t, Transpose::no, s.values.weight, s.z, {}, epilogue_without_self(s));
        add_self(s);
    }
};

class AggregateFirstKept final : public Layer {
public:
    using Layer::Layer;
    std::int64_t width(Direction d) const override {
        return d == Direction::forward || spec().input_gradient ? spec().f : 0;
    }
    bool aggregates_input() const override { return true; }
    bool multiplies_input() const override { return spec().has(ParameterRole::self_weight); }
    std::int64_t kept_columns() const override { return spec().f; }
    void forward(const ForwardStep& s) const override {
        s.aggregate(Direction::forward, s.h.dense, s.kept);  // T = Â H
        // H' = σ(T W + b)
        s.backend.gemm(Transpose::no, s.kept, Transpose::no, s.values.weight, s.z, {}, epilogue_without_self(s));
        add_self(s);
    }
    void backward(const BackwardStep& s) const override {
        bias_gradient(s);
        weight_gradients(s, s.kept, s.g);  // dW = Tᵀ G
        if (!spec().input_gradient) return;
        const MatrixView v = s.product(spec().f);
        s.backend.gemm(Transpose::no, s.g, Transpose::yes, s.values.weight, v);  // V = G Wᵀ
        s.aggregate(Direction::backward, v, s.dh);                               // dH = Âᵀ V
        add_self_input_gradient(s);
    }
};

class TransformFirstShortcut final : public Layer {
public:
    explicit TransformFirstShortcut(const LayerSpec& spec) : Layer(spec) {
        require(!spec.input_gradient, "the gradient shortcut is for a layer whose input is not trained");
        require(!spec.has(ParameterRole::self_weight),
                "the gradient shortcut is for a layer without self weights");
    }
    std::int64_t width(Direction d) const override { return d == Direction::forward ? spec().g : 0; }
    void forward(const ForwardStep& s) const override {
        const MatrixView t = s.product(spec().g);
        s.h.multiply(s.backend, s.values.weight, t);          // T = H W
        s.aggregate(Direction::forward, t, s.z, s.epilogue);  // H' = σ(Â T + b)
    }
    void backward(const BackwardStep& s) const override {
        bias_gradient(s);
        weight_gradients(s, s.h, s.g);  // dW ≈ Xᵀ G
    }
};

class Dense final : public Layer {
public:
    explicit Dense(const LayerSpec& spec) : Layer(spec) {
        require(!spec.has(ParameterRole::self_weight), "a dense layer has one weight");
    }
    std::int64_t width(Direction) const override { return 0; }
    bool reads_gradient_late() const override { return true; }
    void forward(const ForwardStep& s) const override {
        s.h.multiply(s.backend, s.values.weight, s.z, {}, s.epilogue);  // H' = σ(H W + b)
    }
    void backward(const BackwardStep& s) const override {
        bias_gradient(s);
        weight_gradients(s, s.h, s.g);  // dW = Hᵀ G
        if (!spec().input_gradient) return;
        s.backend.gemm(Transpose::no, s.g, Transpose::yes, s.values.weight, s.dh);  // dH = G Wᵀ
    }
};

class AggregatedAtSetup final : public Layer {
public:
    explicit AggregatedAtSetup(const LayerSpec& spec) : Layer(spec) {
        require(!spec.input_gradient, "an input aggregated at set-up is not trained");
    }
    std::int64_t width(Direction) const override { return 0; }
    std::int64_t kept_columns() const override { return spec().f; }
    void forward(const ForwardStep& s) const override {
        // H' = σ(T W + X W_self + b) = σ([X, ÂX] [W_self; W] + b)
        s.backend.gemm(Transpose::no, s.kept, Transpose::no, s.values.weight, s.z, {}, epilogue_without_self(s));
        add_self(s);
    }
    void backward(const BackwardStep& s) const override {
        bias_gradient(s);
        weight_gradients(s, s.kept, s.g);  // dW = Tᵀ G
    }
};

}  // namespace

std::shared_ptr<const Layer> transform_first(const LayerSpec& spec) {
    return std::make_shared<TransformFirst>(spec);
}
std::shared_ptr<const Layer> aggregate_first(const LayerSpec& spec) {
    return std::make_shared<AggregateFirst>(spec);
}
std::shared_ptr<const Layer> aggregate_first_kept(const LayerSpec& spec) {
    return std::make_shared<AggregateFirstKept>(spec);
}
std::shared_ptr<const Layer> transform_first_shortcut(const LayerSpec& spec) {
    return std::make_shared<TransformFirstShortcut>(spec);
}
std::shared_ptr<const Layer> dense(const LayerSpec& spec) { return std::make_shared<Dense>(spec); }
std::shared_ptr<const Layer> aggregated_at_setup(const LayerSpec& spec) {
    return std::make_shared<AggregatedAtSetup>(spec);
}

}  // namespace gnnbench
