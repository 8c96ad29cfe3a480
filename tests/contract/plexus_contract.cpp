// plexus-3d on every grid that this launch's ranks can form, with its parameters combined; and its stated volume
// against the closed formulas where sizes divide.
#include <catch2/catch.hpp>

#include <gnnbench/training/process_grid.hpp>

#include "contract/strategy_case.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

Params with(const std::map<std::string, std::string>& changes) {
    const auto declared = catalog().find(PluginKind::strategy, "plexus-3d").params;
    Params p(declared);
    for (const ParamDecl& d : declared)
        if (const auto found = changes.find(d.name); found != changes.end()) p.set(d, found->second);
    return p;
}

std::vector<std::array<int, 3>> grids(int ranks) {
    std::vector<std::array<int, 3>> all;
    for (int x = 1; x <= ranks; ++x)
        for (int y = 1; x * y <= ranks; ++y)
            if (ranks % (x * y) == 0) all.push_back({x, y, ranks / (x * y)});
    return all;
}

std::map<std::string, std::string> sizes(const std::array<int, 3>& g) {
    return {
        {"grid", "given"}, {"x", std::to_string(g[0])}, {"y", std::to_string(g[1])}, {"z", std::to_string(g[2])}};
}

std::vector<ModelVariant> trained_models() {
    ModelVariant deep{.name = "seven layers", .widths = {4, 9, 2, 7, 3, 5, 4, 3}};
    ModelVariant dropped{.name = "dropped", .widths = {6, 5, 4, 3}};
    dropped.train.dropout = dropped.train.input_dropout = 0.3;
    dropped.model.activation = Activation::sigmoid;
    ModelVariant aggregated = dropped;
    aggregated.name = "dropped, aggregated input";
    aggregated.model.aggregate_input = true;
    return {deep, dropped, aggregated};
}

Traffic of(const Volume& v, CommOp op) {
    return v.contains({op, Content::payload}) ? v.at({op, Content::payload}) : Traffic{};
}

}  // namespace

TEST_CASE("plexus-3d is exact on every grid, whatever its parameters") {
    const std::vector<std::map<std::string, std::string>> changes = {
        {{"permutation", "double"}},
        {{"permutation", "single"}, {"blocks", "3"}, {"gemm_tuning", "true"}},
        {{"permutation", "none"}, {"blocks", "2"}, {"trainable_features", "true"}},
        {{"permutation", "double"}, {"sparse_all_reduce", "true"}, {"trainable_features", "true"}},
        {{"permutation", "none"}, {"sparse_all_reduce", "true"}, {"blocks", "3"}},
        {{"permutation", "double"}, {"blocks", "50"}, {"gemm_tuning", "true"}, {"trainable_features", "true"}},
    };
    const auto graph = graphs::directed_random(40, 200, true);
    // On many ranks, where a training takes long, every grid meets every change with one model, and every change all models.
    const bool one_model = mpi_world().size() > 4;
    std::size_t place = 0;
    for (const auto& grid : grids(mpi_world().size()))
        for (std::map<std::string, std::string> change : changes) {
            std::string text;
            change.merge(sizes(grid));
            for (const auto& [key, value] : change) text += key + "=" + value + " ";
            std::vector<ModelVariant> trained = trained_models();
            if (change.contains("trainable_features"))
                std::erase_if(trained, [](const ModelVariant& v) { return v.model.aggregate_input; });
            // From one grid to the next a change has another model.
            if (one_model) trained = {trained[(place + place / changes.size()) % trained.size()]};
            ++place;
            for (const ModelVariant& v : trained) {
                const Outcome o =
                    run({"plexus-3d", with(change), text}, "random", {"reference", DType::f64}, v, graph);
                INFO(text << ", model " << v.name << ": loss error " << o.agreement.loss_error
                          << ", gradient error " << o.agreement.gradient_error << " at " << o.agreement.worst);
                REQUIRE(o.skipped == "");
                CHECK(o.agreement.holds());
                CHECK(o.volume_difference == "");
                CHECK(o.sum.sent_bytes == o.sum.received_bytes);
                CHECK(o.allocations_in_epochs == 0);
                CHECK(o.bytes_at_setup == o.stated_bytes);
            }
        }
}

