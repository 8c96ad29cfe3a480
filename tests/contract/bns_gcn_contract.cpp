// bns-gcn's sample: a boundary of b rows gives max(1, ⌊p·b⌋) of them in each epoch, each as often as any other,
// weighed so that the expectation of ÂH given H is ÂH. On three ranks.
#include <cmath>
#include <deque>

#include <catch2/catch.hpp>

#include <gnnbench/training/parameters.hpp>

#include "contract/serial_training.hpp"
#include "contract/strategy_case.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

constexpr std::int64_t n = 18;  // 6 vertices in each of 3 parts
/// A row of Â in each part, and how many columns it has in each other part: b_ij.
constexpr std::int64_t row_of[3] = {0, 6, 12};
constexpr std::int64_t boundary[3][3] = {{0, 1, 2}, {3, 0, 5}, {4, 6, 0}};

graphs::NamedGraph boundaries() {
    graphs::Entries e;
    for (std::int32_t i = 0; i < 3; ++i)
        for (std::int32_t j = 0; j < 3; ++j)
            for (std::int32_t k = 0; k < boundary[i][j]; ++k)
                e.emplace_back(static_cast<std::int32_t>(row_of[i]), 6 * j + k);
    return graphs::from_entries("boundaries of 1 to 6 rows", n, e);
}

/// One layer of weights 0 that stay 0, X = I and one train vertex v: then G has the one row softmax(0) − onehot,
/// whatever the sample, and dW = (ÂX)ᵀ G shows row v of the sampled Â.
class RowOfSample {
public:
    RowOfSample(double rate, std::int64_t v, std::uint64_t seed, const std::string& small_boundaries = "keep_one")
        : owned_(dress(boundaries(), n, 2)) {
        for (std::int64_t r = 0; r < n; ++r)
            for (std::int64_t c = 0; c < n; ++c)
                owned_.features[static_cast<std::size_t>(r * n + c)] = r == c ? 1.0f : 0.0f;
        owned_.split.assign(n, Split::none);
        owned_.split[static_cast<std::size_t>(v)] = Split::train;
        label_ = owned_.labels[static_cast<std::size_t>(v)];
        data_ = owned_.view();
        model_.widths = {n, 2};
        model_.bias = false;
        model_.normalisation = Normalisation::none;
        train_.optimizer = OptimizerKind::sgd;
        train_.learning_rate = 0;
        train_.weight_decay = {0};
        train_.seed = seed;
        zeros_ = zero_weights(model_);
        for (std::int64_t u = 0; u < n; ++u) partition_.part_of.push_back(static_cast<Part>(u / 6));
        partition_.parts = 3;
        index_.emplace(partition_);
        params_ = variants("bns-gcn", {{"rate", std::to_string(rate)}, {"small_boundaries", small_boundaries}})[0]
                      .params;
        strategy_ = catalog().strategy("bns-gcn");
        backend_ = catalog().kernel("reference")->create({.dtype = DType::f64});
        problem_.emplace(Problem{data_, *index_, model_, train_, params_, &zeros_, 3});
        training_.emplace(*strategy_, *problem_, *backend_);
    }

    /// Row v of the sampled Â in one epoch.
    std::vector<double> operator()(std::int64_t epoch) {
        training_->trainer().train_epoch(epoch);
        const HostMatrix dw = training_->trainer().gradients()["W0"];
        std::vector<double> row;
        for (std::int64_t c = 0; c < n; ++c) row.push_back(dw(c, label_) / -0.5);
        return row;
    }
    CollectiveTrainer& trainer() { return training_->trainer(); }

private:
    OwnedDataset owned_;
    std::int32_t label_ = 0;
    DatasetView data_;
    ModelSpec model_;
    TrainSpec train_;
    ModelWeights zeros_;
    Partition partition_;
    std::optional<IndexMap> index_;
    Params params_;
    std::shared_ptr<Strategy> strategy_;
    std::shared_ptr<Backend> backend_;
    std::optional<Problem> problem_;
    std::optional<CheckedTraining> training_;
};

/// k for b = 0 … 6 by hand, where small boundaries keep one row and where they are dropped.
struct Rate {
    double p;
    std::int64_t k[7], dropped[7];
};
constexpr Rate rates[] = {{0.3, {0, 1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 1, 1, 1}},
                          {0.5, {0, 1, 1, 1, 2, 2, 3}, {0, 0, 1, 1, 2, 2, 3}},
                          {0.9, {0, 1, 1, 2, 3, 4, 5}, {0, 0, 1, 2, 3, 4, 5}}};

}  // namespace

