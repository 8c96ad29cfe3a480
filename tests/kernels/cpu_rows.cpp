// The cpu kernel's element-wise and row verbs against double loops.
#include <catch2/catch.hpp>

#include "cpu_support.hpp"

using namespace gnnbench;
using namespace gnnbench::test;

namespace {
/// Each test in both types.
std::unique_ptr<Backend> either_backend(int threads) {
    return cpu_kernel(threads, "auto", GENERATE(DType::f32, DType::f64));
}

constexpr Activation activations[] = {Activation::identity, Activation::relu, Activation::leaky_relu,
                                      Activation::sigmoid, Activation::elu};
}  // namespace

TEST_CASE("apply, dropout and apply_backward at every width from 1 to 140") {
    const int threads = GENERATE(1, 2);
    const auto k = either_backend(threads);
    for (std::int64_t cols = 1; cols <= 140; cols += cols < 70 ? 1 : 7)
        for (const Activation a : activations)
            for (const double rate : {0.0, 0.4}) {
                const std::int64_t rows = cols % 16 == 0 ? 700 : 6;
                EpilogueOnHost e = full_epilogue(rows, cols, a, rate);
                e.dropout.first_column = static_cast<std::uint32_t>(cols % 11);
                const EpilogueOnDevice device(*k, e);
                const HostMatrix z = random_matrix(rows, cols, 3), dh = random_matrix(rows, cols, 4);
                HostMatrix h(rows, cols), dz(rows, cols), dropped(rows, cols);
                for (std::int64_t r = 0; r < rows; ++r)
                    for (std::int64_t c = 0; c < cols; ++c) {
                        h(r, c) = e(z(r, c), r, c);
                        dz(r, c) = dh(r, c) * slope(a, e.biased(z(r, c), c)) * e.mask(r, c);
                        dropped(r, c) = z(r, c) * e.mask(r, c);
                    }
                INFO("width " << cols << ", activation " << static_cast<int>(a) << ", rate " << rate);
                Matrix out = to_device(*k, z), gradient = to_device(*k, dh);
                k->apply(device.epilogue, out);
                CHECK(error(k->download(out), h) < 17 * unit(*k));
                k->apply_backward(device.epilogue, out, gradient, gradient);
                CHECK(error(k->download(gradient), dz) < 50 * unit(*k));
                Epilogue only_dropout;
                only_dropout.dropout = e.dropout;
                only_dropout.row_ids = device.ids.data();
                k->dropout(only_dropout, to_device(*k, z), out);
                CHECK(error(k->download(out), dropped) < 17 * unit(*k));
            }
}

TEST_CASE("a shard of columns drops what the whole matrix drops") {
    const auto k = either_backend(1);
    EpilogueOnHost e = full_epilogue(5, 150, Activation::identity);
    e.bias.clear();
    HostMatrix ones(5, 150);
    ones.values.assign(ones.values.size(), 1);
    Matrix whole = to_device(*k, ones);
    k->apply(EpilogueOnDevice(*k, e).epilogue, whole);
    const HostMatrix wanted = k->download(whole);
    for (const std::int64_t first : {0, 1, 2, 3, 4, 61, 149})
        for (std::int64_t cols = 1; first + cols <= 150; cols += 9) {
            HostMatrix part(5, cols), expected(5, cols);
            part.values.assign(part.values.size(), 1);
            for (std::int64_t r = 0; r < 5; ++r)
                for (std::int64_t c = 0; c < cols; ++c) expected(r, c) = wanted(r, first + c);
            e.dropout.first_column = static_cast<std::uint32_t>(first);
            Matrix shard = to_device(*k, part);
            k->apply(EpilogueOnDevice(*k, e).epilogue, shard);
            INFO("columns " << first << " to " << first + cols - 1);
            CHECK(error(k->download(shard), expected) == 0);
        }
}

