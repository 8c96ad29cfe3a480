#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace gnnbench {

enum class Activation : std::uint8_t { identity, relu, leaky_relu, sigmoid, elu };
/// leaky_relu's slope for negative arguments.
inline constexpr double leaky_slope = 0.01;

/// Â from A: symmetric D_row^-½ A D_col^-½, mean (each row divided by its sum), or A as it is. A zero degree gives 0.
enum class Normalisation : std::uint8_t { symmetric, mean, none };
enum class FeatureNormalisation : std::uint8_t { none, row };
enum class Initialiser : std::uint8_t { glorot, kaiming };

/// What a layer of the model is. σ follows every layer but the last.
enum class LayerKind : std::uint8_t {
    gcn,   ///< Z = Â H W + b  (Kipf & Welling, ICLR 2017)
    sage,  ///< Z = H W_self + Â H W_neighbour + b, Â the mean over neighbours  (Hamilton et al., NeurIPS 2017)
    gin,   ///< Z = MLP((A + (1 + ε) I) H), two linear maps with ReLU between them  (Xu et al., ICLR 2019)
    gat,  ///< Z = the heads' columns, or mean, of softmax(λ(a_l·h_i + a_r·h_j)) h, h = H W, + b  (Veličković et al., 2018)
    /// The same of softmax(⟨a, λ(s_i + t_j)⟩) t, s = H W_row, t = H W_neighbour  (Brody et al., 2022)
    gatv2,
};

/// What a GAT layer makes of its heads: their columns beside each other, or their mean.
enum class HeadsCombined : std::uint8_t { columns, mean };

/// What is learned. Layer l maps widths[l] → widths[l+1].
struct ModelSpec {
    LayerKind kind = LayerKind::gcn;
    std::vector<std::int64_t> widths;  ///< features, hidden …, classes
    Activation activation = Activation::relu;
    Normalisation normalisation = Normalisation::symmetric;
    FeatureNormalisation feature_normalisation = FeatureNormalisation::none;
    bool self_loops = true;  ///< a unit diagonal entry wherever there is none
    double epsilon = 0;      ///< GIN's ε, fixed: 1 + ε is added to A's diagonal
    bool bias = true;
    std::vector<std::int64_t> heads = {1};           ///< GAT's and GATv2's, of all layers or of each
    double negative_slope = 0.2;                     ///< of their scores, for negative arguments
    HeadsCombined combine = HeadsCombined::columns;  ///< in their hidden layers; the last has the heads' mean
    bool residual = false;                           ///< theirs: + H W_residual
    double attention_dropout = 0;                    ///< of their coefficients α, in training
    bool share_weights = false;  ///< GATv2's: one W for the row that attends and those attended to
    Initialiser initialiser = Initialiser::glorot;
    /// ÂX is computed once at set-up, so that layer 0 has no SpMM in an epoch. Input dropout then falls on ÂX, or on
    /// [X, ÂX] where there are self weights, and not on X before its aggregation: with both this is another model.
    bool aggregate_input = false;
    /// X is a sparse operand wherever layer 0 multiplies it by a dense matrix (docs/decisions/sparse-features.md).
    bool sparse_features = false;

    /// Whether its layers attend: GAT's and GATv2's.
    bool attends() const { return kind == LayerKind::gat || kind == LayerKind::gatv2; }
    int layers() const { return static_cast<int>(widths.size()) - 1; }
    int heads_of(int layer) const {
        return static_cast<int>(heads.size() == 1 ? heads[0] : heads[static_cast<std::size_t>(layer)]);
    }
    /// Of all layers that attend; 0 where none does.
    std::int64_t most_heads() const { return attends() ? *std::ranges::max_element(heads) : 0; }
};

/// Weights multiply the aggregated input, self weights and row weights the vertex's own row, attention vectors a row of
/// the transformed input and its neighbours; biases are added and never decay.
enum class ParameterRole : std::uint8_t {
    self_weight,
    row_weight,
    weight,
    bias,
    attention_row,
    attention_neighbour
};

enum class OptimizerKind : std::uint8_t { sgd, adam, adamw };

struct TrainSpec {
    OptimizerKind optimizer = OptimizerKind::adam;
    double learning_rate = 0.01;
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    std::vector<double> weight_decay;  ///< per layer, length layers; on weights, not on biases
    double input_dropout = 0;          ///< on layer 0's input, aggregated at set-up or not
    double dropout = 0;                ///< on every later layer's input
    std::uint64_t seed = 0;            ///< of weights and dropout masks
};

/// Whether a training epoch draws masks.
inline bool has_dropout(const ModelSpec& model, const TrainSpec& train) {
    return train.dropout > 0 || train.input_dropout > 0 || model.attention_dropout > 0;
}

}  // namespace gnnbench