TEST_CASE("bns-gcn: the expectation of the sampled ÂH given H is ÂH, whatever the size of a boundary") {
    REQUIRE(mpi_world().size() == 3);
    constexpr int seeds = 4, epochs = 150, samples = seeds * epochs;
    for (const Rate& rate : rates)
        for (int i = 0; i < 3; ++i) {
            std::vector<double> mean(n);
            for (int seed = 0; seed < seeds; ++seed) {
                RowOfSample row(rate.p, row_of[i], static_cast<std::uint64_t>(seed));
                for (int e = 0; e < epochs; ++e) {
                    const std::vector<double> weights = row(e);
                    for (std::size_t c = 0; c < n; ++c) mean[c] += weights[c] / samples;
                    for (int j = 0; j < 3; ++j) {
                        const std::int64_t b = boundary[i][j], k = rate.k[b];
                        std::int64_t drawn = 0;
                        for (std::int64_t c = 6 * j; j != i && c < 6 * j + 6; ++c) {
                            const double w = weights[static_cast<std::size_t>(c)];
                            drawn += w != 0;
                            if (w != 0) REQUIRE(w == Approx(static_cast<double>(b) / static_cast<double>(k)));
                        }
                        REQUIRE((j == i || drawn == k));
                    }
                }
            }
            for (int j = 0; j < 3; ++j)
                for (std::int64_t c = 0; c < boundary[i][j]; ++c) {
                    // A row's weight is b/k in a share k/b of the samples and 0 in the others: variance b/k − 1. Of 180
                    // means like this, one is five deviations off in 1e4 runs.
                    const double b = static_cast<double>(boundary[i][j]);
                    const double k = static_cast<double>(rate.k[boundary[i][j]]);
                    const double bound = 5 * std::sqrt((b / k - 1) / samples) + 1e-12;
                    INFO("p = " << rate.p << ", row " << c << " of " << b << " that part " << i
                                << " needs of part " << j << ": mean weight "
                                << mean[static_cast<std::size_t>(6 * j + c)] << ", 1 within " << bound
                                << " expected");
                    CHECK(std::abs(mean[static_cast<std::size_t>(6 * j + c)] - 1) <= bound);
                }
            CHECK(mean[static_cast<std::size_t>(row_of[i])] == Approx(1));  // its own self-loop is not sampled
        }
}

TEST_CASE("bns-gcn: attention over a sample is serial's on the graph of the sample's weights, dropout too") {
    ModelVariant gat{.name = "GAT", .widths = {4, 6, 3}};
    gat.model.kind = LayerKind::gat;
    gat.model.normalisation = Normalisation::none;
    gat.model.heads = {3, 2};
    gat.model.attention_dropout = 0.3;
    gat.train.dropout = 0.3;
    const OwnedDataset whole = dress(boundaries(), gat);
    const DatasetView data = whole.view();
    const ModelSpec model = gat.complete_model();
    TrainSpec train = gat.complete_train();
    train.learning_rate = 0;
    train.seed = 5;
    const auto backend = catalog().kernel("reference")->create({.dtype = DType::f64});
    const auto strategy = catalog().strategy("bns-gcn");
    Partition thirds{.parts = 3, .part_of = {}, .column_part_of = {}};
    for (std::int64_t u = 0; u < n; ++u) thirds.part_of.push_back(static_cast<Part>(u / 6));
    const IndexMap index(thirds);
    for (const Rate& rate : rates) {
        const Params params = variants("bns-gcn", {{"rate", std::to_string(rate.p)}})[0].params;
        const Problem problem{data, index, model, train, params, nullptr, 3};
        CheckedTraining training(*strategy, problem, *backend);
        std::deque<RowOfSample> rows;
        for (const std::int64_t v : row_of) rows.emplace_back(rate.p, v, train.seed);
        for (std::int64_t e = 0; e < 3; ++e) {
            OwnedDataset sampled = whole;
            sampled.indptr.assign(1, 0);
            sampled.indices.clear();
            for (std::int64_t v = 0; v < n; ++v) {
                const auto* const known = std::ranges::find(row_of, v);
                const std::vector<double> weights =
                    known == std::end(row_of) ? std::vector<double>(n) : rows[usize(known - row_of)](e);
                for (std::int64_t c = 0; c < n; ++c)
                    if (c != v && weights[usize(c)] != 0) {  // the model adds the self-loop
                        sampled.indices.push_back(static_cast<std::int32_t>(c));
                        sampled.weights.push_back(static_cast<float>(weights[usize(c)]));
                    }
                sampled.indptr.push_back(std::ssize(sampled.indices));
            }
            INFO("p = " << rate.p << ", epoch " << e);
            training.trainer().train_epoch(e);
            const auto serial = train_serially(catalog(), sampled.view(), model, train, nullptr, e + 1, false);
            const ModelWeights ours = training.trainer().gradients();
            for (std::size_t m = 0; m < ours.matrices.size(); ++m)
                for (std::size_t k = 0; k < ours.matrices[m].values.values.size(); ++k)
                    CHECK(ours.matrices[m].values.values[k] ==
                          Approx(serial.gradient[usize(e)].matrices[m].values.values[k]).margin(1e-7));
        }
    }
}

