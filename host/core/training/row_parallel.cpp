#include <gnnbench/training/row_parallel.hpp>

#include <algorithm>
#include <array>
#include <limits>

#include <gnnbench/training/parameters.hpp>
#include <gnnbench/usize.hpp>
#include <gnnbench/training/vertex_data.hpp>

namespace gnnbench {
namespace {

class RowParallelTrainer final : public CollectiveTrainer {
public:
    RowParallelTrainer(const Problem& problem, Rank rank, RowLayout layout, LayerPlan plan,
                       const MakeSpmm& make_spmm)
        : problem_(problem),
          model_(problem.model),
          kernel_(rank.kernel),
          group_(std::move(layout.group)),
          plan_(std::move(plan)),
          owned_(problem.index.owned(layout.part)),
          parameters_(
              model_, problem.train,
              problem.initial_weights ? *problem.initial_weights : initial_weights(model_, problem.train.seed),
              kernel_),
          vertices_(problem, owned_, kernel_),
          input_(load_features(problem, owned_, 0, problem.dataset.feature_count, kernel_)) {
        const Adjacency adjacency(problem.dataset.graph, model_);
        spmm_ = make_spmm(adjacency, plan_.widest_operand(model_));
        load();
        allocate_buffers();
        if (plan_.order[0] == LayerOrder::aggregated_input) aggregate_input();
    }

    Step train_step(std::int64_t epoch, std::int64_t) override {
        const Event summed = start_loss(forward(Pass::training, epoch));
        backward(epoch);
        parameters_.step();
        if (plan_.trains_input) step_input(epoch);
        // Read last, so that the device does not stall in the middle of the epoch.
        kernel_.wait(StreamRole::compute, summed);
        double loss = 0;
        kernel_.download_bytes(loss_.data(), &loss, sizeof loss);
        return {.loss = loss, .samples = vertices_.samples};
    }

    Accuracy evaluate() override {
        // Counts of correct and total per split, as float64 so that one scalar all-reduce adds them up.
        std::array<std::int64_t, 6> counts{};
        kernel_.count_correct(forward(Pass::evaluation, 0), vertices_.loss_input(), counts_.data());
        kernel_.download_bytes(counts_.data(), counts.data(), sizeof counts);
        const std::vector<double> local(counts.begin(), counts.end());
        const HostMatrix sums = all_reduced(local);
        Accuracy a;
        for (std::size_t s = 0; s < 3; ++s)
            a.of[s] = sums.values[2 * s + 1] > 0 ? sums.values[2 * s] / sums.values[2 * s + 1]
                                                 : std::numeric_limits<double>::quiet_NaN();
        return a;
    }

    ModelWeights weights() override { return parameters_.weights(); }
    ModelWeights gradients() override { return parameters_.gradients(); }
    OwnedRows embeddings() override {
        return {{owned_.begin(), owned_.end()}, kernel_.download(forward(Pass::evaluation, 0))};
    }
    std::string notes() const override { return spmm_->notes(); }

private:
    enum class Pass { training, evaluation };

    std::int64_t rows() const { return static_cast<std::int64_t>(owned_.size()); }
    std::int64_t width(int l) const { return model_.widths[usize(l)]; }
    LayerOrder order(int l) const { return plan_.order[usize(l)]; }
    int last() const { return model_.layers() - 1; }
    /// Layer l's output buffer read as [n_p × columns].
    MatrixView output(int l, std::int64_t columns) const {
        return outputs_[usize(l)].view().reshaped(rows(), columns);
    }
    MatrixView output(int l) const { return output(l, width(l + 1)); }
    bool separate() const { return plan_.buffers == Buffers::separate; }
    /// The buffer of layer l's T, U or V [n_p × columns].
    MatrixView product(int l, std::int64_t columns) const {
        return (separate() ? products_[usize(l)] : shared_).view().reshaped(rows(), columns);
    }
    /// dLoss/dZ of layer l: [n_p × g].
    MatrixView gradient(int l) const { return separate() ? gradients_[usize(l)].view() : output(l); }
    /// The buffer of layer l's dH [n_p × f]; G of layer l is no longer needed when it is written.
    MatrixView input_gradient(int l) const {
        if (l == 0) return input_gradient_;
        return separate() ? gradient(l - 1) : output(l, width(l));
    }

    void load() {
        loss_ = kernel_.upload(std::span<const double>(std::array{0.0}));
        counts_ = kernel_.upload(std::span<const std::int64_t>(std::array<std::int64_t, 6>{}));
    }

    Matrix buffer(std::int64_t columns) { return columns > 0 ? kernel_.matrix(rows(), columns) : Matrix(); }

