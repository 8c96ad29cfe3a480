#include <gnnbench/training/layer.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

namespace gnnbench {

SharedRows::~SharedRows() = default;
BlockSum::~BlockSum() = default;
void BlockSum::add_for(const PreparedMatrix& a_pj, ConstMatrixView b_j, MatrixView, Stage stage) {
    add(a_pj, b_j, stage);
}
void BlockSum::merge_copies(SharedRows&) {
    throw LogicError("this sum has nothing to merge over the copies of a row");
}
ReturnedSum::~ReturnedSum() = default;
DistributedSpmm::~DistributedSpmm() = default;
Layer::~Layer() = default;

bool LayerSpec::has(ParameterRole role) const {
    return std::ranges::any_of(parameters, [&](const ParameterSpec& p) { return p.role == role; });
}

void SpmmSum::add(const PreparedMatrix& a_pj, ConstMatrixView b_j, Stage stage) {
    backend_.spmm(a_pj, b_j, z_, {.beta = stage.first ? 0.0 : 1.0}, stage.last ? epilogue_ : Epilogue{});
}

void SpmmSum::combine(Communicator& replicas, const PreparedMatrix*) {
    replicas.all_reduce_now(z_);
    backend_.apply(epilogue_, z_);
}

void DistributedSpmm::accumulate(Direction, BlockSum&) {
    throw LogicError("this strategy's products are no sums over blocks on the rank of their rows");
}
void DistributedSpmm::accumulate_returned(ReturnedSum&) {
    throw LogicError("this strategy returns no sums other than those of products");
}

std::int64_t LayerSpec::elements() const {
    std::int64_t sum = 0;
    for (const ParameterSpec& p : parameters) sum += p.rows * p.cols;
    return sum;
}

namespace {

/// Runs of as many random numbers as there are layers; vectors have two.
enum class Drawn : std::uint8_t { weight = 0, second = 1, vectors = 2, row = 4 };

/// Names a linear map's parameters: "W3_first", "b3_first".
class Parameters {
public:
    Parameters(const ModelSpec& model, int layer) : model_(model), layer_(layer) {}

    /// `draw`: which of the layers' random numbers initialise it.
    void weight(LayerSpec& to, ParameterRole role, const char* suffix, Drawn draw) const {
        to.parameters.push_back(
            {.name = fmt::format("W{}{}", layer_, suffix),
             .layer = layer_,
             .role = role,
             .rows = to.f,
             .cols = role == ParameterRole::self_weight ? to.g : to.transformed(),
             .draw = static_cast<std::uint32_t>(static_cast<int>(draw) * model_.layers() + layer_)});
    }
    /// a_l and a_r, or the one vector of dynamic attention.
    void attention(LayerSpec& to) const {
        if (to.attention->dynamic) return vector(to, "", ParameterRole::attention_row, 0);
        vector(to, "_row", ParameterRole::attention_row, 0);
        vector(to, "_neighbour", ParameterRole::attention_neighbour, 1);
    }
    void bias(LayerSpec& to, const char* suffix) const {
        if (!model_.bias) return;
        to.parameters.push_back({.name = fmt::format("b{}{}", layer_, suffix),
                                 .layer = layer_,
                                 .role = ParameterRole::bias,
                                 .rows = 1,
                                 .cols = to.g,
                                 .draw = 0});
    }

private:
    void vector(LayerSpec& to, const char* suffix, ParameterRole role, int second) const {
        to.parameters.push_back({.name = fmt::format("a{}{}", layer_, suffix),
                                 .layer = layer_,
                                 .role = role,
                                 .rows = 1,
                                 .cols = to.transformed(),
                                 .draw = static_cast<std::uint32_t>(
                                     static_cast<int>(Drawn::vectors) * model_.layers() + 2 * layer_ + second),
                                 .heads = to.attention->shape.heads});
    }

