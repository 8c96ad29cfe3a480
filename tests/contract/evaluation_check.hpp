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

/// Mean cross entropy over train vertices.
inline double loss_of(const HostMatrix& logits, const DatasetView& data) {
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

inline Accuracy accuracy_of(const HostMatrix& logits, const DatasetView& data) {
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
    Accuracy a;
    for (std::size_t s = 0; s < 3; ++s) a.of[s] = correct[s] / total[s];  // NaN where a split is empty
    return a;
}

/// Empty, or what is wrong: embeddings that miss a vertex, an accuracy that is not theirs, or, unless `random`
/// (dropout, sampling), a loss in the epoch after that is not theirs. Trains that epoch.
inline std::string evaluation_problem(CollectiveTrainer& trainer, const DatasetView& data,
                                      const ProcessGroup& world, std::int64_t next_epoch, bool random,
                                      double tolerance) {
    const Logits logits = gather_embeddings(trainer, data, world);
    const Accuracy found = trainer.evaluate();
    const double loss = trainer.train_epoch(next_epoch).loss;
    if (!logits.problem.empty()) return logits.problem;
    const Accuracy wanted = accuracy_of(logits.of, data);
    for (std::size_t s = 0; s < 3; ++s)
        if (std::isnan(found.of[s]) != std::isnan(wanted.of[s]) || std::abs(found.of[s] - wanted.of[s]) > 1e-12)
            return fmt::format("accuracy on split {} is {}; by the embeddings it is {}", s + 1, found.of[s],
                               wanted.of[s]);
    const double expected = loss_of(logits.of, data);
    if (!random && std::abs(loss - expected) > tolerance * std::max(1.0, expected))
        return fmt::format("the loss of epoch {} is {}; by the embeddings before it, it is {}", next_epoch, loss,
                           expected);
    return {};
}

}  // namespace gnnbench::contract