TEST_CASE("plexus-3d holds the memory that its README states, where everything divides") {
    // The reference back end keeps sparse matrices outside its counted memory, so what is counted is all the rest.
    const std::int64_t n = 48;
    ModelVariant v{.name = "divides", .widths = {24, 48, 24}};
    v.model.bias = false;
    graphs::Entries every;
    for (std::int32_t a = 0; a < n; ++a)
        for (std::int32_t b = 0; b < n; ++b) every.emplace_back(a, b);
    const auto complete = graphs::from_entries("complete", n, every);
    for (const auto& [x, y, z] : grids(mpi_world().size())) {
        // Roles (o, i, d) of layers 0 and 1.
        const std::int64_t o0 = x, i0 = y, d0 = z, o1 = z, i1 = x, d1 = y;
        const std::int64_t f0 = 24, f1 = 48, f2 = 24;
        const std::int64_t p0 = f0 / i0 * (f1 / o0), p1 = f1 / i1 * (f2 / o1);
        const std::int64_t features = n / o0 * (f0 / i0) / d0, weights = 2 * (p0 / d0 + p1 / d1);
        const std::int64_t h0 = n / d0 * (f0 / i0), h1 = n / d1 * (f1 / i1), q0 = n / d0 * (f1 / o0),
                           q1 = n / d1 * (f2 / o1);
        const std::int64_t first_f = n / o0 * (f0 / i0), second_f = n / o1 * (f1 / i1);
        const std::int64_t gathers = 2 * std::max(d0 > 1 ? p0 : 0, d1 > 1 ? p1 : 0);
        const std::int64_t panel = std::max(d0 > 1 ? first_f : 0, second_f), loss = 2 * (n / d1);
        const std::int64_t dense = features + weights + h0 + h1 + q0 + q1 + panel + gathers + loss;
        // Labels, splits, ids of the last layer's rows; the loss.
        const std::int64_t others = n / d1 * (4 + 1 + 8) + 8;
        const auto held = [&](std::map<std::string, std::string> change) {
            change.merge(sizes({x, y, z}));
            const Outcome o =
                run({"plexus-3d", with(change), ""}, "block", {"reference", DType::f64}, v, complete, false, 0);
            REQUIRE(o.skipped == "");
            return o.bytes_at_setup - others;
        };
        INFO("grid " << x << " x " << y << " x " << z);
        CHECK(held({}) == 8 * dense);
        CHECK(held({{"gemm_tuning", "true"}}) == 8 * (dense + std::max(h0, h1) + std::max(q0, q1) +
                                                      std::max(f0 / i0 * (f1 / o0), f1 / i1 * (f2 / o1))));
        CHECK(held({{"trainable_features", "true"}}) == 8 * (dense + features));
        // Every row is needed: the compact F is whole, and each own row is packed once for each of the others.
        const std::int64_t given = d1 > 1 ? (d1 - 1) * (n / o1 / d1) : 0;
        CHECK(held({{"sparse_all_reduce", "true"}}) ==
              8 * (dense + (d1 > 1 ? second_f : 0) + given * (f1 / i1)) + 4 * given);
    }
}

