// Every back end against `reference`: rows, sums, the loss, the optimizer, memory and order.
#include <cstdlib>
#include <numeric>

#include "contract/backend_pair.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

TEST_CASE("kernel: rows filled, copied, gathered and added, in views inside wider matrices") {
    for_every_backend([](BackendPair& pair) {
        for (const std::int64_t cols : {1, 2, 4, 16, 37, 200})
            for (const std::int64_t first : {0, 1, 4}) {
                const std::int64_t n = 61;
                INFO(cols << " columns from " << first << ", " << pair.what);
                std::vector<std::int32_t> rows;
                for (std::int32_t i = 0; i < n; i += 2) rows.push_back(static_cast<std::int32_t>((i * 7 + 3) % n));
                const auto picked = static_cast<std::int64_t>(rows.size());
                const TwinArray<std::int32_t> list(pair, rows);
                const Twin from(pair, random_matrix(n, cols, 1), first, 3),
                    gathered(pair, random_matrix(picked, cols, 2), first, 0),
                    sum(pair, random_matrix(n, cols, 3), 0, first),
                    copied(pair, random_matrix(n, cols, 4), first, 1),
                    filled(pair, random_matrix(n, cols, 5), first, 2),
                    averaged(pair, random_matrix(n, cols, 6), first, 1), scaled(pair, random_matrix(n, cols, 7));
                pair.both([&](Backend& k, std::size_t i) {
                    k.gather_rows(from[i], list[i], gathered[i]);
                    k.scatter_add_rows(gathered[i], list[i], sum[i]);
                    k.copy(from[i], copied[i]);
                    k.fill(filled[i], -2.5);
                    k.axpby(0.5, from[i], 0.5, averaged[i]);
                    k.axpby(0.25, scaled[i], 0.125, scaled[i]);  // x may be y
                });
                for (const Twin* t : {&gathered, &copied, &filled}) CHECK(t->difference() == 0);
                for (const Twin* t : {&sum, &averaged, &scaled}) CHECK(t->difference() < pair.tolerance());
            }
    });
}

TEST_CASE("kernel: squared distances, in views inside wider matrices") {
    for_every_backend([](BackendPair& pair) {
        // The last has more rows than a device's blocks have warps, which takes a minute where each thread is emulated.
        std::vector<std::int64_t> all_rows = {0, 1, 9, 300};
        if (!std::getenv("GNNBENCH_EMULATED_DEVICES")) all_rows.push_back(9000);
        for (const std::int64_t rows : all_rows)
            for (const std::int64_t cols : {1, 33, 70}) {
                INFO(rows << " x " << cols << ", " << pair.what);
                const Twin x(pair, random_matrix(rows, cols, 8), 1, 2),
                    y(pair, random_matrix(rows, cols, 9), 0, 1);
                const TwinArray<double> sums(pair, {-1, -1, -1, -1});
                pair.both([&](Backend& k, std::size_t i) {
                    k.squared_distance(x[i], y[i], sums[i]);
                    k.squared_distance(x[i], x[i], sums[i] + 2);
                });
                const auto found = sums.read(*pair.tested, 0), wanted = sums.read(*pair.reference, 1);
                for (std::size_t i = 0; i < 4; ++i)
                    CHECK(std::abs(found[i] - wanted[i]) <= pair.tolerance(rows * cols) * wanted[i]);
                CHECK(wanted[2] == 0);
                CHECK((rows == 0) == (wanted[1] == 0));
            }
    });
}

TEST_CASE("kernel: column sums") {
    for_every_backend([](BackendPair& pair) {
        for (const std::int64_t rows : {0, 1, 7, 300, 3000})
            for (const std::int64_t cols : {1, 33, 70}) {
                INFO(rows << " x " << cols << ", " << pair.what);
                const Twin g(pair, random_matrix(rows, cols, 5), 1, 1), out(pair, random_matrix(1, cols, 6));
                pair.both([&](Backend& k, std::size_t i) { k.column_sums(g[i], out[i]); });
                CHECK(out.difference() < pair.tolerance(rows));
            }
    });
}

namespace {

struct Labels {
    std::vector<std::int32_t> labels;
    std::vector<Split> split;
};

Labels labels_of(std::int64_t rows, std::int64_t classes) {
    Labels l;
    for (std::int64_t r = 0; r < rows; ++r) {
        l.labels.push_back(static_cast<std::int32_t>(r * 7 % classes));
        l.split.push_back(static_cast<Split>(r % 4));
    }
    return l;
}

HostMatrix logits_of(std::int64_t rows, std::int64_t classes) {
    HostMatrix x = random_matrix(rows, classes, 6);
    for (double& v : x.values) v *= 30;
    return x;
}

}  // namespace