TEST_CASE("masks of wide matrices are the generator's") {
    const auto k = either_backend(2);
    const std::int64_t rows = 9, cols = GENERATE(1023, 1024, 2600);
    EpilogueOnHost e = full_epilogue(rows, cols, Activation::identity);
    e.bias.clear();
    e.dropout.first_column = 3;
    HostMatrix ones(rows, cols), wanted(rows, cols);
    ones.values.assign(ones.values.size(), 1);
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c) wanted(r, c) = e.mask(r, c);
    Matrix m = to_device(*k, ones);
    k->apply(EpilogueOnDevice(*k, e).epilogue, m);
    CHECK(error(k->download(m), wanted) < 2 * unit(*k));
}

TEST_CASE("fill writes all and nothing else, also past the caches") {
    const auto k = either_backend(GENERATE(1, 2));
    const std::int64_t large = 65 * (std::int64_t{1} << 20) / static_cast<std::int64_t>(size_of(k->dtype()));
    for (const std::int64_t count : {std::int64_t{1}, std::int64_t{15}, std::int64_t{40'001}, large + 3}) {
        const Matrix m = k->matrix(1, count + 20);
        k->fill(m, 1);
        k->fill(m.view().reshaped(1, count), 2);
        const HostMatrix values = k->download(m);
        INFO(count);
        CHECK(std::count(values.values.begin(), values.values.begin() + count, 2.0) == count);
        CHECK(std::count(values.values.begin() + count, values.values.end(), 1.0) == 20);
    }
}

TEST_CASE("sigmoid stays exact to rounding far from zero, and passes NaN on") {
    const auto k = either_backend(1);
    HostMatrix z(1, 7);
    z.values = {-100, -30, -5, 0, 5, 100, NAN};
    Matrix m = to_device(*k, z);
    Epilogue e;
    e.activation = Activation::sigmoid;
    k->apply(e, m);
    const HostMatrix y = k->download(m);
    for (std::int64_t c = 1; c < 6; ++c)
        CHECK(y(0, c) == Approx(activate(Activation::sigmoid, z(0, c))).epsilon(5 * unit(*k)));
    CHECK(y(0, 0) < (k->dtype() == DType::f32 ? 1e-37 : 1e-43));
    CHECK(std::isnan(y(0, 6)));
}

TEST_CASE("column_sums") {
    const auto k = either_backend(2);
    for (const std::int64_t rows : {0, 1, 257, 40000})
        for (const std::int64_t cols : {1, 16, 41, 70, 130, 300}) {
            if (rows == 40000 && cols > 41) continue;
            const HostMatrix g = random_matrix(rows, cols, 5);
            HostMatrix wanted(1, cols);
            for (std::int64_t r = 0; r < rows; ++r)
                for (std::int64_t c = 0; c < cols; ++c) wanted(0, c) += g(r, c);
            Matrix out = k->matrix(1, cols);
            k->column_sums(to_device(*k, g), out);
            INFO(rows << " x " << cols);
            CHECK(error(k->download(out), wanted) < tolerance(*k, rows));
        }
}

TEST_CASE("softmax cross entropy and accuracy") {
    const int threads = GENERATE(1, 2);
    const auto k = either_backend(threads);
    for (const std::int64_t classes : {1, 2, 7, 16, 41, 100}) {
        const std::int64_t rows = 9000;
        HostMatrix x = random_matrix(rows, classes, 6);
        for (double& v : x.values) v *= 30;
        std::vector<std::int32_t> labels;
        std::vector<Split> split;
        for (std::int64_t r = 0; r < rows; ++r) {
            labels.push_back(r % 11 == 5 ? -1 : static_cast<std::int32_t>(r * 7 % classes));
            split.push_back(r % 11 == 5 ? Split::none : static_cast<Split>(r % 4));
        }
        const double scale = 1.0 / 1234;
        HostMatrix wanted(rows, classes);
        double loss = 0;
        std::vector<std::int64_t> counts(6);
        for (std::int64_t r = 0; r < rows; ++r) {
            const auto i = static_cast<std::size_t>(r);
            std::int64_t best = 0;
            double sum = 0;
            for (std::int64_t c = 1; c < classes; ++c)
                if (x(r, c) > x(r, best)) best = c;
            for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(x(r, c) - x(r, best));
            if (split[i] != Split::none) {
                const auto at = 2 * (static_cast<std::size_t>(split[i]) - 1);
                counts[at] += best == labels[i];
                ++counts[at + 1];
            }
            if (split[i] != Split::train) continue;
            loss += (std::log(sum) - (x(r, labels[i]) - x(r, best))) * scale;
            for (std::int64_t c = 0; c < classes; ++c)
                wanted(r, c) = (std::exp(x(r, c) - x(r, best)) / sum - (c == labels[i])) * scale;
        }
        Matrix logits = to_device(*k, x);
        const auto labels_dev = k->upload(std::span<const std::int32_t>(labels));
        const auto split_dev = k->upload(std::span<const Split>(split));
        const LossInput in{labels_dev.data(), split_dev.data(), Split::train, scale};
        const Buffer counts_dev = k->allocate(6 * sizeof(std::int64_t)), loss_dev = k->allocate(sizeof(double));
        k->count_correct(logits, in, static_cast<std::int64_t*>(counts_dev.data()));
        k->softmax_cross_entropy(logits, in, logits, static_cast<double*>(loss_dev.data()));
        std::vector<std::int64_t> found_counts(6);
        double found = 0;
        k->download_bytes(counts_dev.data(), found_counts.data(), counts_dev.bytes());
        k->download_bytes(loss_dev.data(), &found, sizeof found);
        INFO(classes << " classes, " << threads << " threads");
        CHECK(found_counts == counts);
        const double rounding = k->dtype() == DType::f32 ? 1e-6 : 1e-13;
        CHECK(found == Approx(loss).epsilon(rounding).margin(rounding / 1000));
        CHECK(error(k->download(logits), wanted) < 170 * unit(*k) * scale);
    }
}

TEST_CASE("a NaN logit makes the loss NaN") {
    const auto k = either_backend(1);
    HostMatrix x(1, 3);
    x.values = {1, NAN, 2};
    const std::vector<std::int32_t> labels{2};
    const std::vector<Split> split{Split::train};
    Matrix logits = to_device(*k, x);
    const Buffer loss = k->allocate(sizeof(double));
    k->softmax_cross_entropy(logits, {labels.data(), split.data(), Split::train, 1}, logits,
                             static_cast<double*>(loss.data()));
    CHECK(std::isnan(*static_cast<double*>(loss.data())));
}

TEST_CASE("three steps of SGD, Adam and AdamW") {
    const auto k = either_backend(2);
    for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw})
        for (const std::int64_t count : {1, 15, 16, 33, 20011}) {
            const TrainSpec spec{.optimizer = kind, .learning_rate = 0.05, .weight_decay = {}};
            const double decay = 0.02;
            HostMatrix w = random_matrix(1, count, 1), m(1, count), v(1, count);
            Matrix w_dev = to_device(*k, w), m_dev = to_device(*k, m), v_dev = to_device(*k, v);
            for (int t = 1; t <= 3; ++t) {
                const HostMatrix g = random_matrix(1, count, static_cast<std::uint64_t>(10 + t));
                for (std::int64_t i = 0; i < count; ++i) {
                    if (kind == OptimizerKind::adamw) w(0, i) *= 1 - spec.learning_rate * decay;
                    const double gi = g(0, i) + (kind == OptimizerKind::adamw ? 0 : decay * w(0, i));
                    if (kind == OptimizerKind::sgd) {
                        w(0, i) -= spec.learning_rate * gi;
                        continue;
                    }
                    m(0, i) = spec.beta1 * m(0, i) + (1 - spec.beta1) * gi;
                    v(0, i) = spec.beta2 * v(0, i) + (1 - spec.beta2) * gi * gi;
                    const double first = m(0, i) / (1 - std::pow(spec.beta1, t));
                    const double second = v(0, i) / (1 - std::pow(spec.beta2, t));
                    w(0, i) -= spec.learning_rate * first / (std::sqrt(second) + spec.epsilon);
                }
                const Matrix g_dev = to_device(*k, g);
                const ParameterSlot slot{
                    w_dev.view().data, g_dev.view().data, m_dev.view().data, v_dev.view().data, count, decay};
                k->optimizer_step(spec, t, std::span(&slot, 1));
            }
            INFO("optimizer " << static_cast<int>(kind) << ", " << count << " elements");
            CHECK(error(k->download(w_dev), w) < 34 * unit(*k));
        }
}