TEST_CASE("plexus-3d states the closed formulas where everything divides") {
    // 2 x 3 x 4: N = 24, widths that 2, 3 and 4 divide, no bias.
    const OwnedDataset owned = dress(graphs::directed_random(24, 60, false), 24, 12);
    ModelVariant v{.name = "divides", .widths = {24, 36, 12}};
    v.model.bias = false;
    const ModelSpec model = v.complete_model();
    const TrainSpec train = v.complete_train();
    const Partition parts{.parts = 24,
                          .part_of =
                              [] {
                                  std::vector<Part> p;
                                  for (Part i = 0; i < 24; ++i) p.push_back(i);
                                  return p;
                              }(),
                          .column_part_of = {}};
    const IndexMap index(parts);
    const DatasetView data = owned.view();
    const auto strategy = catalog().strategy("plexus-3d");
    const auto volume = [&](std::map<std::string, std::string> change) {
        change.merge(sizes({2, 3, 4}));
        const Params params = with(change);
        const Problem problem{data, index, model, train, params, nullptr, 24};
        for (int r = 1; r < 24; ++r)
            CHECK(payload_total(strategy->stated_volume(problem, r, 4, 0).volume) ==
                  payload_total(strategy->stated_volume(problem, 0, 4, 0).volume));
        return strategy->stated_volume(problem, 0, 4, 0).volume;
    };
    const auto ar = [](std::int64_t elements, std::int64_t k) { return 4 * (elements + (k - 2) * elements / k); };
    const std::int64_t X = 2, Y = 3, Z = 4, N = 24, f = 24, g = 36, c = 12;
    // Layer 0 (o, i, d) = (X, Y, Z), layer 1 (Z, X, Y).
    const std::int64_t loss = 2 * ar(N / Y, Z);
    const std::int64_t forward =
        ar(N * f / (Z * Y), X) + ar(N * g / (Z * X), Y) + ar(N * g / (Y * X), Z) + ar(N * c / (Y * Z), X);
    const std::int64_t layer_1 = ar(N * g / (Y * X), Z) + ar(N * g / (Z * X), Y);  // dH, then dF
    const std::int64_t w_0 = 4 * f * g / (Y * X) * (Z - 1) / Z, w_1 = 4 * g * c / (X * Z) * (Y - 1) / Y;
    const std::int64_t features = 4 * N * f / (X * Y) * (Z - 1) / Z;

    const Volume fixed = volume({});
    CHECK(of(fixed, CommOp::all_reduce).received_bytes == loss + forward + layer_1);
    CHECK(of(fixed, CommOp::all_gather).received_bytes == features + w_0 + 2 * w_1);
    CHECK(of(fixed, CommOp::reduce_scatter).received_bytes == w_0 + w_1);

    const Volume trained = volume({{"trainable_features", "true"}});
    CHECK(of(trained, CommOp::all_reduce).received_bytes == loss + forward + layer_1 + ar(N * f / (Z * Y), X));
    CHECK(of(trained, CommOp::all_gather).received_bytes == features + 2 * w_0 + 2 * w_1);
    CHECK(of(trained, CommOp::reduce_scatter).received_bytes == w_0 + w_1 + features);
}