    void allocate_buffers() {
        for (int l = 0; l <= last(); ++l) {
            const LayerBuffers of_layer = plan_.layer_buffers(model_, l);
            outputs_.push_back(buffer(of_layer.output));
            gradients_.push_back(buffer(of_layer.gradient));
            products_.push_back(buffer(of_layer.product));
            kept_.push_back(buffer(of_layer.kept));
        }
        shared_ = buffer(plan_.shared_columns(model_));
        if (problem_.train.input_dropout > 0) dropped_input_ = kernel_.matrix(rows(), width(0));
        if (!plan_.trains_input) return;
        const bool moments = problem_.train.optimizer != OptimizerKind::sgd;
        input_gradient_ = kernel_.matrix(rows(), width(0));
        for (Matrix& m : input_moments_) {
            m = kernel_.matrix(moments ? rows() : 0, width(0));
            kernel_.fill(m, 0);
        }
    }

    /// X ← ÂX, panel by panel through two of the epoch's buffers, so that it needs no extra memory.
    void aggregate_input() {
        spmm_->begin_evaluation();
        spmm_->begin_layer(0);
        const std::int64_t columns = plan_.setup_panel(model_);
        for (std::int64_t c = 0; c < width(0); c += columns) {
            const std::int64_t count = std::min(columns, width(0) - c);
            const MatrixView panel = input_.view().cols_from(c, count);
            kernel_.copy(panel, product(0, count));
            spmm_->multiply(Direction::forward, product(0, count), output(0, count), {});
            kernel_.copy(output(0, count), panel);
        }
    }

    DropoutMask mask(int layer, Pass pass, std::int64_t epoch) const {
        if (pass == Pass::evaluation) return {};
        return input_mask(model_, problem_.train, layer, epoch);
    }

    /// The epilogue of layer l's product: bias, σ except after the last layer, and the next layer's dropout.
    Epilogue epilogue(int l, Pass pass, std::int64_t epoch) const {
        return {.bias = parameters_.bias(l).data,
                .activation = l == last() ? Activation::identity : model_.activation,
                .dropout = mask(l + 1, pass, epoch),
                .row_ids = vertices_.ids.data()};
    }

    /// Layer l's input H: X or the output below.
    MatrixView input(int l, Pass pass) const {
        if (l > 0) return output(l - 1);
        return pass == Pass::training && problem_.train.input_dropout > 0 ? dropped_input_.view() : input_.view();
    }

    ConstMatrixView forward(Pass pass, std::int64_t epoch) {
        if (const DropoutMask m = mask(0, pass, epoch); m.active())
            kernel_.dropout({.dropout = m, .row_ids = vertices_.ids.data()}, input_, dropped_input_);
        if (pass == Pass::training)
            spmm_->begin_epoch(epoch);
        else
            spmm_->begin_evaluation();
        for (int l = 0; l <= last(); ++l) forward_layer(l, pass, epilogue(l, pass, epoch));
        return output(last());
    }

    /// c ← epilogue(Âb) or Âᵀb for layer l, of the plan's width.
    void multiply(Direction d, int l, MatrixView b, MatrixView c, const Epilogue& e = {}) {
        require(b.cols == plan_.width(d, model_, l), "a product is not as wide as the layer's plan");
        spmm_->begin_layer(l);
        spmm_->multiply(d, b, c, e);
    }

    void forward_layer(int l, Pass pass, const Epilogue& e) {
        const MatrixView h = input(l, pass), z = output(l), w = parameters_.weight(l);
        switch (order(l)) {
            case LayerOrder::transform_first:
            case LayerOrder::transform_first_shortcut: {
                const MatrixView t = product(l, width(l + 1));
                kernel_.gemm(Transpose::no, h, Transpose::no, w, t);  // T = H W
                multiply(Direction::forward, l, t, z, e);             // H' = σ(Â T + b)
                return;
            }
            case LayerOrder::aggregate_first:
            case LayerOrder::aggregate_first_kept: {
                const MatrixView t = plan_.keeps(l) ? kept_[usize(l)].view() : product(l, width(l));
                multiply(Direction::forward, l, h, t);                       // T = Â H
                kernel_.gemm(Transpose::no, t, Transpose::no, w, z, {}, e);  // H' = σ(T W + b)
                return;
            }
            case LayerOrder::aggregated_input:
                kernel_.gemm(Transpose::no, h, Transpose::no, w, z, {}, e);
                return;
        }
    }

    /// The global mean over train vertices; where buffers are shared, G of the last layer replaces its logits.
    Event start_loss(ConstMatrixView logits) {
        kernel_.softmax_cross_entropy(logits, vertices_.loss_input(), gradient(last()), loss_.data());
        return group_->all_reduce_scalars(loss_.data(), 1);
    }

    void backward(std::int64_t epoch) {
        std::vector<Event> reductions;
        for (int l = last(); l >= 0; --l) {
            backward_layer(l, reductions);
            if (l > 0)  // G = dH ∘ σ'(Z) of the layer below, in that layer's own buffer
                kernel_.apply_backward(epilogue(l - 1, Pass::training, epoch), output(l - 1), input_gradient(l),
                                       gradient(l - 1));
        }
        for (const Event& e : reductions) kernel_.wait(StreamRole::compute, e);
    }

