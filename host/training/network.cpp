#include <gnnbench/training/network.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/training/vertex_data.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

Network::Network(LayerPlan plan, const ModelSpec& model, const TrainSpec& train, const ModelWeights& initial,
                 std::int64_t max_rows, Backend& backend)
    : plan_(std::move(plan)),
      model_(model),
      train_(train),
      backend_(backend),
      parameters_(model, train, initial, backend),
      max_rows_(max_rows),
      rows_(max_rows) {
    for (int l = 0; l <= last(); ++l) {
        const LayerBuffers of_layer = plan_.layer_buffers(l);
        outputs_.push_back(buffer(of_layer.output));
        gradients_.push_back(buffer(of_layer.gradient));
        products_.push_back(buffer(of_layer.product));
        kept_.push_back(buffer(of_layer.kept));
    }
    shared_product_ = buffer(plan_.shared_columns());
    late_gradient_ = buffer(plan_.late_gradient_columns());
    if (train.input_dropout > 0) {
        dropped_input_ = backend.matrix(max_rows, plan_.spec(0).f);
        if (plan_.holds_aggregate()) dropped_aggregate_ = backend.matrix(max_rows, plan_.spec(0).f);
    }
    if (plan_.trains_input()) dx_ = backend.matrix(max_rows, plan_.spec(0).f);
}

void Network::state_memory(MemoryStatement& m, const LayerPlan& plan, const ModelSpec& model,
                           const TrainSpec& train, std::int64_t n) {
    for (int l = 0; l < plan.size(); ++l) {
        const LayerBuffers of_layer = plan.layer_buffers(l);
        m.matrix(n, of_layer.output + of_layer.gradient + of_layer.product + of_layer.kept);
    }
    m.matrix(n, plan.shared_columns() + plan.late_gradient_columns());
    if (train.input_dropout > 0) m.matrix(n, (plan.holds_aggregate() ? 2 : 1) * plan.spec(0).f);
    if (plan.trains_input()) m.matrix(n, plan.spec(0).f);
    ReplicatedParameters::state_memory(m, model, train);
}

Matrix Network::buffer(std::int64_t columns) {
    return columns > 0 ? backend_.matrix(max_rows_, columns) : Matrix();
}

void Network::set_rows(std::int64_t rows) {
    require(rows >= 0 && rows <= max_rows_, "more rows than the network's buffers have");
    rows_ = rows;
}

MatrixView Network::gradient(int l) const {
    if (plan_.buffers == Buffers::shared) return output(l);
    return used(gradients_[usize(l)], plan_.spec(l).g);
}

/// The buffer of layer l's dH; unless the layer reads G late, G is no longer needed when it is written.
MatrixView Network::input_gradient(int l) const {
    const std::int64_t f = plan_.spec(l).f;
    if (l == 0) return plan_.trains_input() ? used(dx_, f) : MatrixView();
    if (plan_.buffers == Buffers::separate) return gradient(l - 1);
    return plan_.layer(l).reads_gradient_late() ? used(late_gradient_, f) : output(l, f);
}

MatrixView Network::input_gradient() const { return input_gradient(0); }

MatrixView Network::products(int l) const {
    if (plan_.stacks()) return stacked(plan_.kept_before(l + 1), plan_.layer(l).product_columns());
    return plan_.buffers == Buffers::shared ? shared_product_.view() : products_[usize(l)].view();
}

/// Of the stack, what lies after so many columns.
MatrixView Network::stacked(std::int64_t before, std::int64_t columns) const {
    const MatrixView all =
        used(shared_product_, plan_.shared_columns()).reshaped(1, rows_ * plan_.shared_columns());
    return all.cols_from(rows_ * before, rows_ * columns).reshaped(rows_, columns);
}

MatrixView Network::kept(int l) const {
    const std::int64_t columns = plan_.layer(l).kept_columns();
    if (columns == 0) return {};
    if (plan_.stacks()) return stacked(plan_.kept_before(l), columns);
    const bool dropped = l == 0 && plan_.holds_aggregate() && mask(0).active();
    return used(dropped ? dropped_aggregate_ : kept_[usize(l)], columns);
}

DropoutMask Network::mask(int model_layer) const {
    if (pass_ == Pass::evaluation) return {};
    return input_mask(model_, train_, model_layer, step_);
}

