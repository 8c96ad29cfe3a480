#include <data/generated_size.hpp>

#include <data/generate.hpp>
#include <data/generators/kinds.hpp>

namespace gnnbench {

GeneratedSize generated_size(const std::string& kind, const nlohmann::json& given) {
    const auto [chosen, params] = chosen_generator(kind, given);
    const GraphSize graph = chosen.size(params);
    const FillSpec fill = chosen.fill(params);
    constexpr std::int64_t index_bytes = 4, value_bytes = 4;
    const std::int64_t label_bytes = fill.multi_label ? fill.classes : 4;
    const std::int64_t arrays = 8 * (graph.vertices + 1) + index_bytes * graph.entries +
                                value_bytes * graph.vertices * fill.features +
                                (label_bytes + 1) * graph.vertices;  // and masks
    return {.name = generated_name(kind, given),
            .vertices = graph.vertices,
            .entries = graph.entries,
            .features = fill.features,
            .store_bytes = arrays,
            // Both ends of the drawn edges, beside the graph that they become.
            .peak_bytes = arrays + 2 * index_bytes * graph.entries,
            .unreachable = graph.unreachable};
}

}  // namespace gnnbench