TEST_CASE(
    "plexus-3d's sparse all-reduce never states more bytes than the dense one, and as many where all rows are "
    "needed") {
    const ModelVariant v{.name = "default", .widths = {9, 6, 7, 3}};
    const ModelSpec model = v.complete_model();
    const TrainSpec train = v.complete_train();
    const Partition parts{.parts = 1, .part_of = std::vector<Part>(24), .column_part_of = {}};
    const IndexMap index(parts);
    const auto strategy = catalog().strategy("plexus-3d");
    const auto total = [&](const graphs::NamedGraph& graph, std::map<std::string, std::string> change) {
        const OwnedDataset owned = dress(graph, 9, 3);
        const DatasetView data = owned.view();
        change.merge(sizes({2, 3, 4}));
        const Params params = with(change);
        const Problem problem{data, index, model, train, params, nullptr, 24};
        Traffic sum;
        for (int r = 0; r < 24; ++r) sum += payload_total(strategy->stated_volume(problem, r, 4, 0).volume);
        CHECK(sum.sent_bytes == sum.received_bytes);
        return sum.received_bytes;
    };
    graphs::Entries every;
    for (std::int32_t u = 0; u < 24; ++u)
        for (std::int32_t w = 0; w < 24; ++w) every.emplace_back(u, w);
    const auto complete = graphs::from_entries("complete", 24, every);
    CHECK(total(complete, {{"sparse_all_reduce", "true"}}) == total(complete, {}));
    // Only the diagonal, in the same order for rows and columns: rank r needs of layer l's F the rows with r's own
    // ids.
    const auto lone = graphs::without_edges(24);
    const std::int64_t dense = total(lone, {{"permutation", "none"}});
    const std::int64_t sparse = total(lone, {{"permutation", "none"}, {"sparse_all_reduce", "true"}});
    // Into layers 1 and 2, widths 6 and 7, along Y (3 ranks) and X (2 ranks); each has 24 rows over o, f over i.
    // Dense less sparse is 2 (Σ rows outside the own block − Σ u): the shards (r, c) of d × o have a diagonal
    // where row blocks r and column blocks c meet.
    const auto saved = [](int d, int o, std::int64_t width) {
        std::int64_t rows = 0;
        for (int c = 0; c < o; ++c)
            for (int r = 0; r < d; ++r)
                for (std::int64_t at = block_begin(24, o, c); at < block_begin(24, o, c + 1); ++at) {
                    const std::int64_t within = at - block_begin(24, o, c), n_o = block_size(24, o, c);
                    const bool own = within >= block_begin(n_o, d, r) && within < block_begin(n_o, d, r + 1);
                    const bool needed = at >= block_begin(24, d, r) && at < block_begin(24, d, r + 1);
                    rows += !own && !needed;
                }
        return 2 * rows * width;  // the columns over i add up to the whole width
    };
    CHECK(dense - sparse == 4 * (saved(3, 4, 6) + saved(2, 3, 7)));
}

namespace {

/// Chapter 4 of the thesis by its own words, for sizes that every grid divides: seconds of an epoch with fixed features.
/// `printed`: flops_cost is NNZ · D of the whole graph; else a rank's share of it, and no layer takes less than no time.
double thesis_s(std::array<double, 3> g, const std::vector<double>& widths, double n, double nonzeros,
                bool printed) {
    enum { x, y, z };
    const double before[] = {g[y], 1, g[y] * g[x]};
    const auto ring = [&](double passes, double elements, int axis) {
        const double beta =
            before[axis] * g[static_cast<std::size_t>(axis)] <= 4 ? 235e9 : 100e9 / std::min(4.0, before[axis]);
        const double k = g[static_cast<std::size_t>(axis)];
        return passes * (k - 1) / k * elements * 4 / beta;
    };
    const int roles[3][3] = {{x, y, z}, {z, x, y}, {y, z, x}};
    double seconds = 0;
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
        const auto [o, i, d] = roles[l % 3];
        const auto size = [&](int axis) { return g[static_cast<std::size_t>(axis)]; };
        const double f = widths[l] / size(i), w = (f + 1) * widths[l + 1] / size(o);  // a bias is one more row
        const double rows = n / size(d), columns = n / size(o);
        if (l == 0) seconds += ring(1, columns * f, d);
        seconds +=
            ring(2, rows * f, o) + ring(1, w, d) + ring(2, rows * widths[l + 1] / size(o), i) + ring(1, w, d);
        if (l > 0) seconds += ring(1, w, d) + ring(2, rows * f, o) + ring(2, columns * f, d);
        const double penalties = 7.8e-4 + 7.8e-10 * columns / f - 2.6e-10 * rows / f;
        seconds += 1e-3 * (printed ? std::sqrt(nonzeros * widths[l]) * penalties
                                   : std::sqrt(nonzeros / (size(o) * size(d)) * f) * std::max(0.0, penalties));
    }
    return seconds;
}

}  // namespace

