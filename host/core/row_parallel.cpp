#include <gnnbench/row_parallel.hpp>

#include <algorithm>
#include <array>
#include <limits>

#include <gnnbench/parameters.hpp>
#include <gnnbench/trained_features.hpp>
#include <gnnbench/vertex_data.hpp>

namespace gnnbench {
namespace {

class RowParallelTrainer final : public Trainer {
public:
    RowParallelTrainer(const Problem& problem, Rank rank, RowLayout layout, LayerPlan plan,
                       const MakeSpmm& make_spmm)
        : problem_(problem),
          model_(problem.model),
          kernel_(rank.kernel),
          trains_input_(trains_features(problem.params)),
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

    double train_epoch(std::int64_t epoch) override {
        const Event summed = start_loss(forward(Pass::training, epoch));
        backward(epoch);
        parameters_.step();
        if (trains_input_) step_input(epoch);
        // Read last, so that a device is not held up in the middle of the epoch.
        kernel_.wait(StreamRole::compute, summed);
        double loss = 0;
        kernel_.download_bytes(loss_.data(), &loss, sizeof loss);
        return loss;
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
    std::int64_t width(int l) const { return model_.widths[static_cast<std::size_t>(l)]; }
    LayerOrder order(int l) const { return plan_.order[static_cast<std::size_t>(l)]; }
    int last() const { return model_.layers() - 1; }
    /// Layer l's output buffer read as [n_p × columns].
    MatrixView output(int l, std::int64_t columns) const {
        return outputs_[static_cast<std::size_t>(l)].view().reshaped(rows(), columns);
    }
    MatrixView output(int l) const { return output(l, width(l + 1)); }
    MatrixView shared(std::int64_t columns) const { return shared_.view().reshaped(rows(), columns); }

    void load() {
        loss_ = kernel_.upload(std::span<const double>(std::array{0.0}));
        counts_ = kernel_.upload(std::span<const std::int64_t>(std::array<std::int64_t, 6>{}));
    }

    void allocate_buffers() {
        for (int l = 0; l <= last(); ++l) {
            outputs_.push_back(kernel_.matrix(rows(), plan_.output_columns(model_, l)));
            kept_.push_back(plan_.keeps(l) ? kernel_.matrix(rows(), width(l)) : Matrix());
        }
        shared_ = kernel_.matrix(rows(), plan_.shared_columns(model_));
        if (problem_.train.input_dropout > 0) dropped_input_ = kernel_.matrix(rows(), width(0));
        if (!trains_input_) return;
        require(order(0) == LayerOrder::transform_first, "trained features need a layer 0 that transforms first");
        const bool moments = problem_.train.optimizer != OptimizerKind::sgd;
        input_gradient_ = kernel_.matrix(rows(), width(0));
        for (Matrix& m : input_moments_) {
            m = kernel_.matrix(moments ? rows() : 0, width(0));
            kernel_.fill(m, 0);
        }
    }

    /// X ← ÂX, panel by panel through two buffers of the epoch, which takes no memory of its own.
    void aggregate_input() {
        spmm_->begin_evaluation();
        const std::int64_t columns = std::min({shared_.cols(), outputs_[0].cols(), plan_.widest_operand(model_)});
        for (std::int64_t c = 0; c < width(0); c += columns) {
            const std::int64_t count = std::min(columns, width(0) - c);
            const MatrixView panel = input_.view().cols_from(c, count);
            kernel_.copy(panel, shared(count));
            spmm_->multiply(Direction::forward, shared(count), output(0, count), {});
            kernel_.copy(output(0, count), panel);
        }
    }

    DropoutMask mask(int layer, Pass pass, std::int64_t epoch) const {
        if (pass == Pass::evaluation) return {};
        return input_mask(model_, problem_.train, layer, epoch);
    }

    /// What makes layer l's product its output: bias, σ except after the last layer, and the next layer's dropout.
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

    void forward_layer(int l, Pass pass, const Epilogue& e) {
        const MatrixView h = input(l, pass), z = output(l), w = parameters_.weight(l);
        switch (order(l)) {
            case LayerOrder::transform_first:
            case LayerOrder::transform_first_shortcut: {
                const MatrixView t = shared(width(l + 1));
                kernel_.gemm(Transpose::no, h, Transpose::no, w, t);  // T = H W
                spmm_->multiply(Direction::forward, t, z, e);         // H' = σ(Â T + b)
                return;
            }
            case LayerOrder::aggregate_first:
            case LayerOrder::aggregate_first_shortcut:
            case LayerOrder::aggregate_first_kept: {
                const MatrixView t = plan_.keeps(l) ? kept_[static_cast<std::size_t>(l)].view() : shared(width(l));
                spmm_->multiply(Direction::forward, h, t, {});               // T = Â H
                kernel_.gemm(Transpose::no, t, Transpose::no, w, z, {}, e);  // H' = σ(T W + b)
                return;
            }
            case LayerOrder::aggregated_input:
                kernel_.gemm(Transpose::no, h, Transpose::no, w, z, {}, e);
                return;
        }
    }

    /// The global mean over train vertices; G of the last layer replaces its logits.
    Event start_loss(ConstMatrixView logits) {
        kernel_.softmax_cross_entropy(logits, vertices_.loss_input(), output(last()), loss_.data());
        return group_->all_reduce_scalars(loss_.data(), 1);
    }

    void backward(std::int64_t epoch) {
        std::vector<Event> reductions;
        for (int l = last(); l >= 0; --l) {
            backward_layer(l, reductions);
            if (l > 0)  // G = dH ∘ σ'(Z) of the layer below, in that layer's own buffer
                kernel_.apply_backward(epilogue(l - 1, Pass::training, epoch), output(l - 1), output(l, width(l)),
                                       output(l - 1));
        }
        for (const Event& e : reductions) kernel_.wait(StreamRole::compute, e);
    }

    /// dW and db of layer l, whose all-reduce runs on while dH is computed into the layer's own buffer.
    void backward_layer(int l, std::vector<Event>& reductions) {
        const MatrixView g = output(l), h = input(l, Pass::training), w = parameters_.weight(l);
        if (model_.bias) kernel_.column_sums(g, parameters_.bias_gradient(l));
        const auto weight_gradient = [&](ConstMatrixView left, ConstMatrixView right) {
            kernel_.gemm(Transpose::yes, left, Transpose::no, right, parameters_.weight_gradient(l));
            if (l > 0 || trains_input_)
                reductions.push_back(group_->all_reduce(parameters_.gradient(l)));
            else
                group_->all_reduce_now(parameters_.gradient(l));  // nothing is left to compute meanwhile
        };
        const auto input_gradient_from = [&](MatrixView u) {  // dH = U Wᵀ
            if (l > 0 || trains_input_)
                kernel_.gemm(Transpose::no, u, Transpose::yes, w,
                             l > 0 ? output(l, width(l)) : input_gradient_.view());
        };
        switch (order(l)) {
            case LayerOrder::transform_first_shortcut:
                if (l == 0) return weight_gradient(h, g);  // dW ≈ Xᵀ G
                [[fallthrough]];
            case LayerOrder::transform_first:
            case LayerOrder::aggregate_first: {
                const MatrixView u = shared(width(l + 1));
                spmm_->multiply(Direction::backward, g, u, {});  // U = Âᵀ G
                weight_gradient(h, u);                           // dW = Hᵀ U
                return input_gradient_from(u);
            }
            case LayerOrder::aggregate_first_kept:
                weight_gradient(kept_[static_cast<std::size_t>(l)], g);
                break;
            case LayerOrder::aggregate_first_shortcut:
            case LayerOrder::aggregated_input:
                weight_gradient(h, g);
                break;
        }
        if (l == 0) return;
        const MatrixView v = shared(width(l));
        kernel_.gemm(Transpose::no, g, Transpose::yes, w, v);              // V = G Wᵀ
        spmm_->multiply(Direction::backward, v, output(l, width(l)), {});  // dH = Âᵀ V
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
        // Through the device, because scalars of a whole-graph sum travel as every other message does.
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
    bool trains_input_;  ///< layer 0's input is trained too; its layer transforms first
    std::shared_ptr<Communicator> group_;
    LayerPlan plan_;
    std::span<const GlobalId> owned_;
    ReplicatedParameters parameters_;
    std::unique_ptr<DistributedSpmm> spmm_;
    VertexData vertices_;
    Matrix input_, dropped_input_, shared_;
    std::vector<Matrix> outputs_, kept_;
    Matrix input_gradient_;  ///< of trained features
    std::array<Matrix, 2> input_moments_;
    std::int64_t input_steps_ = 0;
    Array<std::int64_t> counts_;
    Array<double> loss_;
};

}  // namespace

std::unique_ptr<Trainer> make_row_parallel_trainer(const Problem& problem, Rank rank, LayerPlan plan,
                                                   const MakeSpmm& make_spmm) {
    // The world is the caller's: shared without owning.
    RowLayout layout{rank.world.rank(), std::shared_ptr<Communicator>(std::shared_ptr<void>(), &rank.world)};
    return make_row_parallel_trainer(problem, rank, std::move(layout), std::move(plan), make_spmm);
}

std::unique_ptr<Trainer> make_row_parallel_trainer(const Problem& problem, Rank rank, RowLayout layout,
                                                   LayerPlan plan, const MakeSpmm& make_spmm) {
    return std::make_unique<RowParallelTrainer>(problem, rank, std::move(layout), std::move(plan), make_spmm);
}

}  // namespace gnnbench