TEST_CASE("fill, copy, gather and scatter of rows, also of views inside wider matrices") {
    const auto k = either_backend(2);
    for (const std::int64_t cols : {1, 16, 37, 200}) {
        const std::int64_t n = 900;
        const HostMatrix from = random_matrix(n, cols, 1);
        const Matrix from_dev = to_device(*k, from);
        std::vector<std::int32_t> rows;
        for (std::int64_t i = 0; i < n; i += 2) rows.push_back(static_cast<std::int32_t>((i * 7 + 3) % n));
        const auto picked = static_cast<std::int64_t>(rows.size());
        const auto rows_dev = k->upload(std::span<const std::int32_t>(rows));
        Matrix gathered = k->matrix(picked, cols), sum = k->matrix(n, cols), wide = k->matrix(n, cols + 5);
        k->gather_rows(from_dev, rows_dev.data(), gathered);
        k->fill(sum, 0.5);
        k->scatter_add_rows(gathered, rows_dev.data(), sum);
        k->fill(wide, -1);
        MatrixView inner = wide.view();
        inner = inner.cols_from(2, cols);
        k->copy(from_dev, inner);
        HostMatrix want_gathered(picked, cols), want_sum(n, cols), want_wide(n, cols + 5);
        std::fill(want_sum.values.begin(), want_sum.values.end(), 0.5);
        std::fill(want_wide.values.begin(), want_wide.values.end(), -1);
        for (std::int64_t c = 0; c < cols; ++c) {
            for (std::int64_t i = 0; i < picked; ++i) {
                const std::int64_t r = rows[static_cast<std::size_t>(i)];
                want_gathered(i, c) = from(r, c);
                want_sum(r, c) += from(r, c);
            }
            for (std::int64_t r = 0; r < n; ++r) want_wide(r, c + 2) = from(r, c);
        }
        INFO("width " << cols);
        CHECK(error(k->download(gathered), want_gathered) == 0);
        CHECK(error(k->download(sum), want_sum) < 17 * unit(*k));
        CHECK(error(k->download(wide), want_wide) == 0);
    }
}

TEST_CASE("gathering more rows than caches hold gives the same rows") {
    const auto k = either_backend(2);
    const std::int64_t n = 1000, picked = 700'000;  // 45 MB of rows of one cache line, or of two
    const HostMatrix from = random_matrix(n, 16, 3);
    const Matrix from_dev = to_device(*k, from), gathered = k->matrix(picked, 16);
    std::vector<std::int32_t> rows;
    for (std::int64_t i = 0; i < picked; ++i) rows.push_back(static_cast<std::int32_t>((i * 7919 + i / 1000) % n));
    const auto rows_dev = k->upload(std::span<const std::int32_t>(rows));
    k->gather_rows(from_dev, rows_dev.data(), gathered);
    const HostMatrix out = k->download(gathered);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < picked; ++i)
        for (std::int64_t c = 0; c < 16; ++c) wrong += out(i, c) != from(rows[static_cast<std::size_t>(i)], c);
    CHECK(wrong == 0);
}