TEST_CASE("kernel: softmax cross entropy and accuracy, whole rows and shards of them") {
    for_every_backend([](BackendPair& pair) {
        for (const std::int64_t classes : {1, 2, 7, 41, 100})
            for (const std::int64_t rows : {0, 1, 90}) {
                INFO(rows << " rows, " << classes << " classes, " << pair.what);
                const Labels l = labels_of(rows, classes);
                const TwinArray<std::int32_t> labels(pair, l.labels);
                const TwinArray<Split> split(pair, l.split);
                const TwinArray<std::int64_t> counts(pair, std::vector<std::int64_t>(6, -1));
                const TwinArray<double> loss(pair, {-1.0, -1.0, -1.0});
                const Twin whole(pair, logits_of(rows, classes), 1, 2),
                    grad(pair, random_matrix(rows, classes, 8));
                // Two shards of unequal width; with one class the second is empty.
                const std::int64_t cut = (classes + 1) / 2;
                const Twin maxima(pair, random_matrix(rows, 1, 1)), sums(pair, random_matrix(rows, 1, 2));
                const Twin other_maxima(pair, random_matrix(rows, 1, 3)),
                    other_sums(pair, random_matrix(rows, 1, 4));
                pair.both([&](Backend& k, std::size_t i) {
                    const LossInput in{labels[i], split[i], Split::train, 1.0 / 1234};
                    const MatrixView left = whole[i].cols_from(0, cut),
                                     right = whole[i].cols_from(cut, classes - cut);
                    k.count_correct(whole[i], in, counts[i]);
                    k.softmax_cross_entropy(whole[i], in, grad[i], loss[i]);
                    k.row_maxima(whole[i], maxima[i]);
                    k.row_exp_sums(whole[i], maxima[i], sums[i]);
                    k.row_maxima(right, other_maxima[i]);
                    k.row_exp_sums(left, maxima[i], other_sums[i]);
                    k.softmax_cross_entropy_shard(left, maxima[i], sums[i], 0, in, left, loss[i] + 1);
                    k.softmax_cross_entropy_shard(right, maxima[i], sums[i], cut, in, right, loss[i] + 2);
                });
                CHECK(grad.difference() < pair.tolerance() / 1000);
                CHECK(maxima.difference() == 0);
                CHECK(sums.difference() < pair.tolerance(classes));
                CHECK(other_sums.difference() < pair.tolerance(classes));
                if (cut < classes) CHECK(other_maxima.difference() == 0);
                CHECK(whole.difference() < pair.tolerance());
                CHECK(counts.read(*pair.tested, 0) == counts.read(*pair.reference, 1));
                const auto found = loss.read(*pair.tested, 0), wanted = loss.read(*pair.reference, 1);
                for (std::size_t i = 0; i < 3; ++i)
                    CHECK(found[i] == Approx(wanted[i]).epsilon(170 * pair.unit()).margin(pair.unit() / 50));
            }
    });
}

TEST_CASE("kernel: binary cross-entropy and counts of positives, on a matrix of labels") {
    for_every_backend([](BackendPair& pair) {
        for (const std::int64_t classes : {1, 2, 7, 41, 100})
            for (const std::int64_t rows : {0, 1, 90}) {
                INFO(rows << " rows, " << classes << " classes, " << pair.what);
                std::vector<std::uint8_t> sets;
                for (std::int64_t i = 0; i < rows * classes; ++i)
                    sets.push_back(i / classes % 5 != 0 && i * 7 % 3 == 0);
                const TwinArray<std::uint8_t> matrix(pair, sets);
                const TwinArray<Split> split(pair, labels_of(rows, classes).split);
                const TwinArray<std::int64_t> counts(pair, std::vector<std::int64_t>(9, -1));
                const TwinArray<double> loss(pair, {-1.0, -1.0});
                HostMatrix x = logits_of(rows, classes);
                if (!x.values.empty()) x.values[0] = 0;  // claims nothing
                const Twin logits(pair, x, 1, 2), grad(pair, random_matrix(rows, classes, 8));
                pair.both([&](Backend& k, std::size_t i) {
                    const LossInput in{
                        .split = split[i], .scale = 1.0 / 1234, .label_matrix = matrix[i], .multi_label = true};
                    k.count_positives(logits[i], in, counts[i]);
                    k.binary_cross_entropy(logits[i], in, grad[i], loss[i]);
                    k.binary_cross_entropy(logits[i], in, logits[i], loss[i] + 1);  // in the logits' place
                });
                CHECK(grad.difference() < pair.tolerance() / 1000);
                CHECK(logits.difference() < pair.tolerance());
                CHECK(counts.read(*pair.tested, 0) == counts.read(*pair.reference, 1));
                const auto found = loss.read(*pair.tested, 0), wanted = loss.read(*pair.reference, 1);
                for (std::size_t i = 0; i < 2; ++i)
                    CHECK(found[i] == Approx(wanted[i]).epsilon(170 * pair.unit()).margin(pair.unit() / 50));
            }
    });
}

