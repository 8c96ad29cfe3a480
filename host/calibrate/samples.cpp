#include "calibrate/samples.hpp"

namespace gnnbench {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StreamSample, bytes, touched_bytes, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OperationSample, bytes, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GatherSample, gathered_bytes, row_bytes, lie_in_bytes, in_order_bytes, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(UnevenSample, rows, gather)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AttentionSample, operations, in_order_bytes, seconds, product_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LossSample, columns, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GemmSample, m, n, k, seconds)

nlohmann::json to_json(const MachineSamples& s) {
    return {{"stream", s.stream},
            {"gather", s.gather},
            {"uneven", s.uneven},
            {"gemm_float32", s.gemm_float32},
            {"gemm_float64", s.gemm_float64},
            {"attention", s.attention},
            {"dynamic_attention", s.dynamic_attention},
            {"empty_kernel_s", s.empty_kernel_s},
            {"loss", s.loss},
            {"sharded_loss", s.sharded_loss},
            {"tile_columns", s.tile_columns},
            {"copy_rate", s.copy_rate},
            {"operations", s.operations}};
}

MachineSamples machine_samples_from(const nlohmann::json& j) {
    return {.stream = j.at("stream").get<std::vector<StreamSample>>(),
            .gather = j.at("gather").get<std::vector<GatherSample>>(),
            .uneven = j.at("uneven").get<std::vector<UnevenSample>>(),
            .gemm_float32 = j.at("gemm_float32").get<std::vector<GemmSample>>(),
            .gemm_float64 = j.at("gemm_float64").get<std::vector<GemmSample>>(),
            .attention = j.at("attention").get<std::vector<AttentionSample>>(),
            .dynamic_attention = j.at("dynamic_attention").get<std::vector<AttentionSample>>(),
            .empty_kernel_s = j.at("empty_kernel_s").get<double>(),
            .loss = j.at("loss").get<std::vector<LossSample>>(),
            .sharded_loss = j.at("sharded_loss").get<std::vector<LossSample>>(),
            .tile_columns = j.at("tile_columns").get<int>(),
            .copy_rate = j.at("copy_rate").get<double>(),
            .operations = j.at("operations").get<std::map<std::string, std::vector<OperationSample>>>()};
}

}  // namespace gnnbench