TEST_CASE("bns-gcn: dropped boundaries are in no epoch's sample, others as they are where one row is kept") {
    for (const Rate& rate : rates)
        for (int i = 0; i < 3; ++i) {
            RowOfSample dropping(rate.p, row_of[i], 1, "drop"), keeping(rate.p, row_of[i], 1);
            for (int e = 0; e < 20; ++e) {
                const std::vector<double> weights = dropping(e), kept = keeping(e);
                for (int j = 0; j < 3; ++j) {
                    const std::int64_t k = rate.dropped[boundary[i][j]];
                    std::int64_t drawn = 0;
                    for (auto c = static_cast<std::size_t>(6 * j); c < static_cast<std::size_t>(6 * j + 6); ++c) {
                        drawn += j != i && weights[c] != 0;
                        INFO("p = " << rate.p << ", epoch " << e << ", part " << i << ", column " << c);
                        CHECK(weights[c] == (j == i || k > 0 ? kept[c] : 0));
                    }
                    CHECK((j == i || drawn == k));
                }
            }
        }
}

TEST_CASE("bns-gcn: at p = 1 no boundary is small; dropped ones are said to bias") {
    const auto approximation = [](const char* rate, const char* small) {
        const auto chosen = variants("bns-gcn", {{"rate", rate}, {"small_boundaries", small}})[0].params;
        return catalog().strategy("bns-gcn")->approximation(chosen);
    };
    CHECK(approximation("1", "drop") == "");
    CHECK(approximation("0.1", "keep_one").find("biased") == std::string::npos);
    CHECK(approximation("0.1", "drop").find("biased") != std::string::npos);
    const ModelSpec gat{.kind = LayerKind::gat, .widths = {}};
    const auto of_attention = [&](const char* rate) {
        const auto chosen = variants("bns-gcn", {{"rate", rate}})[0].params;
        return catalog().strategy("bns-gcn")->approximation_of(gat, chosen);
    };
    CHECK(of_attention("1") == "");
    CHECK_THAT(of_attention("0.5"), Catch::Contains("rate 0.5; a softmax over a sample is biased"));
}

TEST_CASE("bns-gcn: p = 0 leaves out every boundary and says that it is biased; p = 1 leaves out nothing") {
    for (int i = 0; i < 3; ++i) {
        RowOfSample none(0, row_of[i], 1), all(1, row_of[i], 1);
        for (int e = 0; e < 3; ++e) {
            const std::vector<double> without = none(e), with = all(e);
            for (std::int64_t c = 0; c < n; ++c) {
                const std::int64_t j = c / 6;
                const double whole = c == row_of[i] || c - 6 * j < boundary[i][j] ? 1 : 0;
                CHECK(with[static_cast<std::size_t>(c)] == Approx(whole));
                CHECK(without[static_cast<std::size_t>(c)] == Approx(j == i ? whole : 0));
            }
        }
    }
    const auto declared = catalog().find(PluginKind::strategy, "bns-gcn").params;
    const auto approximation = [&](const char* rate) {
        Params params(declared);
        params.set(declared[0], rate);
        return catalog().strategy("bns-gcn")->approximation(params);
    };
    CHECK(approximation("1") == "");
    CHECK(approximation("0.1").find("biased") == std::string::npos);
    CHECK(approximation("0").find("biased") != std::string::npos);
}

TEST_CASE("bns-gcn: evaluation between epochs sees whole boundaries and changes no epoch's sample") {
    for (const double p : {0.0, 0.3, 0.9}) {
        RowOfSample row(p, row_of[1], 5), undisturbed(p, row_of[1], 5);
        for (int e = 0; e < 4; ++e) {
            const OwnedRows rows = row.trainer().embeddings();
            for (const double x : rows.rows.values) CHECK(x == 0);  // W = 0
            CHECK(row(e) == undisturbed(e));
        }
    }
}
