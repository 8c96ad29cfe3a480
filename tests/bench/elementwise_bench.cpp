// Passes over a matrix beside their compulsory bytes: each operand read once, each result written once, at the rate of a
// triad that runs in the same rounds.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include <gnnbench/backend.hpp>

#include "plain.hpp"
#include "plugin/loader.hpp"
#include "timing.hpp"

namespace gnnbench::bench {
namespace {

constexpr double goal = 1.2;  ///< time ÷ (bytes ÷ triad)

/// One pass: what it does, the bytes that it must move, and itself.
struct Pass {
    std::string what;
    double bytes;
    std::function<void()> run;
};

/// Memory of passes on [rows × cols], as large as a full graph's.
class Ground {
public:
    Ground(Backend& backend, std::int64_t rows, std::int64_t cols) : backend_(backend), rows_(rows), cols_(cols) {
        for (Matrix& m : matrices_) {
            m = backend.matrix(rows, cols);
            auto* values = static_cast<float*>(m.view().data);
            for (std::int64_t i = 0; i < rows * cols; ++i)
                values[i] =
                    static_cast<float>(static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15u >> 40 & 1023) / 512.0f -
                    1;
        }
        backend.fill(matrices_[3], 1e-3);  // second moments are not negative
        bias_ = backend.matrix(1, cols);
        backend.fill(bias_, 0.1);
        sums_ = backend.matrix(1, cols);
        std::vector<std::int64_t> ids(static_cast<std::size_t>(rows));
        std::iota(ids.begin(), ids.end(), 0);
        ids_ = backend.upload(std::span<const std::int64_t>(ids));
        std::vector<std::int32_t> labels(static_cast<std::size_t>(rows));
        for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % cols);
        labels_ = backend.upload(std::span<const std::int32_t>(labels));
        split_ = backend.upload(std::span<const Split>(std::vector<Split>(labels.size(), Split::train)));
        loss_ = backend.upload(std::span<const double>(std::array{0.0}));
    }

    std::vector<Pass> passes() {
        const double once = 4.0 * static_cast<double>(rows_) * static_cast<double>(cols_),
                     ids = 8.0 * static_cast<double>(rows_), labels = 5.0 * static_cast<double>(rows_);
        const MatrixView x = matrices_[0], y = matrices_[1], z = matrices_[2];
        const Epilogue relu{.bias = bias_.view().data, .activation = Activation::relu, .dropout = {}};
        Epilogue dropping = relu;
        dropping.dropout = {.rate = 0.5, .seed = 3, .layer = 1, .epoch = 2};
        dropping.row_ids = ids_.data();
        Epilogue only_drops;
        only_drops.dropout = dropping.dropout;
        only_drops.row_ids = ids_.data();
        const LossInput in{
            .labels = labels_.data(), .split = split_.data(), .scale = 1.0 / static_cast<double>(rows_)};
        return {
            {"bias and ReLU in place", 2 * once, [=, this] { backend_.apply(relu, x); }},
            {"bias, ReLU and dropout in place", 2 * once + ids, [=, this] { backend_.apply(dropping, x); }},
            {"dropout of X", 2 * once + ids, [=, this] { backend_.dropout(only_drops, x, y); }},
            {"ReLU backward in place", 3 * once, [=, this] { backend_.apply_backward(relu, x, y, y); }},
            {"ReLU and dropout backward in place", 3 * once,
             [=, this] { backend_.apply_backward(dropping, x, y, y); }},
            {"column sums", once, [=, this] { backend_.column_sums(x, sums_); }},
            {"softmax cross-entropy", 2 * once + labels,
             [=, this] { backend_.softmax_cross_entropy(x, in, z, loss_.data()); }},
            {"Adam", 7 * once, [=, this] { step(OptimizerKind::adam); }},
            {"SGD", 3 * once, [=, this] { step(OptimizerKind::sgd); }},
            {"copy", 2 * once, [=, this] { backend_.copy(x, y); }},
            {"fill", once, [=, this] { backend_.fill(y, 0); }},
            {"mean of two", 3 * once, [=, this] { backend_.axpby(0.5, x, 0.5, y); }},
        };
    }
    void triad(int threads) const { bench::triad(data(2), data(0), data(1), rows_ * cols_, threads); }
    double triad_bytes() const { return 12.0 * static_cast<double>(rows_) * static_cast<double>(cols_); }

private:
    float* data(std::size_t i) const { return static_cast<float*>(matrices_[i].view().data); }
    void step(OptimizerKind kind) {
        const ParameterSlot slot{.weight = data(0),
                                 .gradient = data(1),
                                 .first_moment = data(2),
                                 .second_moment = data(3),
                                 .count = rows_ * cols_,
                                 .weight_decay = 0};
        TrainSpec train;
        train.optimizer = kind;
        train.learning_rate = 1e-9;  // values stay what they were
        backend_.optimizer_step(train, 1, std::span(&slot, 1));
    }

    Backend& backend_;
    std::int64_t rows_, cols_;
    std::array<Matrix, 4> matrices_;
    Matrix bias_, sums_;
    Array<std::int64_t> ids_;
    Array<std::int32_t> labels_;
    Array<Split> split_;
    Array<double> loss_;
};

void of_width(const Options& o, Backend& backend, std::int64_t rows, std::int64_t cols, Report& report) {
    Ground ground(backend, rows, cols);
    const std::vector<Pass> passes = ground.passes();
    std::vector<std::function<void()>> candidates{[&] { ground.triad(o.threads); }};
    for (const Pass& p : passes) candidates.push_back(p.run);
    const auto seconds = take_turns(o, candidates);
    for (std::size_t i = 0; i < passes.size(); ++i) {
        std::vector<double> ratios;
        for (std::size_t r = 0; r < seconds[0].size(); ++r)
            ratios.push_back(seconds[i + 1][r] / (passes[i].bytes / (ground.triad_bytes() / seconds[0][r])));
        const double ratio = median(ratios), time = median(seconds[i + 1]);
        report.line(fmt::format("| {}×{} | {} | {:.1f} | {:.2f} | {:.1f} | {:.2f}{} |", rows, cols, passes[i].what,
                                passes[i].bytes / 1e6, 1e3 * time, passes[i].bytes / time / 1e9, ratio,
                                ratio > goal ? ", above" : ""));
    }
    report.line(fmt::format("| {}×{} | triad | {:.1f} | {:.2f} | {:.1f} | 1 |", rows, cols,
                            ground.triad_bytes() / 1e6, 1e3 * median(seconds[0]),
                            ground.triad_bytes() / median(seconds[0]) / 1e9));
}

}  // namespace

void bench_elementwise(const Options& o, Report& report) {
    const PluginCatalog catalog;
    const auto backend = catalog.kernel("cpu")->create(
        {.threads = o.threads, .params = Params(catalog.find(PluginKind::kernel, "cpu").params)});
    report.line(fmt::format(
        "## Element-wise passes\n\nMB: each operand read once, each result written once. The ratio is the time ÷ "
        "(bytes ÷ triad), the triad of the same round on the same memory; the goal is {}.\n",
        goal));
    report.line("| matrix | pass | MB | ms | GB/s | ratio |");
    report.line("| --- | --- | --- | --- | --- | --- |");
    const auto rows = std::max<std::int64_t>(64, static_cast<std::int64_t>(o.rows_of(232'965)));
    for (const std::int64_t cols : {std::int64_t{128}, std::int64_t{41}, std::int64_t{16}})
        of_width(o, *backend, cols == 16 ? 4 * rows : rows, cols, report);
    report.line("");
}

}  // namespace gnnbench::bench