TEST_CASE("kernel: binary cross-entropy of logits that are huge, zero or no number, by hand") {
    for_every_backend([](BackendPair& pair) {
        // log(1 + eᵗ): of a right claim at ±500 nothing, of a wrong one 500; of 0 it is log 2.
        HostMatrix x(1, 5);
        x.values = {500, 500, -500, -500, 0};
        const TwinArray<std::uint8_t> labels(pair, {1, 0, 1, 0, 1});
        const TwinArray<Split> split(pair, {Split::train});
        const TwinArray<double> loss(pair, {-1.0});
        const TwinArray<std::int64_t> counts(pair, std::vector<std::int64_t>(9, -1));
        const Twin logits(pair, x), grad(pair, random_matrix(1, 5, 8));
        pair.both([&](Backend& k, std::size_t i) {
            const LossInput in{.split = split[i], .scale = 0.5, .label_matrix = labels[i], .multi_label = true};
            k.count_positives(logits[i], in, counts[i]);
            k.binary_cross_entropy(logits[i], in, grad[i], loss[i]);
        });
        CHECK(loss.read(*pair.tested, 0)[0] == Approx(0.5 * (1000 + std::log(2.0))).epsilon(pair.unit() * 4));
        const HostMatrix found = pair.tested->download(grad[0]);
        const std::vector<double> wanted = {0, 0.5, -0.5, 0, -0.25};
        for (std::size_t i = 0; i < 5; ++i) CHECK(found.values[i] == Approx(wanted[i]).margin(1e-30));
        CHECK(counts.read(*pair.tested, 0) == std::vector<std::int64_t>{1, 1, 2, 0, 0, 0, 0, 0, 0});

        x.values[3] = NAN;
        const Twin broken(pair, x);
        pair.tested->binary_cross_entropy(
            broken[0], {.split = split[0], .scale = 0.5, .label_matrix = labels[0], .multi_label = true},
            broken[0], loss[0]);
        CHECK(std::isnan(loss.read(*pair.tested, 0)[0]));
    });
}

TEST_CASE("kernel: the gradient may take the logits' place, and a NaN makes the loss NaN") {
    for_every_backend([](BackendPair& pair) {
        const std::int64_t rows = 40, classes = 50;
        const Labels l = labels_of(rows, classes);
        const TwinArray<std::int32_t> labels(pair, l.labels);
        const TwinArray<Split> split(pair, l.split);
        const TwinArray<double> loss(pair, {0.0});
        const Twin logits(pair, logits_of(rows, classes));
        pair.both([&](Backend& k, std::size_t i) {
            k.softmax_cross_entropy(logits[i], {labels[i], split[i], Split::train, 0.01}, logits[i], loss[i]);
        });
        CHECK(logits.difference() < pair.tolerance());
        HostMatrix bad = logits_of(rows, classes);
        bad(1, 3) = NAN;
        const Twin broken(pair, bad);
        pair.tested->softmax_cross_entropy(broken[0], {labels[0], split[0], Split::train, 0.01}, broken[0],
                                           loss[0]);
        CHECK(std::isnan(loss.read(*pair.tested, 0)[0]));
    });
}

