#include <gnnbench/training/row_parallel.hpp>

#include <array>
#include <span>

#include <fmt/format.h>

#include <gnnbench/training/loss.hpp>
#include <gnnbench/training/network.hpp>
#include <gnnbench/training/parameters.hpp>
#include <gnnbench/training/problem.hpp>
#include <gnnbench/training/vertex_data.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

class RowParallelTrainer final : public CollectiveTrainer {
public:
    RowParallelTrainer(const Problem& problem, Rank rank, RowLayout layout, LayerPlan plan,
                       const MakeSpmm& make_spmm)
        : problem_(problem),
          backend_(rank.backend),
          group_(std::move(layout.group)),
          held_(HeldVertices(problem.index, layout.part, 1, backend_).with_copies(layout.copies)),
          network_(std::move(plan), problem.model, problem.train, *first_weights_of(problem), held_.size(),
                   backend_),
          vertices_(problem, held_, backend_) {
        load_input(layout);
        const Adjacency adjacency = adjacency_of(problem);
        spmm_ = make_spmm(adjacency, network_.plan().widest_operand());
        load();
        if (network_.plan().trains_input()) make_input_moments();
        if (network_.plan().aggregated_input) network_.aggregate_input(input_, *spmm_);
    }

    Step train_step(std::int64_t epoch, std::int64_t) override {
        const Event summed = start_loss(forward(Pass::training, epoch));
        backward();
        network_.parameters().step();
        if (network_.plan().trains_input()) step_input();
        // Read last, so that the device does not stall in the middle of the epoch.
        backend_.wait(StreamRole::compute, summed);
        double loss = 0;
        backend_.download_bytes(loss_.data(), &loss, sizeof loss);
        return {.loss = loss, .samples = vertices_.samples};
    }

    Score evaluate() override {
        const std::vector<double> mine =
            count_score(backend_, forward(Pass::evaluation, 0), vertices_.loss_input(), counts_.data());
        return score_of(vertices_.multi_label, all_reduced(mine).values);
    }

    ModelWeights weights() override { return network_.parameters().weights(); }
    ModelWeights gradients() override { return network_.parameters().gradients(); }
    Moments moments() override { return network_.parameters().moments(); }
    OwnedRows embeddings() override {
        const HeldVertices owned = held_.run(0, held_.size() - held_.copies());
        return {owned.ids(), backend_.download(forward(Pass::evaluation, 0).rows_from(0, owned.size()))};
    }
    void finish() override { spmm_->finish(); }
    bool runs_on() const override { return spmm_->runs_on(); }
    std::vector<RowAges> row_ages() const override { return spmm_->row_ages(); }
    std::string notes() const override {
        std::string of_spmm = spmm_->notes();
        if (!problem_.model.sparse_features) return of_spmm;
        return fmt::format("features: {}{}{}", features_note(), of_spmm.empty() ? "" : "\n", of_spmm);
    }

private:
    void load_input(const RowLayout& layout) {
        const LayerPlan& plan = network_.plan();
        const std::int64_t columns = plan.spec(0).f;
        if (plan.holds_dense_input()) input_ = load_features(problem_, held_, 0, columns, backend_);
        // Where nothing holds values, the zeros of these vertices are counted all the same.
        if (plan.holds_sparse_input())
            sparse_input_ = load_sparse_features(
                problem_, HeldVertices(problem_.index.owned(layout.part)).with_copies(layout.copies), backend_);
    }

    /// X as layer 0 reads it.
    LayerInput input() const {
        const MatrixView dense{input_.view().data, held_.size(), network_.plan().spec(0).f,
                               network_.plan().spec(0).f, backend_.dtype()};
        return {dense, sparse_input_.get()};
    }

    /// "49216 nonzeros in 2708 x 1433, csr" and, where it is so, that X is dense, too, for the products by Â.
    std::string features_note() const {
        if (!sparse_input_) return "dense, since layer 0 multiplies ÂX and never X itself";
        return fmt::format("{} nonzeros in {} x {}, {}{}", sparse_input_->nonzeros, sparse_input_->rows,
                           sparse_input_->cols, sparse_input_->format,
                           network_.plan().holds_dense_input() ? "; dense, too, for products by Â" : "");
    }