    const ModelSpec& model_;
    int layer_;
};

}  // namespace

std::vector<LayerSpec> layers_of(const ModelSpec& model, bool trains_input) {
    std::vector<LayerSpec> out;
    for (int l = 0; l < model.layers(); ++l) {
        const Parameters parameters(model, l);
        LayerSpec layer{.model_layer = l,
                        .f = model.widths[usize(l)],
                        .g = model.widths[usize(l) + 1],
                        .activation = l + 1 < model.layers() ? model.activation : Activation::identity,
                        .feeds = l + 1,
                        .input_gradient = l > 0 || trains_input,
                        .attention = {},
                        .parameters = {}};
        if (model.kind == LayerKind::gin) {
            LayerSpec first = layer;
            first.activation = Activation::relu;
            first.feeds = model.layers();
            parameters.weight(first, ParameterRole::weight, "_first", Drawn::weight);
            parameters.bias(first, "_first");
            out.push_back(std::move(first));
            layer.f = layer.g;
            layer.aggregates = false;
            layer.input_gradient = true;
            parameters.weight(layer, ParameterRole::weight, "_second", Drawn::second);
            parameters.bias(layer, "_second");
        } else if (model.attends()) {
            const int heads = model.heads_of(l);
            layer.attention = {{heads, model.negative_slope},
                               l + 1 == model.layers() || model.combine == HeadsCombined::mean,
                               model.attention_dropout,
                               model.kind == LayerKind::gatv2};
            const bool two = model.kind == LayerKind::gatv2 && !model.share_weights;
            if (model.residual) parameters.weight(layer, ParameterRole::self_weight, "_residual", Drawn::second);
            if (two) parameters.weight(layer, ParameterRole::row_weight, "_row", Drawn::row);
            parameters.weight(layer, ParameterRole::weight, two ? "_neighbour" : "", Drawn::weight);
            parameters.attention(layer);
            parameters.bias(layer, "");
        } else {
            const bool self = model.kind == LayerKind::sage;
            if (self) parameters.weight(layer, ParameterRole::self_weight, "_self", Drawn::second);
            parameters.weight(layer, ParameterRole::weight, self ? "_neighbour" : "", Drawn::weight);
            parameters.bias(layer, "");
        }
        out.push_back(std::move(layer));
    }
    return out;
}

std::vector<ParameterSpec> parameters_of(const ModelSpec& model) {
    std::vector<ParameterSpec> out;
    for (const LayerSpec& layer : layers_of(model, false))
        out.insert(out.end(), layer.parameters.begin(), layer.parameters.end());
    return out;
}

void LayerInput::multiply(Backend& backend, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) const {
    if (sparse)
        backend.spmm(*sparse, b, c, s, e);
    else
        backend.gemm(Transpose::no, dense, Transpose::no, b, c, s, e);
}

void LayerInput::multiply_transposed(Backend& backend, ConstMatrixView b, MatrixView c) const {
    if (sparse)
        backend.spmm_transposed(*sparse, b, c);
    else
        backend.gemm(Transpose::yes, dense, Transpose::no, b, c);
}

void LayerAggregation::operator()(Direction d, MatrixView b, MatrixView c, const Epilogue& e) const {
    require(b.cols == layer_.width(d), "a product is not as wide as its layer states");
    spmm_.begin_layer(number_);
    spmm_.multiply(d, b, c, e);
}

std::int64_t Layer::product_columns() const {
    return std::max(kept_columns() > 0 ? 0 : width(Direction::forward), width(Direction::backward));
}

void LayerAggregation::operator()(Direction d, BlockSum& sum) const {
    require(sum.operand().cols == layer_.width(d), "a product is not as wide as its layer states");
    spmm_.begin_layer(number_);
    spmm_.accumulate(d, sum);
}

void LayerAggregation::operator()(ReturnedSum& sum) const {
    require(sum.again().cols == layer_.again() && sum.sums().cols == layer_.width(Direction::backward) &&
                sum.room_columns() == layer_.room(),
            "a product is not as wide as its layer states");
    spmm_.begin_layer(number_);
    spmm_.accumulate_returned(sum);
}

ConstMatrixView LayerAggregation::summed_gradients(ConstMatrixView g) const {
    require(g.cols == layer_.copied(Direction::backward).to_roots,
            "gradients are not as wide as their layer states");
    return spmm_.summed_gradients(g);
}

Epilogue Layer::epilogue_without_self(const ForwardStep& s) const {
    return spec_.has(ParameterRole::self_weight) ? Epilogue{} : s.epilogue;
}

void Layer::add_self(const ForwardStep& s) const {
    if (!spec_.has(ParameterRole::self_weight)) return;
    s.h.multiply(s.backend, s.values.self_weight, s.z, {.beta = 1}, s.epilogue);
}

void Layer::bias_gradient(const BackwardStep& s) const {
    if (spec_.has(ParameterRole::bias)) s.backend.column_sums(s.g, s.gradients.bias);
}

void Layer::weight_gradients(const BackwardStep& s, const LayerInput& left, ConstMatrixView right,
                             ConstMatrixView of_row) const {
    left.multiply_transposed(s.backend, right, s.gradients.weight);
    if (spec_.has(ParameterRole::row_weight)) s.h.multiply_transposed(s.backend, of_row, s.gradients.row_weight);
    if (spec_.has(ParameterRole::self_weight)) s.h.multiply_transposed(s.backend, s.g, s.gradients.self_weight);
    if (s.gradients_ready) s.gradients_ready();
}

void Layer::add_self_input_gradient(const BackwardStep& s) const {
    if (!spec_.has(ParameterRole::self_weight)) return;
    s.backend.gemm(Transpose::no, s.g, Transpose::yes, s.values.self_weight, s.dh, {.beta = 1});
}

}  // namespace gnnbench
