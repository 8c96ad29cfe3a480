#include "worker/verify/evaluation_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <xxhash.h>

#include <gnnbench/training/layer_zero.hpp>
#include <gnnbench/usize.hpp>

#include "check/bounds.hpp"
#include "check/error_bounds.hpp"
#include "check/perturbed_backend.hpp"
#include "worker/verify/conditioning.hpp"
#include "worker/gathered_rows.hpp"

namespace gnnbench {
namespace {

/// Roundings by which a forward pass may differ from the same one repeated, where no reference bounds it.
constexpr double repeated_roundings = 1024;

/// The logits of `serial` on that back end.
HostMatrix serial_logits(const PluginCatalog& catalog, const ReferenceTraining& training,
                         const ModelWeights& weights, Backend& backend) {
    const ProcessGroup alone = ProcessGroup::alone();
    const auto strategy = catalog.strategy("serial");
    VolumeCounter counter;
    Communicator self(backend.connect(alone), backend, counter);
    const IndexMap index = IndexMap::one_part(training.data.graph.vertices());
    const Params params(catalog.find(PluginKind::strategy, "serial").params);
    ModelSpec model = training.model;
    model.sparse_features = model.aggregate_input = false;  // the same logits, by plain products
    TrainSpec train = training.train;
    train.optimizer = OptimizerKind::sgd;  // which needs no moments
    const Problem problem{training.data, index, model, train, params, &weights};
    const auto trainer = strategy->make_collective_trainer(problem, {backend, self, alone});
    return gather_rows(trainer->embeddings(), training.data.graph.vertices(), model.widths.back(), alone).rows;
}

double norm_of(const HostMatrix& m) {
    double squares = 0;
    for (const double x : m.values) squares += x * x;
    return std::sqrt(squares);
}

/// ‖a − b‖ ÷ ‖b‖, in the Frobenius norm.
double relative_distance(const HostMatrix& a, const HostMatrix& b) {
    double squares = 0;
    for (std::size_t i = 0; i < b.values.size(); ++i)
        squares += (a.values[i] - b.values[i]) * (a.values[i] - b.values[i]);
    return squares == 0 ? 0 : std::sqrt(squares) / norm_of(b);
}

}  // namespace

BoundedLogits reference_logits(const PluginCatalog& catalog, const ReferenceTraining& training,
                               const ModelWeights& weights, DType dtype) {
    const auto float64 = [&] { return lone_reference(catalog); };
    const auto bounded = [&]() -> BoundedLogits {
        ErrorBounds bounds(float64(), rounding_of(dtype));
        BoundedLogits found{serial_logits(catalog, training, weights, bounds), {}};
        found.bound = bounds.last();
        return found;
    };
    const auto unbounded = [&]() -> BoundedLogits {
        const auto backend = float64();
        BoundedLogits found{serial_logits(catalog, training, weights, *backend), {}};
        found.bound = HostMatrix(found.value.rows, found.value.cols);
        found.has_bounds = false;
        return found;
    };
    BoundedLogits logits = training.model.attends() ? unbounded() : bounded();
    if (logits.has_bounds &&
        (dtype != DType::f32 || norm_of(logits.bound) <= largest_allowance * norm_of(logits.value)))
        return logits;
    double response = 0;
    for (int s = 1; s <= response_seeds; ++s) {
        PerturbedBackend moved(float64(), static_cast<std::uint64_t>(s), 0, lone_threads());
        const double off = relative_distance(serial_logits(catalog, training, weights, moved), logits.value);
        if (!std::isfinite(off)) return logits;
        response = std::max(response, off);
    }
    logits.response = response;
    return logits;
}

namespace {

/// Whether logit b of a row is larger than logit a, as arg max has it: of equal ones the first is.
enum class Order : std::uint8_t { smaller, larger, unknown };
Order compare(const BoundedLogits& l, std::int64_t row, std::int64_t a, std::int64_t b) {
    const double x = l.value(row, a), y = l.value(row, b), either = l.bound(row, a) + l.bound(row, b);
    if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(either)) return Order::unknown;
    if (either == 0) return y > x || (y == x && b < a) ? Order::larger : Order::smaller;
    if (std::abs(y - x) <= either) return Order::unknown;
    return y > x ? Order::larger : Order::smaller;
}

/// Correct and all vertices of a split.
ScoreRange accuracy_range(const BoundedLogits& logits, const DatasetView& data) {
    std::array<double, 3> sure{}, possible{}, total{};
    for (std::int64_t v = 0; v < logits.value.rows; ++v) {
        const Split split = data.split[usize(v)];
        if (split == Split::none) continue;
        const std::size_t s = usize(split) - 1;
        const std::int64_t label = data.labels[usize(v)];
        bool right = label >= 0, maybe = right;
        for (std::int64_t c = 0; c < logits.value.cols && maybe; ++c) {
            if (c == label) continue;
            const Order o = compare(logits, v, label, c);
            right = right && o == Order::smaller;
            maybe = o != Order::larger;
        }
        sure[s] += right && maybe;
        possible[s] += maybe;
        ++total[s];
    }
    ScoreRange range;
    for (std::size_t s = 0; s < 3; ++s) {  // NaN where a split is empty
        range.low[s] = sure[s] / total[s];
        range.high[s] = possible[s] / total[s];
    }
    return range;
}

/// 2·TP / (2·TP + FP + FN): claiming a label that is there raises it, claiming one that is not lowers it.
ScoreRange micro_f1_range(const BoundedLogits& logits, const DatasetView& data) {
    struct Counts {
        double both = 0, either = 0;  ///< 2·TP; claimed and true ones
        void add(bool claimed, bool has) {
            both += 2 * (claimed && has);
            either += claimed + has;
        }
    };
    std::array<Counts, 3> low, high;
    for (std::int64_t v = 0; v < logits.value.rows; ++v) {
        const Split split = data.split[usize(v)];
        if (split == Split::none) continue;
        const std::size_t s = usize(split) - 1;
        for (std::int64_t c = 0; c < logits.value.cols; ++c) {
            const bool has = data.label_matrix[usize(v * logits.value.cols + c)] != 0;
            const double x = logits.value(v, c), bound = logits.bound(v, c);
            const bool known = std::isfinite(x) && (bound == 0 || std::abs(x) > bound), claimed = x > 0;
            low[s].add(known ? claimed : !has, has);
            high[s].add(known ? claimed : has, has);
        }
    }
    ScoreRange range{.metric = ScoreMetric::micro_f1};
    for (std::size_t s = 0; s < 3; ++s) {  // NaN where nothing is there to be found
        range.low[s] = low[s].both / low[s].either;
        range.high[s] = high[s].both / high[s].either;
    }
    return range;
}

}  // namespace

