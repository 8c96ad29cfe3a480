// The configuration model as a simple graph: given degrees, else at random (Bollobás, 1980; stubs.hpp tells how).
#include <array>

#include <data/generators/degree_params.hpp>
#include <data/generators/made_graph.hpp>

namespace gnnbench {

namespace {

constexpr auto configuration_params = joined(
    joined(degree_params, std::array<ParamDecl, 6>{{degree_order_param, features_param, classes_param,
                                                    labels_param, multi_label_param, labels_per_vertex_param}}),
    split_params);

std::string configuration_label(const Params& p) { return degrees_label("configuration", p); }

RawDataset make_configuration_dataset(const Params& p) {
    return make_configuration({.profile = degrees_of(p),
                               .vertices = p.integer("vertices"),
                               .shuffled = p.choice("order") == "random",
                               .seed = static_cast<std::uint64_t>(p.integer("seed"))});
}

}  // namespace

const GeneratorKind configuration_generator{
    "configuration",
    "configuration model: a distribution of degrees, else at random; random features and labels",
    1,
    configuration_params,
    configuration_label,
    degrees_size,
    make_configuration_dataset};

}  // namespace gnnbench
