#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/strategy.hpp>
#include <gnnbench/transport.hpp>

/// What a trainer's evaluation must agree with: its own embeddings, gathered from all ranks, and the dataset.
namespace gnnbench::contract {

struct Logits {
    std::string problem;  ///< empty: every vertex is there, and replicas (1.5D) agree
    HostMatrix of;        ///< [vertices × classes], original order
};

/// Every rank's share of the embeddings, in one matrix on every rank.
inline Logits gather_embeddings(Trainer& trainer, const DatasetView& data, const ProcessGroup& world) {
    const OwnedRows mine = trainer.embeddings();
    std::string packed;
    for (std::size_t i = 0; i < mine.vertices.size(); ++i) {
        const std::int64_t v = value(mine.vertices[i]);
        packed.append(reinterpret_cast<const char*>(&v), sizeof v);
        packed.append(
            reinterpret_cast<const char*>(&mine.rows.values[i * static_cast<std::size_t>(mine.rows.cols)]),
            static_cast<std::size_t>(mine.rows.cols) * sizeof(double));
    }
    const std::int64_t n = data.graph.vertices();
    const auto row_bytes = static_cast<std::size_t>(data.classes) * sizeof(double);
    Logits all{"", HostMatrix(n, data.classes)};
    std::vector<int> seen(static_cast<std::size_t>(n));
    for (const std::string& part : world.all_gather(packed)) {
        if (part.size() % (sizeof(std::int64_t) + row_bytes) != 0)
            all.problem = "embeddings are not as wide as the classes";
        for (std::size_t at = 0; all.problem.empty() && at < part.size(); at += sizeof(std::int64_t) + row_bytes) {
            std::int64_t v = 0;
            std::memcpy(&v, part.data() + at, sizeof v);
            std::vector<double> row(static_cast<std::size_t>(data.classes));
            std::memcpy(row.data(), part.data() + at + sizeof v, row_bytes);
            for (std::int64_t c = 0; c < data.classes; ++c) {
                const double x = row[static_cast<std::size_t>(c)];
                if (seen[static_cast<std::size_t>(v)] > 0 &&
                    std::abs(all.of(v, c) - x) > 1e-9 * std::max(1.0, std::abs(x)))
                    all.problem =
                        fmt::format("vertex {} has embeddings {} and {} in column {}", v, all.of(v, c), x, c);
                all.of(v, c) = x;
            }
            ++seen[static_cast<std::size_t>(v)];
        }
    }
    for (std::int64_t v = 0; v < n && all.problem.empty(); ++v)
        if (seen[static_cast<std::size_t>(v)] == 0)
            all.problem = fmt::format("no rank gives the embedding of vertex {}", v);
    return all;
}

/// Mean over train vertices and classes of −y log σ(z) − (1 − y) log(1 − σ(z)).
inline double binary_loss_of(const HostMatrix& logits, const DatasetView& data) {
    double loss = 0, counted = 0;
    for (std::int64_t v = 0; v < logits.rows; ++v)
        for (std::int64_t c = 0; c < logits.cols; ++c) {
            if (data.split[static_cast<std::size_t>(v)] != Split::train) continue;
            const bool has = data.label_matrix[static_cast<std::size_t>(v * logits.cols + c)] != 0;
            loss -= std::log(1 / (1 + std::exp(has ? -logits(v, c) : logits(v, c))));
            ++counted;
        }
    return loss / std::max(counted, 1.0);
}

/// Mean cross entropy over train vertices, or binary cross-entropy.
inline double loss_of(const HostMatrix& logits, const DatasetView& data) {
    if (data.multi_label()) return binary_loss_of(logits, data);
    double loss = 0, counted = 0;
    for (std::int64_t v = 0; v < logits.rows; ++v) {
        if (data.split[static_cast<std::size_t>(v)] != Split::train) continue;
        double largest = logits(v, 0), sum = 0;
        for (std::int64_t c = 1; c < logits.cols; ++c) largest = std::max(largest, logits(v, c));
        for (std::int64_t c = 0; c < logits.cols; ++c) sum += std::exp(logits(v, c) - largest);
        loss += largest + std::log(sum) - logits(v, data.labels[static_cast<std::size_t>(v)]);
        ++counted;
    }
    return loss / std::max(counted, 1.0);
}

/// Twice the labels that are claimed and true, over those that are claimed and those that are true.
inline Score micro_f1_of(const HostMatrix& logits, const DatasetView& data) {
    std::array<double, 3> both{}, either{};
    for (std::int64_t v = 0; v < logits.rows; ++v)
        for (std::int64_t c = 0; c < logits.cols; ++c) {
            const Split s = data.split[static_cast<std::size_t>(v)];
            if (s == Split::none) continue;
            const int claimed = logits(v, c) > 0,
                      has = data.label_matrix[static_cast<std::size_t>(v * logits.cols + c)];
            both[static_cast<std::size_t>(s) - 1] += 2 * claimed * has;
            either[static_cast<std::size_t>(s) - 1] += claimed + has;
        }
    Score score{.metric = ScoreMetric::micro_f1, .of = {}};
    for (std::size_t s = 0; s < 3; ++s) score.of[s] = both[s] / either[s];  // NaN where a split is empty
    return score;
}

inline Score score_by(const HostMatrix& logits, const DatasetView& data) {
    if (data.multi_label()) return micro_f1_of(logits, data);
    std::array<double, 3> correct{}, total{};
    for (std::int64_t v = 0; v < logits.rows; ++v) {
        const Split s = data.split[static_cast<std::size_t>(v)];
        if (s == Split::none) continue;
        std::int64_t best = 0;
        for (std::int64_t c = 1; c < logits.cols; ++c)
            if (logits(v, c) > logits(v, best)) best = c;
        total[static_cast<std::size_t>(s) - 1] += 1;
        correct[static_cast<std::size_t>(s) - 1] += best == data.labels[static_cast<std::size_t>(v)];
    }
    Score score;
    for (std::size_t s = 0; s < 3; ++s) score.of[s] = correct[s] / total[s];  // NaN where a split is empty
    return score;
}

/// Empty, or where the embeddings are not the logits that exact products give.
inline std::string embeddings_problem(Trainer& trainer, const DatasetView& data, const ProcessGroup& world,
                                      const HostMatrix& wanted) {
    const Logits found = gather_embeddings(trainer, data, world);
    if (!found.problem.empty()) return found.problem;
    for (std::size_t i = 0; i < wanted.values.size(); ++i)
        if (const double x = wanted.values[i], y = found.of.values[i];
            std::abs(x - y) > 1e-9 * std::max(1.0, std::abs(x)))
            return fmt::format("the embedding of vertex {} in column {} is {}; by its weights it is {}",
                               static_cast<std::int64_t>(i) / wanted.cols,
                               static_cast<std::int64_t>(i) % wanted.cols, y, x);
    return {};
}

/// Empty, or what is wrong: embeddings that miss a vertex, a score that is not theirs, or, unless `random`
/// (dropout, sampling), a loss in the epoch after that is not theirs. Trains that epoch.
inline std::string evaluation_problem(CollectiveTrainer& trainer, const DatasetView& data,
                                      const ProcessGroup& world, std::int64_t next_epoch, bool random,
                                      double tolerance) {
    const Logits logits = gather_embeddings(trainer, data, world);
    const Score found = trainer.evaluate();
    const double loss = trainer.train_epoch(next_epoch).loss;
    if (!logits.problem.empty()) return logits.problem;
    const Score wanted = score_by(logits.of, data);
    if (found.metric != wanted.metric) return fmt::format("its score is {}", to_text(found.metric));
    for (std::size_t s = 0; s < 3; ++s)
        if (std::isnan(found.of[s]) != std::isnan(wanted.of[s]) || std::abs(found.of[s] - wanted.of[s]) > 1e-12)
            return fmt::format("{} on split {} is {}; by the embeddings it is {}", to_text(found.metric), s + 1,
                               found.of[s], wanted.of[s]);
    const double expected = loss_of(logits.of, data);
    if (!random && std::abs(loss - expected) > tolerance * std::max(1.0, expected))
        return fmt::format("the loss of epoch {} is {}; by the embeddings before it, it is {}", next_epoch, loss,
                           expected);
    return {};
}

}  // namespace gnnbench::contract
