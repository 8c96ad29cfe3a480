// The 2D and 3D schemes hold what their READMEs state, to the byte. The reference back end keeps sparse matrices
// outside its counted memory, so what is counted is all the rest.
#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include <gnnbench/training/grid_trainer.hpp>

#include "contract/not_here.hpp"
#include "contract/strategy_case.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

/// Which buffers a scheme has beside those that all have.
struct Buffered {
    bool separate;  ///< each layer's own
    bool summa;     ///< cagnet-2d's dense SUMMA
    bool released;  ///< cagnet-3d's T and U cut by columns
};

/// Elements of what lies between the layers' products, for matrices up to `width` wide: T and U, a received panel and
/// column block, 3D's partial product.
std::int64_t elements_between(const GridLayout& at, std::int64_t width, bool released) {
    const int columns = at.extent(Axis::y), layers = at.extent(Axis::z), z = at.at(Axis::z);
    std::int64_t own = at.rows() * at.columns(width), received = at.rows() * largest_block(width, columns);
    if (released) {
        own = at.line_rows() * block_size(at.columns(width), layers, z);
        received = at.line_rows() * block_size(largest_block(width, columns), layers, z);
    }
    std::int64_t elements = own;
    if (at.extent(Axis::x) > 1) elements += at.largest_panel() * at.columns(width);
    if (columns > 1) elements += received;
    if (layers > 1) elements += at.line_rows() * at.columns(width);
    return elements;
}

/// Elements of the buffers for dW where U is cut by columns: U_xy or U_yx, a received block of U, a block of dW, all of it.
std::int64_t elements_of_split_gradient(const GridLayout& at, const std::vector<std::int64_t>& widths) {
    const int q = at.extent(Axis::x);
    GridPlace across = at.place;
    std::swap(across[Axis::x], across[Axis::y]);
    const std::int64_t n_x = at.line_rows(), n_y = GridLayout{at.index, at.shape, across}.line_rows();
    std::int64_t exchanged = 0, left = 0, block = 0, whole = 0;
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
        const std::int64_t f = widths[l], g = widths[l + 1], g_x = block_size(g, q, at.at(Axis::x));
        exchanged = std::max({exchanged, n_x * at.columns(g), n_y * g_x});
        left = std::max(left, at.largest_panel() * g_x);
        block = std::max(block, at.columns(f) * g_x);
        whole = std::max(whole, f * g);
    }
    return exchanged + left + block + whole;
}

/// Bytes in float64 for a model with biases, trained by SGD.
std::int64_t stated_bytes(const GridLayout& at, const ModelVariant& v, const Buffered& buffered) {
    const auto [separate, summa, released] = buffered;
    const std::int64_t widest = *std::max_element(v.widths.begin(), v.widths.end()), rows = at.rows();
    std::int64_t elements = rows * at.columns(v.widths[0]) * (v.train.input_dropout > 0 ? 2 : 1);
    std::int64_t phi = 0, largest = 0;
    for (std::size_t l = 0; l + 1 < v.widths.size(); ++l) {
        const std::int64_t f = v.widths[l], g = v.widths[l + 1];
        if (separate)
            elements += 2 * rows * at.columns(g) + elements_between(at, std::max(f, g), released);
        else
            elements += rows * (l == 0 ? at.columns(g) : std::max(at.columns(f), at.columns(g)));
        elements += 2 * (f * g + g);
        phi = std::max(phi, block_size(f, at.extent(Axis::x), at.at(Axis::x)));
        largest = std::max(largest, f * g);
    }
    if (!separate) elements += elements_between(at, widest, released);
    if (released) elements += elements_of_split_gradient(at, v.widths);
    if (summa) elements += (at.index.size(at.at(Axis::y)) + at.index.largest()) * phi + largest;
    elements += 2 * rows;
    // Label, split and id of each vertex; the loss.
    return 8 * elements + rows * (4 + 1 + 8) + 8;
}

}  // namespace

TEST_CASE("cagnet-2d and cagnet-3d hold the memory they state") {
    const int ranks = mpi_world().size(), rank = mpi_world().rank();
    const int q = static_cast<int>(std::lround(std::cbrt(ranks))),
              r = static_cast<int>(std::lround(std::sqrt(ranks)));
    if (r * r != ranks && q * q * q != ranks)
        return not_here("the number of ranks is neither a square nor a cube");
    ModelVariant dropped{.name = "input dropout", .widths = {9, 2, 7, 5}};
    dropped.train.input_dropout = 0.5;
    for (const auto& graph :
         {graphs::directed_random(60, 400, false), graphs::without_edges(3), graphs::disconnected(3)})
        for (const ModelVariant& v : {ModelVariant{.name = "up and down", .widths = {4, 9, 2, 7, 3}}, dropped})
            for (const std::string name : {"cagnet-2d", "cagnet-3d"}) {
                const bool square = r * r == ranks, cube = q * q * q == ranks;
                if (name == "cagnet-2d" ? !square : !cube) continue;
                const GridShape shape = name == "cagnet-2d" ? GridShape{{r, r, 1}} : GridShape{{q, q, q}};
                const OwnedDataset owned =
                    dress(graph, v.widths.front(), static_cast<std::int32_t>(v.widths.back()));
                const DatasetView data = owned.view();
                const Params params(catalog().find(PluginKind::partitioner, "random").params);
                const ModelSpec model = v.complete_model();
                const IndexMap index(catalog().partitioner("random")->partition(
                    {.dataset = data,
                     .model = model,
                     .need = {.parts = shape.extent(Axis::x) * shape.extent(Axis::z)},
                     .params = params,
                     .seed = 3}));
                for (const std::string buffers : {"separate", "shared"})
                    for (const std::string fibre : {"reduce_scatter", "all_reduce", "released"}) {
                        if (name == "cagnet-2d" && fibre != "reduce_scatter") continue;
                        const Outcome o = run(variants(name, {{"buffers", buffers}, {"fibre", fibre}})[0],
                                              "random", {"reference", DType::f64}, v, graph, false, 0);
                        INFO(name << ", " << buffers << ", " << fibre << ", " << graph.name << ", " << v.name
                                  << ", rank " << rank);
                        REQUIRE(o.skipped == "");
                        CHECK(o.bytes_at_setup == stated_bytes({index, shape, shape.place(rank)}, v,
                                                               {.separate = buffers == "separate",
                                                                .summa = name == "cagnet-2d" && ranks > 1,
                                                                .released = fibre == "released" && ranks > 1}));
                    }
            }
}
