// The stated volumes of the 2D and 3D schemes against closed formulas, where every block is equally large: in
// elements per rank and layer f → g. Counted volumes are compared with stated ones by contract_strategy.
#include <catch2/catch.hpp>

#include <gnnbench/training/adjacency.hpp>

#include "contract/strategy_case.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

using Widths = std::vector<std::int64_t>;

constexpr std::int64_t n = 72;
const Widths widths = {12, 6, 24};

/// A setting with everything stated_volume needs.
struct Stated {
    Stated(const std::string& name, int ranks, const std::map<std::string, std::string>& chosen,
           std::int64_t vertices = n, const Widths& given_widths = widths)
        : strategy(catalog().strategy(name)),
          graph(graphs::directed_random(vertices, 500, false)),
          owned(dress(graph, given_widths.front(), static_cast<std::int32_t>(given_widths.back()))),
          data(owned.view()) {
        const auto declared = catalog().find(PluginKind::strategy, name).params;
        params = Params(declared);
        for (const ParamDecl& p : declared)
            if (chosen.contains(p.name)) params.set(p, chosen.at(p.name));
        model.widths = given_widths;
        model.bias = false;
        const PartitionNeed need = strategy->partition_need({ranks, model, train, params});
        partition.parts = need.parts;
        for (std::int64_t v = 0; v < vertices; ++v)
            partition.part_of.push_back(static_cast<Part>(v * need.parts / vertices));
        index.emplace(partition);
        for (int rank = 0; rank < ranks; ++rank)
            volume.push_back(
                strategy->stated_volume({data, *index, model, train, params, nullptr, ranks}, rank, 4, 0).volume);
    }

    std::int64_t received(int rank, CommOp op, Content content = Content::payload) const {
        const auto& v = volume[static_cast<std::size_t>(rank)];
        return v.contains({op, content}) ? v.at({op, content}).received_bytes : 0;
    }

    std::shared_ptr<Strategy> strategy;
    graphs::NamedGraph graph;
    OwnedDataset owned;
    DatasetView data;
    Params params;
    ModelSpec model;
    TrainSpec train;
    Partition partition;
    std::optional<IndexMap> index;
    std::vector<Volume> volume;  ///< by rank
};

/// Bytes in an all-reduce of x elements over k ranks, in equal blocks.
std::int64_t all_reduce_bytes(std::int64_t x, int k) { return 4 * 2 * (k - 1) * (x / k); }

/// Σ over layers of what `of_layer(l, f, g)` says, times 4 bytes.
std::int64_t over_layers(auto&& of_layer) {
    std::int64_t sum = 0;
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) sum += of_layer(l, widths[l], widths[l + 1]);
    return 4 * sum;
}

/// Nonzeros of Â with rows and columns in the given runs of the dataset's order.
std::int64_t nonzeros(const Stated& s, std::int64_t row, std::int64_t rows, std::int64_t column,
                      std::int64_t columns) {
    std::int64_t count = 0;
    const Adjacency a(s.data.graph, s.model);
    for (std::int64_t v = row; v < row + rows; ++v)
        a.row(v, [&](std::int64_t j, double) { count += j >= column && j < column + columns; });
    return count;
}

}  // namespace

TEST_CASE("cagnet-2d on a square grid: the paper's algorithm") {
    const int r = 3, P = 9;
    const Stated s("cagnet-2d", P, {});
    for (int rank = 0; rank < P; ++rank) {
        INFO("rank " << rank);
        const bool diagonal = rank / r == rank % r;
        // ÂH, TW; ÂᵀG, UWᵀ above layer 0; HᵀU
        CHECK(s.received(rank, CommOp::broadcast) ==
              over_layers([&](std::size_t l, std::int64_t f, std::int64_t g) {
                  return (r - 1) * n * (f + f + g + (l > 0 ? g : 0) + f + g) / P;
              }));
        CHECK(s.received(rank, CommOp::point_to_point) ==
              (diagonal ? 0 : over_layers([&](std::size_t, std::int64_t f, std::int64_t) { return n * f / P; })));
        CHECK(s.received(rank, CommOp::all_gather) ==
              over_layers([&](std::size_t, std::int64_t f, std::int64_t g) { return f * g - (f / r) * (g / r); }));
        CHECK(s.received(rank, CommOp::all_reduce) == 2 * all_reduce_bytes(n / r, r));  // maxima and sums
    }
}

