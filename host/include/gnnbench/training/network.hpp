#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/model.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/training/layer_plan.hpp>
#include <gnnbench/training/parameters.hpp>
#include <gnnbench/training/stated_memory.hpp>

namespace gnnbench {

/// Training drops out, evaluation does not.
enum class Pass : std::uint8_t { training, evaluation };

/// The layers of a model at work on one device: parameters, buffers, forward and backward pass for a number of rows
/// that may change from step to step. It knows no ranks and no graph: the input comes from the caller, and
/// aggregation from a DistributedSpmm.
class Network {
public:
    /// Buffers for up to max_rows rows, and rows() = max_rows. The back end must outlive it.
    Network(LayerPlan plan, const ModelSpec& model, const TrainSpec& train, const ModelWeights& initial,
            std::int64_t max_rows, Backend& backend);

    /// The number of rows of the following passes, at most max_rows.
    void set_rows(std::int64_t rows);
    std::int64_t rows() const { return rows_; }
    const LayerPlan& plan() const { return plan_; }
    ReplicatedParameters& parameters() { return parameters_; }
    const ReplicatedParameters& parameters() const { return parameters_; }

    /// The output of the last layer [rows × classes] for the input X [rows × f_0]. row_ids [rows]: original ids,
    /// which with `step` key dropout. Input and ids must stay until backward() is done.
    ConstMatrixView forward(const LayerInput& input, const std::int64_t* row_ids, Pass pass, std::int64_t step,
                            DistributedSpmm& spmm);
    /// Where the loss writes dLoss/dZ of the last layer; where buffers are shared, over the output of forward().
    MatrixView output_gradient() const { return gradient(plan_.size() - 1); }

    /// Called with all gradients of one layer, as one row, as soon as they are complete. `last`: nothing is computed
    /// afterwards.
    using GradientsReady = std::function<void(MatrixView gradients, bool last)>;
    /// The gradients of the last training pass, from output_gradient().
    void backward(DistributedSpmm& spmm, const GradientsReady& ready = {});
    /// dLoss/dX [rows × f_0] of the last backward(), where the plan trains the input.
    MatrixView input_gradient() const;

    /// ÂX for a plan with an aggregated input, panel by panel through two buffers, so that it needs no extra memory: in
    /// X's place, or in a buffer of its own where the plan holds both. From then on input dropout falls on what layer 0
    /// multiplies: on ÂX, or on [X, ÂX], of which ÂX is columns f to 2f. (BNS-GCN's released code)
    void aggregate_input(MatrixView input, DistributedSpmm& spmm);

    /// What the constructor allocates.
    static void state_memory(MemoryStatement& m, const LayerPlan& plan, const ModelSpec& model,
                             const TrainSpec& train, std::int64_t max_rows);

private:
    int last() const { return plan_.size() - 1; }
    Matrix buffer(std::int64_t columns);
    /// The buffer [rows × columns].
    MatrixView used(const Matrix& buffer, std::int64_t columns) const {
        return buffer.view().reshaped(rows_, columns);
    }
    MatrixView output(int l, std::int64_t columns) const { return used(outputs_[usize(l)], columns); }
    MatrixView output(int l) const { return output(l, plan_.spec(l).g); }
    MatrixView gradient(int l) const;
    MatrixView input_gradient(int l) const;
    MatrixView products(int l) const;
    MatrixView kept(int l) const;
    MatrixView stacked(std::int64_t before, std::int64_t columns) const;
    LayerInput input(int l) const { return l > 0 ? output(l - 1) : input_; }
    void drop_input();
    DropoutMask mask(int model_layer) const;
    DropoutMask entry_mask(int l) const;
    Epilogue epilogue(int l) const;

    const LayerPlan plan_;
    const ModelSpec model_;
    const TrainSpec train_;
    Backend& backend_;
    ReplicatedParameters parameters_;
    std::int64_t max_rows_, rows_;
    std::vector<Matrix> outputs_, gradients_, products_,
        kept_;                               ///< by layer; the middle two where buffers are separate
    Matrix shared_product_, late_gradient_;  ///< where they are shared; the former also where layers attend
    Matrix dropped_input_, dropped_aggregate_, dx_;
    // Set by the last forward pass.
    LayerInput input_;  ///< what layer 0 reads: X or X with dropout
    const std::int64_t* row_ids_ = nullptr;
    Pass pass_ = Pass::evaluation;
    std::int64_t step_ = 0;
};

}  // namespace gnnbench