ScoreRange score_range(const BoundedLogits& logits, const DatasetView& data) {
    return data.multi_label() ? micro_f1_range(logits, data) : accuracy_range(logits, data);
}

namespace {

constexpr std::array<const char*, 3> split_names = {"train", "validation", "test"};

/// A score that is found on a rank.
struct FoundScore {
    int rank;
    Score score;
};

void judge_score(const FoundScore& found, const ScoreRange& range, Ledger& ledger) {
    CheckCount& count = ledger.count("score");
    ++count.calls;
    const auto& [rank, score] = found;
    if (score.metric != range.metric)
        return ledger.add_fault("score", fmt::format("rank {} says {}, where the labels have {}", rank,
                                                     to_text(score.metric), to_text(range.metric)));
    for (std::size_t s = 0; s < 3; ++s) {
        ++count.elements;
        const double x = score.of[s], low = range.low[s], high = range.high[s];
        // A range that is open at one end is of a split where not even that is certain whether it has a score.
        const bool open = std::isnan(low) != std::isnan(high);
        const bool right = open || (std::isnan(x) ? std::isnan(low) : x >= low - 1e-12 && x <= high + 1e-12);
        if (right) continue;
        count.worst_ratio = INFINITY;
        count.worst = split_names[s];
        ledger.add_fault(
            "score",
            fmt::format("rank {} says that the {} of split {} is {:.6f}; by its logits it is {}", rank,
                        to_text(score.metric), split_names[s], x,
                        low == high ? fmt::format("{:.6f}", low) : fmt::format("{:.6f} to {:.6f}", low, high)));
    }
}

/// Replicas (1.5D) sum up in different orders, so their weights may differ, by less than copies may. The reference has
/// rank 0's.
constexpr double copies_apart(DType dtype) { return dtype == DType::f32 ? 1e-4 : 1e-10; }

bool same_on_all(const ModelWeights& mine, const ProcessGroup& group) {
    std::string digests;
    for (const NamedMatrix& m : mine.matrices)
        digests +=
            fmt::format("{:016x}", XXH3_64bits(m.values.values.data(), m.values.values.size() * sizeof(double)));
    const auto all = group.all_gather(digests);
    return std::ranges::all_of(all, [&](const std::string& d) { return d == digests; });
}

void widen(BoundedLogits& logits, double share) {
    for (std::int64_t v = 0; v < logits.value.rows; ++v) {
        double largest = 0;
        for (std::int64_t c = 0; c < logits.value.cols; ++c)
            largest = std::max(largest, std::abs(logits.value(v, c)));
        for (std::int64_t c = 0; c < logits.value.cols; ++c) logits.bound(v, c) += share * largest;
    }
    if (logits.response) *logits.response += share;
}

/// The run's own logits, each as uncertain as its copies on other ranks, or as rounding, make it.
BoundedLogits uncertain(const GatheredRows& own, const BoundedLogits* reference, const Rounding& rounding) {
    BoundedLogits out{own.rows, own.apart};
    if (!reference || !reference->has_bounds)
        widen(out, rounding.gamma(repeated_roundings));
    else
        for (std::size_t i = 0; i < out.bound.values.size(); ++i)
            out.bound.values[i] += reference->bound.values[i];
    return out;
}

/// All logits together, where their bounds alone tell nothing.
void judge_response(const GatheredRows& own, const BoundedLogits& reference, Ledger& ledger) {
    if (!reference.response) return;
    const double allowed = std::max(agreement_for(DType::f32).tolerance, response_factor * *reference.response);
    if (allowed > largest_allowance) return;
    if (const double off = relative_distance(own.rows, reference.value); !(off <= allowed))
        ledger.add_fault("logits",
                         fmt::format("[{}x{}] are off by {:.2e} of their norm, where rounding explains {:.1e}",
                                     own.rows.rows, own.rows.cols, off, allowed));
}

void judge_logits(const GatheredRows& own, const BoundedLogits& reference, const Rounding& rounding,
                  Ledger& ledger) {
    bool in_range = true;
    Judgement j(ledger, "logits", fmt::format("[{}x{}]", own.rows.rows, own.rows.cols));
    for (std::int64_t v = 0; v < own.rows.rows; ++v)
        for (std::int64_t c = 0; c < own.rows.cols; ++c) {
            const double x = reference.value(v, c), bound = reference.bound(v, c), found = own.rows(v, c);
            // Beyond the type's range nothing is known.
            const bool known = std::isfinite(x) && std::abs(x) + bound <= rounding.largest;
            if (known && reference.has_bounds) j.near(v, c, found, x, bound);
            in_range = in_range && known;
        }
    if (in_range) judge_response(own, reference, ledger);
}

bool same_bits(const HostMatrix& a, const HostMatrix& b) {
    return a.values.size() == b.values.size() &&
           std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(double)) == 0;
}