TEST_CASE("cagnet-2d with the weight gradient by rows, on any grid") {
    for (const auto& [R, C] : {std::pair{2, 3}, {3, 2}, {3, 3}, {6, 1}, {1, 6}, {4, 3}}) {
        const int P = R * C;
        const Stated s("cagnet-2d", P, {{"grid_rows", std::to_string(R)}, {"weight_gradient", "rows"}});
        for (int rank = 0; rank < P; ++rank) {
            INFO(R << "x" << C << ", rank " << rank);
            CHECK(s.received(rank, CommOp::broadcast) ==
                  over_layers([&](std::size_t, std::int64_t f, std::int64_t g) {
                      return (R - 1) * n * (f + g) / P + (C - 1) * n * (f + g) / P;
                  }));
            CHECK(s.received(rank, CommOp::all_gather) ==
                  over_layers([&](std::size_t, std::int64_t f, std::int64_t g) { return (C - 1) * (f / C) * g; }));
            std::int64_t reduced = 2 * all_reduce_bytes(n / R, C);
            for (std::size_t l = 0; l + 1 < widths.size(); ++l)
                reduced += all_reduce_bytes(widths[l] / C * widths[l + 1], R);
            CHECK(s.received(rank, CommOp::all_reduce) == reduced);
        }
    }
}

TEST_CASE("cagnet-3d on a cube") {
    const int q = 2, P = 8;
    const Stated s("cagnet-3d", P, {}), released("cagnet-3d", P, {{"fibre", "all_reduce"}});
    for (int rank = 0; rank < P; ++rank) {
        INFO("rank " << rank);
        CHECK(s.received(rank, CommOp::broadcast) == over_layers([&](std::size_t, std::int64_t f, std::int64_t g) {
                  return (q - 1) * n * (2 * f + 2 * g) / P;
              }));
        CHECK(s.received(rank, CommOp::reduce_scatter) ==
              over_layers([&](std::size_t, std::int64_t f, std::int64_t g) { return (q - 1) * n * (f + g) / P; }));
        CHECK(s.received(rank, CommOp::all_gather) ==
              over_layers([&](std::size_t, std::int64_t f, std::int64_t g) { return (q - 1) * (f / q) * g; }));
        std::int64_t reduced = 2 * all_reduce_bytes(n / (q * q), q);
        for (std::size_t l = 0; l + 1 < widths.size(); ++l)
            reduced += all_reduce_bytes(widths[l] / q * widths[l + 1], q * q);
        CHECK(s.received(rank, CommOp::all_reduce) == reduced);

        // Over the fibre, twice the bytes of the reduce-scatter
        std::int64_t over_fibre = 0;
        for (std::size_t l = 0; l + 1 < widths.size(); ++l)
            over_fibre +=
                all_reduce_bytes(n * widths[l] / (q * q), q) + all_reduce_bytes(n * widths[l + 1] / (q * q), q);
        CHECK(over_fibre == 2 * s.received(rank, CommOp::reduce_scatter));
        CHECK(released.received(rank, CommOp::all_reduce) == reduced + over_fibre);
        CHECK(released.received(rank, CommOp::reduce_scatter) == 0);
        for (const CommOp op : {CommOp::broadcast, CommOp::all_gather})
            CHECK(released.received(rank, op) == s.received(rank, op));
    }
}

TEST_CASE("cagnet-3d as released: T and U are cut by columns") {
    const int q = 2, P = 8;
    const Widths even = {12, 8, 24};  // divisible by q²
    const Stated s("cagnet-3d", P, {{"fibre", "released"}}, n, even);
    std::int64_t broadcast = 0, reduced = 2 * all_reduce_bytes(n / (q * q), q), gathered = 0, exchanged = 0;
    for (std::size_t l = 0; l + 1 < even.size(); ++l) {
        const std::int64_t f = even[l], g = even[l + 1];
        // ÂH, TW; ÂᵀG, UWᵀ in layer 0 too; H and U again for dW
        broadcast += 4 * (q - 1) * n * (f + f + g + g + f + g) / P;
        // T and U; q stages each of TW and UWᵀ; a block of dW
        reduced += all_reduce_bytes(n * f / (q * q), q) + all_reduce_bytes(n * g / (q * q), q);
        reduced += q * all_reduce_bytes(n * g / (q * q), q) + q * all_reduce_bytes(n * f / (q * q), q);
        reduced += all_reduce_bytes(f * g / (q * q), q);
        // U over the fibre; dW
        gathered += 4 * ((q - 1) * n * g / P + f * g - f * g / P);
        exchanged += 4 * n * g / (q * q);
    }
    for (int rank = 0; rank < P; ++rank) {
        INFO("rank " << rank);
        const bool diagonal = rank / (q * q) == rank / q % q;
        CHECK(s.received(rank, CommOp::broadcast) == broadcast);
        CHECK(s.received(rank, CommOp::all_reduce) == reduced);
        CHECK(s.received(rank, CommOp::all_gather) == gathered);
        CHECK(s.received(rank, CommOp::point_to_point) == (diagonal ? 0 : exchanged));
        CHECK(s.received(rank, CommOp::reduce_scatter) == 0);
    }
}