    void load() {
        loss_ = backend_.upload(std::span<const double>(std::array{0.0}));
        const std::vector<std::int64_t> counts(usize(score_counts(vertices_.multi_label)));
        counts_ = backend_.upload(std::span<const std::int64_t>(counts));
    }

    void make_input_moments() {
        const bool moments = problem_.train.optimizer != OptimizerKind::sgd;
        for (Matrix& m : input_moments_) {
            m = backend_.matrix(moments ? input_.rows() : 0, input_.cols());
            backend_.fill(m, 0);
        }
    }

    ConstMatrixView forward(Pass pass, std::int64_t epoch) {
        return network_.forward(input(), vertices_.ids.data(), pass, epoch, *spmm_);
    }

    /// The global mean over train vertices; where buffers are shared, G of the last layer replaces its logits.
    Event start_loss(ConstMatrixView logits) {
        loss_and_gradient(backend_, logits, vertices_.loss_input(), network_.output_gradient(), loss_.data());
        return group_->all_reduce_scalars(loss_.data(), 1);
    }

    /// Each layer's gradients are summed while the rest of the backward pass is computed.
    void backward() {
        std::vector<Event> reductions;
        network_.backward(*spmm_, [&](MatrixView gradients, bool last) {
            if (last)
                group_->all_reduce_now(gradients);  // nothing left to overlap
            else
                reductions.push_back(group_->all_reduce(gradients));
        });
        for (const Event& e : reductions) backend_.wait(StreamRole::compute, e);
    }

    /// One optimizer step on X; every rank trains the rows it owns.
    void step_input() {
        const ParameterSlot slot{.weight = input_.view().data,
                                 .gradient = network_.input_gradient().data,
                                 .first_moment = input_moments_[0].view().data,
                                 .second_moment = input_moments_[1].view().data,
                                 .count = input_.rows() * input_.cols(),
                                 .weight_decay = 0};
        backend_.optimizer_step(problem_.train, ++input_steps_, std::span(&slot, 1));
    }

    HostMatrix all_reduced(const std::vector<double>& local) {
        // Through the device, because these sums are sent as every other message is.
        const auto count = static_cast<std::int64_t>(local.size());
        Array<double> device = backend_.upload(std::span<const double>(local));
        group_->all_reduce_scalars_now(device.data(), count);
        HostMatrix out(1, count);
        backend_.download_bytes(device.data(), out.values.data(), out.values.size() * sizeof(double));
        return out;
    }

    const Problem problem_;
    Backend& backend_;
    std::shared_ptr<Communicator> group_;
    HeldVertices held_;
    Network network_;
    std::unique_ptr<DistributedSpmm> spmm_;
    VertexData vertices_;
    Matrix input_;                                  ///< X; empty where the plan reads only the sparse one
    std::unique_ptr<PreparedMatrix> sparse_input_;  ///< X; nullptr where the plan reads only the dense one
    std::array<Matrix, 2> input_moments_;           ///< of trained features
    std::int64_t input_steps_ = 0;
    Array<std::int64_t> counts_;
    Array<double> loss_;
};

class WholeSpmm final : public StagedSpmm {
public:
    WholeSpmm(const Adjacency& a, const IndexMap& index, Backend& backend)
        : StagedSpmm(backend), blocks_(a, index, 0, backend) {}
    // C = Â B, or Âᵀ B
    void accumulate(Direction d, BlockSum& sum) override { sum.add(blocks_.block(d, 0), sum.operand(), {}); }
    std::string notes() const override { return fmt::format("matrix: {}", blocks_.formats()); }

private:
    PreparedBlocks blocks_;
};

}  // namespace

std::unique_ptr<DistributedSpmm> make_whole_spmm(const Adjacency& a, const IndexMap& index, Backend& backend) {
    return std::make_unique<WholeSpmm>(a, index, backend);
}

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