    /// dW and db of layer l, whose all-reduce stays in flight while dH is computed.
    void backward_layer(int l, std::vector<Event>& reductions) {
        const MatrixView g = gradient(l), h = input(l, Pass::training), w = parameters_.weight(l);
        if (model_.bias) kernel_.column_sums(g, parameters_.bias_gradient(l));
        const auto weight_gradient = [&](ConstMatrixView left, ConstMatrixView right) {
            kernel_.gemm(Transpose::yes, left, Transpose::no, right, parameters_.weight_gradient(l));
            if (plan_.has_input_gradient(l))
                reductions.push_back(group_->all_reduce(parameters_.gradient(l)));
            else
                group_->all_reduce_now(parameters_.gradient(l));  // nothing left to overlap
        };
        switch (order(l)) {
            case LayerOrder::transform_first:
            case LayerOrder::aggregate_first: {
                const MatrixView u = product(l, width(l + 1));
                multiply(Direction::backward, l, g, u);  // U = Âᵀ G
                weight_gradient(h, u);                   // dW = Hᵀ U
                if (plan_.has_input_gradient(l))         // dH = U Wᵀ
                    kernel_.gemm(Transpose::no, u, Transpose::yes, w, input_gradient(l));
                return;
            }
            case LayerOrder::aggregate_first_kept: {
                weight_gradient(kept_[usize(l)], g);  // dW = Tᵀ G
                if (!plan_.has_input_gradient(l)) return;
                const MatrixView v = product(l, width(l));
                kernel_.gemm(Transpose::no, g, Transpose::yes, w, v);    // V = G Wᵀ
                multiply(Direction::backward, l, v, input_gradient(l));  // dH = Âᵀ V
                return;
            }
            case LayerOrder::transform_first_shortcut:  // dW ≈ Xᵀ G
            case LayerOrder::aggregated_input:          // dW = (ÂX)ᵀ G
                weight_gradient(h, g);
                return;
        }
    }

    /// One optimizer step on X; every rank trains the rows it owns.
    void step_input(std::int64_t epoch) {
        if (const DropoutMask m = mask(0, Pass::training, epoch); m.active())
            kernel_.apply_backward({.dropout = m, .row_ids = vertices_.ids.data()}, dropped_input_,
                                   input_gradient_, input_gradient_);
        const ParameterSlot slot{.weight = input_.view().data,
                                 .gradient = input_gradient_.view().data,
                                 .first_moment = input_moments_[0].view().data,
                                 .second_moment = input_moments_[1].view().data,
                                 .count = rows() * width(0),
                                 .weight_decay = 0};
        kernel_.optimizer_step(problem_.train, ++input_steps_, std::span(&slot, 1));
    }

    HostMatrix all_reduced(const std::vector<double>& local) {
        // Through the device, because these sums are sent as every other message is.
        const auto count = static_cast<std::int64_t>(local.size());
        Array<double> device = kernel_.upload(std::span<const double>(local));
        group_->all_reduce_scalars_now(device.data(), count);
        HostMatrix out(1, count);
        kernel_.download_bytes(device.data(), out.values.data(), out.values.size() * sizeof(double));
        return out;
    }

    const Problem problem_;
    const ModelSpec& model_;
    Kernel& kernel_;
    std::shared_ptr<Communicator> group_;
    LayerPlan plan_;
    std::span<const GlobalId> owned_;
    ReplicatedParameters parameters_;
    std::unique_ptr<DistributedSpmm> spmm_;
    VertexData vertices_;
    Matrix input_, dropped_input_, shared_;
    std::vector<Matrix> outputs_, gradients_, products_, kept_;
    Matrix input_gradient_;  ///< of trained features
    std::array<Matrix, 2> input_moments_;
    std::int64_t input_steps_ = 0;
    Array<std::int64_t> counts_;
    Array<double> loss_;
};

}  // namespace

std::unique_ptr<CollectiveTrainer> make_row_parallel_trainer(const Problem& problem, Rank rank, LayerPlan plan,
                                                             const MakeSpmm& make_spmm) {
    // The caller owns the world communicator: a non-owning shared_ptr.
    RowLayout layout{rank.world.rank(), std::shared_ptr<Communicator>(std::shared_ptr<void>(), &rank.world)};
    return make_row_parallel_trainer(problem, rank, std::move(layout), std::move(plan), make_spmm);
}

std::unique_ptr<CollectiveTrainer> make_row_parallel_trainer(const Problem& problem, Rank rank, RowLayout layout,
                                                             LayerPlan plan, const MakeSpmm& make_spmm) {
    return std::make_unique<RowParallelTrainer>(problem, rank, std::move(layout), std::move(plan), make_spmm);
}

}  // namespace gnnbench