TEST_CASE("cagnet-3d as released, counted by hand where no block is even") {
    // Parts of 3, 2, 2 and 2 vertices, so grid rows of 5 and 4. 5 columns are cut into 3 + 2, and these into 2 + 1 and
    // 1 + 1; 3 columns into 2 + 1, and these into 1 + 1 and 1 + 0.
    const Stated s("cagnet-3d", 8, {{"fibre", "released"}}, 9, {5, 3});
    const auto received = [&](int rank, CommOp op) { return s.received(rank, op) / 4; };
    // Rank (0, 0, 0): panels of parts 0 (own) and 2; H has 3 columns here, G 2.
    CHECK(received(0, CommOp::broadcast) == 2 * 3 + 5 * 1 + 2 * 2 + 5 * 1 + (2 * 3 + 2 * 2));
    CHECK(received(0, CommOp::all_reduce) == 5 * 3 + 2 * (5 * 2) + 5 * 2 + 2 * (5 * 3) + 3 * 2 + 2 * 3);
    CHECK(received(0, CommOp::all_gather) == 5 * 1 + (15 - 3 * 1));
    CHECK(received(0, CommOp::point_to_point) == 0);
    // Rank (0, 1, 1): panels of parts 1 (own) and 3; H has 2 columns here, G 1, of which it keeps none in U.
    CHECK(received(3, CommOp::broadcast) == 2 * 2 + 5 * 1 + 2 * 1 + 5 * 1 + (2 * 2 + 2 * 2));
    CHECK(received(3, CommOp::all_reduce) == 5 * 2 + 2 * (5 * 1) + 5 * 1 + 2 * (5 * 2) + 2 * 2 + 2 * 2);
    CHECK(received(3, CommOp::all_gather) == 5 * 1 + (15 - 2 * 1));
    CHECK(received(3, CommOp::point_to_point) == 4 * 2);
}

TEST_CASE("blocks of A that travel: all of a rank's line but its own, each product") {
    for (const auto& [R, C] : {std::pair{2, 3}, {3, 2}, {3, 3}}) {
        const std::map<std::string, std::string> common = {{"grid_rows", std::to_string(R)},
                                                           {"weight_gradient", "rows"}};
        auto travelling = common;
        travelling["travel"] = "true";
        const Stated kept("cagnet-2d", R * C, common), sent("cagnet-2d", R * C, travelling);
        for (int rank = 0; rank < R * C; ++rank) {
            INFO(R << "x" << C << ", rank " << rank);
            const int x = rank / C, y = rank % C;
            // Rows of grid row x; panels of grid column y are n / C consecutive columns.
            const std::int64_t forward =
                nonzeros(sent, x * n / R, n / R, 0, n) - nonzeros(sent, x * n / R, n / R, y * n / C, n / C);
            const std::int64_t backward =
                nonzeros(sent, 0, n, x * n / R, n / R) - nonzeros(sent, y * n / C, n / C, x * n / R, n / R);
            const auto layers = static_cast<std::int64_t>(widths.size()) - 1;
            CHECK(sent.received(rank, CommOp::broadcast) - kept.received(rank, CommOp::broadcast) ==
                  4 * layers * (forward + backward));
            // 4 bytes for each column index, and 8 for each row start of each block that has a nonzero
            const std::int64_t starts = 8 * (n / R + 1),
                               metadata = sent.received(rank, CommOp::broadcast, Content::metadata);
            const std::int64_t rest = metadata - 4 * layers * (forward + backward);
            CHECK(rest % (layers * starts) == 0);
            CHECK(rest <= 2 * layers * starts * (sent.index->parts() - sent.index->parts() / C));
            CHECK(kept.received(rank, CommOp::broadcast, Content::metadata) == 0);
        }
    }
}