TEST_CASE("kernel: three steps of SGD, Adam and AdamW over arrays of every length") {
    for_every_backend([](BackendPair& pair) {
        for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw}) {
            const TrainSpec spec{.optimizer = kind, .learning_rate = 0.05, .weight_decay = {}};
            // More arrays than one launch takes; starts that are not aligned, as layers of a slab have them.
            std::vector<std::int64_t> lengths = {1, 3, 1024, 1025, 0, 2500};
            for (std::int64_t i = 0; i < 35; ++i) lengths.push_back(5 + i);
            const std::int64_t total = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
            const Twin w(pair, random_matrix(1, total, 1)), m(pair, HostMatrix(1, total)),
                v(pair, HostMatrix(1, total));
            for (std::int64_t step = 1; step <= 3; ++step) {
                const Twin g(pair, random_matrix(1, total, static_cast<std::uint64_t>(10 + step)));
                pair.both([&](Backend& k, std::size_t i) {
                    std::vector<ParameterSlot> slots;
                    std::int64_t at = 0;
                    for (const std::int64_t n : lengths) {
                        slots.push_back({w[i].cols_from(at, n).data, g[i].cols_from(at, n).data,
                                         m[i].cols_from(at, n).data, v[i].cols_from(at, n).data, n,
                                         at % 2 == 0 ? 0.02 : 0.0});
                        at += n;
                    }
                    k.optimizer_step(spec, step, slots);
                });
            }
            INFO("optimizer " << static_cast<int>(kind) << ", " << pair.what);
            CHECK(w.difference() < 3 * pair.tolerance());
        }
    });
}

TEST_CASE("kernel: memory is counted, and too much is refused with what was asked and what is free") {
    for_every_backend([](BackendPair& pair) {
        Backend& k = *pair.tested;
        const MemoryUse before = k.memory();
        {
            const Matrix a = k.matrix(100, 10), b = k.matrix(50, 10);
            CHECK(k.memory().current_bytes - before.current_bytes ==
                  1500 * static_cast<std::int64_t>(size_of(k.dtype())));
            CHECK(k.memory().allocations == before.allocations + 2);
        }
        CHECK(k.memory().current_bytes == before.current_bytes);
        CHECK(k.memory().peak_bytes >=
              before.current_bytes + 1500 * static_cast<std::int64_t>(size_of(k.dtype())));
        constexpr std::size_t too_much = std::size_t{1} << 62;
        CHECK_THROWS_WITH(k.allocate(too_much), Catch::Contains("4611686018427387904 bytes"));
        // And goes on.
        const Twin x(pair, random_matrix(3, 3, 1));
        pair.both([&](Backend& each, std::size_t i) { each.fill(x[i], 2); });
        CHECK(x.difference() == 0);
    });
}

TEST_CASE("kernel: what one stream records, the other and the host can wait for") {
    for_every_backend([](BackendPair& pair) {
        Backend& k = *pair.tested;
        const Twin x(pair, random_matrix(200, 64, 1));
        for (int turn = 0; turn < 3; ++turn) {
            pair.both([&](Backend& each, std::size_t i) { each.fill(x[i], turn); });
            const Event filled = k.record(StreamRole::compute);
            k.wait(StreamRole::communication, filled);
            const Event passed = k.record(StreamRole::communication);
            k.wait(StreamRole::compute, passed);
            k.synchronize(StreamRole::communication);
            CHECK((passed.happened_at_once() || passed.ready()));
            CHECK(x.difference() == 0);
        }
        // A block that is given back and asked for again holds what was written last.
        for (int turn = 0; turn < 5; ++turn) {
            const Twin again(pair, random_matrix(64, 64, static_cast<std::uint64_t>(turn))),
                sum(pair, HostMatrix(64, 64));
            std::vector<std::int32_t> order(64);
            std::iota(order.rbegin(), order.rend(), 0);
            pair.both([&](Backend& each, std::size_t i) {
                // The list goes while the device may still read it.
                const auto list = each.upload(std::span<const std::int32_t>(order));
                each.scatter_add_rows(again[i], list.data(), sum[i]);
            });
            CHECK(sum.difference() == 0);
        }
    });
}

TEST_CASE("kernel: an epoch's spans are timed in order, and within the epoch") {
    for_every_backend([](BackendPair& pair) {
        Backend& k = *pair.tested;
        const Twin a(pair, random_matrix(64, 64, 1)), c(pair, random_matrix(64, 64, 2));
        for (int epoch = 0; epoch < 2; ++epoch) {
            k.trace().begin_epoch();
            k.gemm(Transpose::no, a[0], Transpose::no, a[0], c[0]);
            k.fill(c[0], 0);
            k.trace().end_epoch();
            const auto& spans = k.trace().spans();
            REQUIRE(spans.size() == 2);
            CHECK(spans[0].begin_s >= 0);
            CHECK(spans[0].end_s >= spans[0].begin_s);
            CHECK(spans[1].begin_s >= spans[0].end_s);
            CHECK(spans[1].end_s <= k.trace().times().wall_s + 1e-4);
        }
    });
}