/// On rank 0, which has the rows. `repeats`: the pass gives the same bits each time, so that the one that was scored had these logits.
void judge(const DatasetView& data, DType dtype, const GatheredRows& own, bool repeats,
           const std::vector<FoundScore>& scores, const BoundedLogits* reference, Ledger& ledger) {
    if (own.missing >= 0)
        return ledger.add_fault("logits", fmt::format("no rank has the logits of vertex {}", own.missing));
    const Rounding rounding = rounding_of(dtype);
    if (reference) judge_logits(own, *reference, rounding, ledger);
    const ScoreRange range =
        score_range(repeats ? BoundedLogits{own.rows, own.apart} : uncertain(own, reference, rounding), data);
    for (const FoundScore& found : scores) judge_score(found, range, ledger);
}

std::vector<FoundScore> scores_of_all(const Score& mine, const ProcessGroup& group) {
    std::string bytes(sizeof mine.of + 1, static_cast<char>(mine.metric));
    std::memcpy(bytes.data(), mine.of.data(), sizeof mine.of);
    std::vector<FoundScore> all;
    for (const std::string& text : group.all_gather(bytes)) {
        FoundScore found{static_cast<int>(all.size()), {}};
        std::memcpy(found.score.of.data(), text.data(), sizeof found.score.of);
        found.score.metric = static_cast<ScoreMetric>(text.back());
        all.push_back(found);
    }
    return all;
}

}  // namespace

void check_evaluation(const DatasetView& data, const ProcessGroup& group, DType dtype, Trainer& trainer,
                      const ReferenceLogits& reference, Ledger& ledger) {
    const auto logits = [&] {
        return gather_rows(trainer.embeddings(), data.graph.vertices(), data.classes, group);
    };
    const GatheredRows before = logits();
    const std::vector<FoundScore> scores = scores_of_all(trainer.evaluate(), group);
    const GatheredRows own = logits();
    const ModelWeights weights = trainer.weights();
    const bool same = same_on_all(weights, group);
    if (group.rank() == 0) {
        std::optional<BoundedLogits> expected;
        if (reference) expected = reference(weights);
        if (expected && !same) widen(*expected, copies_apart(dtype));
        judge(data, dtype, own, same_bits(before.rows, own.rows), scores, expected ? &*expected : nullptr, ledger);
    }
    group.barrier();
}

}  // namespace gnnbench