TEST_CASE("plexus-3d chooses the grid that the thesis' model predicts to be the fastest") {
    const std::int64_t n = 64'000;
    const OwnedDataset owned = dress(graphs::directed_random(n, 600'000, false), 32, 8);
    const ModelVariant v{.name = "default", .widths = {32, 16, 8}};
    const ModelSpec model = v.complete_model();
    const TrainSpec train = v.complete_train();
    const DatasetView data = owned.view();
    const auto strategy = catalog().strategy("plexus-3d");
    int differ = 0;
    for (const int ranks : {2, 4, 8}) {
        Partition parts{.parts = ranks, .part_of = std::vector<Part>(usize(n)), .column_part_of = {}};
        const IndexMap index(parts);
        const auto volume = [&](const std::map<std::string, std::string>& change) {
            const Params params = with(change);
            return strategy->stated_volume({data, index, model, train, params, nullptr, ranks}, 0, 4, 0).volume;
        };
        const auto best = [&](bool printed) {
            double shortest = 1e300;
            std::array<int, 3> found{};
            for (const auto& grid : grids(ranks)) {
                const double seconds = thesis_s(
                    {static_cast<double>(grid[0]), static_cast<double>(grid[1]), static_cast<double>(grid[2])},
                    {32, 16, 8}, static_cast<double>(n), static_cast<double>(data.graph.edges() + n), printed);
                if (seconds >= shortest) continue;
                shortest = seconds;
                found = grid;
            }
            return found;
        };
        const auto of_a_rank = best(false), as_printed = best(true);
        differ += of_a_rank != as_printed;
        INFO(ranks << " ranks: " << of_a_rank[0] << " x " << of_a_rank[1] << " x " << of_a_rank[2]
                   << ", as printed " << as_printed[0] << " x " << as_printed[1] << " x " << as_printed[2]);
        CHECK(volume({}) == volume(sizes(of_a_rank)));
        CHECK(volume({{"grid", "predicted"}, {"prediction", "per_rank"}}) == volume({}));
        CHECK(volume({{"prediction", "printed"}}) == volume(sizes(as_printed)));
    }
    CHECK(differ > 0);
}

TEST_CASE("plexus-3d chooses the grid with the fewest stated bytes, and says why it cannot take one") {
    const OwnedDataset owned = dress(graphs::directed_random(40, 200, false), 9, 3);
    const ModelVariant v{.name = "default", .widths = {9, 6, 3}};
    const ModelSpec model = v.complete_model();
    const TrainSpec train = v.complete_train();
    Partition parts{.parts = 12, .part_of = std::vector<Part>(40), .column_part_of = {}};
    const IndexMap index(parts);
    const DatasetView data = owned.view();
    const auto strategy = catalog().strategy("plexus-3d");
    const auto total = [&](const std::map<std::string, std::string>& change) {
        const Params params = with(change);
        const Problem problem{data, index, model, train, params, nullptr, 12};
        std::int64_t bytes = 0;
        for (int r = 0; r < 12; ++r)
            bytes += payload_total(strategy->stated_volume(problem, r, 4, 0).volume).received_bytes;
        return bytes;
    };
    std::int64_t fewest = total(sizes({12, 1, 1}));
    for (const auto& grid : grids(12)) fewest = std::min(fewest, total(sizes(grid)));
    CHECK(total({{"grid", "auto"}}) == fewest);
    CHECK(total({{"grid", "auto"}, {"x", "3"}}) >= fewest);

    const auto why = [&](const std::map<std::string, std::string>& change) {
        const Params params = with(change);
        return strategy->why_unsupported({12, model, train, params});
    };
    CHECK(why({{"grid", "given"}, {"x", "3"}}) ==
          "grid: given needs x, y and z; one of them is 0 (chosen automatically)");
    CHECK(why({{"x", "5"}}) == "the grid's given sizes multiply to 5, which does not divide 12 ranks");
    CHECK(why(sizes({2, 2, 2})) == "the grid's given sizes multiply to 8, which is not 12 ranks");
    CHECK(why({{"x", "3"}, {"z", "2"}}) == "");
}