/// Of the coefficients with which layer l attends.
DropoutMask Network::entry_mask(int l) const {
    const LayerSpec& spec = plan_.spec(l);
    if (!spec.attention || spec.attention->dropout == 0 || pass_ == Pass::evaluation) return {};
    return {.rate = spec.attention->dropout,
            .seed = train_.seed,
            .layer = static_cast<std::uint32_t>(spec.model_layer),
            .epoch = static_cast<std::uint32_t>(step_)};
}

/// Dropout of layer 0's input, of [X, ÂX] where both are held.
void Network::drop_input() {
    DropoutMask m = mask(0);
    if (!m.active()) return;
    require(!input_.sparse, "dropout of layer 0's input is for dense features");
    const MatrixView x = input_.dense;
    input_ = used(dropped_input_, x.cols);
    backend_.dropout({.dropout = m, .row_ids = row_ids_}, x, input_.dense);
    if (!plan_.holds_aggregate()) return;
    m.first_column = static_cast<std::uint32_t>(x.cols);
    backend_.dropout({.dropout = m, .row_ids = row_ids_}, used(kept_[0], x.cols), kept(0));
}

/// The epilogue of layer l: bias, σ, and the dropout of the layer of the model that it feeds.
Epilogue Network::epilogue(int l) const {
    return {.bias = parameters_.values(l).bias.data,
            .activation = plan_.spec(l).activation,
            .dropout = mask(plan_.spec(l).feeds),
            .row_ids = row_ids_};
}

ConstMatrixView Network::forward(const LayerInput& input, const std::int64_t* row_ids, Pass pass,
                                 std::int64_t step, DistributedSpmm& spmm) {
    require(input.rows() == rows_ && input.columns() == plan_.spec(0).f,
            "the input has the network's rows and columns");
    row_ids_ = row_ids;
    pass_ = pass;
    step_ = step;
    input_ = input;
    drop_input();
    if (pass == Pass::training)
        spmm.begin_epoch(step);
    else
        spmm.begin_evaluation();
    for (int l = 0; l <= last(); ++l) {
        const LayerAggregation aggregate(spmm, plan_.layer(l), l);
        plan_.layer(l).forward({.backend = backend_,
                                .aggregate = aggregate,
                                .values = parameters_.values(l),
                                .h = this->input(l),
                                .z = output(l),
                                .products = products(l),
                                .kept = kept(l),
                                .epilogue = epilogue(l),
                                .entries = entry_mask(l)});
    }
    return output(last());
}

void Network::backward(DistributedSpmm& spmm, const GradientsReady& ready) {
    for (int l = last(); l >= 0; --l) {
        const LayerAggregation aggregate(spmm, plan_.layer(l), l);
        const MatrixView dh = input_gradient(l);
        BackwardStep step{.backend = backend_,
                          .aggregate = aggregate,
                          .values = parameters_.values(l),
                          .gradients = parameters_.gradients(l),
                          .h = input(l),
                          .g = gradient(l),
                          .dh = dh,
                          .products = products(l),
                          .kept = kept(l),
                          .entries = entry_mask(l),
                          .gradients_ready = {}};
        if (ready)
            step.gradients_ready = [&, l] { ready(parameters_.gradient_row(l), !plan_.spec(l).input_gradient); };
        plan_.layer(l).backward(step);
        if (l > 0)  // G = dH ∘ σ'(Z) of the layer below, in that layer's own buffer
            backend_.apply_backward(epilogue(l - 1), output(l - 1), dh, gradient(l - 1));
    }
    if (const DropoutMask m = mask(0); plan_.trains_input() && m.active())
        backend_.apply_backward({.dropout = m, .row_ids = row_ids_}, input_.dense, input_gradient(),
                                input_gradient());
}

void Network::aggregate_input(MatrixView input, DistributedSpmm& spmm) {
    require(plan_.aggregated_input, "the plan's layer 0 multiplies by no adjacency");
    const MatrixView aggregate = plan_.holds_aggregate() ? kept(0) : input;
    spmm.begin_evaluation();
    spmm.begin_layer(0);
    const std::int64_t columns = plan_.setup_panel();
    for (std::int64_t c = 0; c < input.cols; c += columns) {
        const std::int64_t count = std::min(columns, input.cols - c);
        const MatrixView panel = input.cols_from(c, count), from = products(0).reshaped(rows_, count),
                         to = output(0, count);
        backend_.copy(panel, from);
        spmm.multiply(Direction::forward, from, to, {});
        backend_.copy(to, aggregate.cols_from(c, count));
    }
}

}  // namespace gnnbench
