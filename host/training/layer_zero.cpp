#include <gnnbench/training/layer_zero.hpp>

namespace gnnbench {

bool trains_features(const Params& params) {
    return params.values().contains(trainable_features) && params.boolean(trainable_features);
}

std::string why_input_not_aggregated(const Setting& s) {
    if (!s.model.aggregate_input) return {};
    if (trains_features(s.params))
        return "aggregate_input needs layer 0's input to stay the same, and trainable_features changes it every "
               "epoch";
    return {};
}

std::string why_features_not_sparse(const Setting& s) {
    if (!s.model.sparse_features) return {};
    if (s.model.aggregate_input)
        return "sparse_features and aggregate_input exclude each other: ÂX is far less sparse than X";
    if (s.train.input_dropout > 0)
        return "sparse_features needs layer 0's input to stay the same, and input_dropout redraws it every epoch";
    if (trains_features(s.params))
        return "sparse_features needs layer 0's input to stay the same, and trainable_features changes it every "
               "epoch";
    return {};
}

}  // namespace gnnbench
