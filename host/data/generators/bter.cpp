// BTER with an idealised distribution of degrees and clustering; made_graph.cpp is the model itself.
#include <array>

#include <data/generators/degree_params.hpp>
#include <data/generators/made_graph.hpp>

namespace gnnbench {

namespace {

constexpr auto bter_params = joined(
    joined(degree_params,
           std::array<ParamDecl, 8>{{
               {"clustering", ParamType::real, "0.3", 0, 1, nullptr,
                "mean local clustering coefficient; of degree d it is max_clustering exp(-x (d - 1)), with the x "
                "that "
                "has this mean"},
               {"max_clustering", ParamType::real, "0.95", 0, 1, nullptr, "clustering of the smallest degrees"},
               degree_order_param,
               features_param,
               classes_param,
               labels_param,
               multi_label_param,
               labels_per_vertex_param,
           }}),
    split_params);

GraphWish bter_wish(const Params& p) {
    GraphWish wish{.profile = degrees_of(p),
                   .vertices = p.integer("vertices"),
                   .shuffled = p.choice("order") == "random",
                   .seed = static_cast<std::uint64_t>(p.integer("seed"))};
    set_clustering(wish.profile, p.real("clustering"), p.real("max_clustering"));
    return wish;
}

std::string bter_label(const Params& p) { return degrees_label("bter", p); }

GraphSize bter_size(const Params& p) {
    bter_wish(p);  // for its errors
    return degrees_size(p);
}

RawDataset make_bter_dataset(const Params& p) { return make_bter(bter_wish(p)); }

}  // namespace

const GeneratorKind bter_generator{
    "bter",
    "BTER: a distribution of degrees, and clustering by degree; random features and labels",
    1,
    bter_params,
    bter_label,
    bter_size,
    make_bter_dataset};

}  // namespace gnnbench
