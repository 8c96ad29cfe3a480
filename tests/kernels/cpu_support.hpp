#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gnnbench/backend.hpp>

#include "plugin/loader.hpp"

namespace gnnbench::test {

/// The cpu kernel from its plugin.
inline std::unique_ptr<Backend> cpu_kernel(int threads, const std::string& format = "auto",
                                           DType dtype = DType::f32) {
    const PluginCatalog catalog;
    const PluginDescription about = catalog.find(PluginKind::kernel, "cpu");
    KernelSetting setting{.dtype = dtype, .threads = threads, .params = Params(about.params)};
    for (const ParamDecl& p : about.params)
        if (std::string(p.name) == "format") setting.params.set(p, format);
    return catalog.kernel("cpu")->create(setting);
}

/// Values in [−1, 1), a pure function of (seed, row, column).
inline double noise(std::uint64_t seed, std::int64_t r, std::int64_t c) {
    const std::uint32_t w =
        random_word(seed, Draw::features, static_cast<std::uint64_t>(r), static_cast<std::uint32_t>(c), 0);
    return static_cast<double>(static_cast<float>(2 * unit_interval(w) - 1));
}

inline HostMatrix random_matrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
    HostMatrix m(rows, cols);
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c) m(r, c) = noise(seed, r, c);
    return m;
}

/// Rows with from no entry to `most`; every seventh row is empty. `uniform`: all values equal.
inline Csr random_csr(std::int64_t rows, std::int64_t cols, std::int64_t most, std::uint64_t seed,
                      bool uniform = false) {
    Csr a;
    a.rows = rows;
    a.cols = cols;
    RandomStream random(seed, Draw::graph);
    for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t wanted =
            cols == 0 || r % 7 == 3
                ? 0
                : static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most) + 1));
        std::vector<std::int32_t> columns;
        for (std::int64_t i = 0; i < wanted; ++i)
            columns.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(cols))));
        std::sort(columns.begin(), columns.end());
        columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
        for (const std::int32_t c : columns) {
            a.indices.push_back(c);
            a.values.push_back(uniform ? 0.25 : noise(seed, r, c));
        }
        a.indptr.push_back(static_cast<std::int64_t>(a.indices.size()));
    }
    return a;
}

inline Matrix to_device(Backend& k, const HostMatrix& m) {
    Matrix out = k.matrix(m.rows, m.cols);
    k.upload(std::span<const double>(m.values), out);
    return out;
}

inline double activate(Activation a, double z) {
    switch (a) {
        case Activation::identity:
            return z;
        case Activation::relu:
            return std::max(z, 0.0);
        case Activation::leaky_relu:
            return z > 0 ? z : leaky_slope * z;
        case Activation::sigmoid:
            return 1 / (1 + std::exp(-z));
        case Activation::elu:
            return z > 0 ? z : std::expm1(z);
    }
    return z;
}

inline double slope(Activation a, double z) {
    switch (a) {
        case Activation::identity:
            return 1;
        case Activation::relu:
            return z > 0 ? 1 : 0;
        case Activation::leaky_relu:
            return z > 0 ? 1 : leaky_slope;
        case Activation::sigmoid:
            return activate(a, z) * (1 - activate(a, z));
        case Activation::elu:
            return z > 0 ? 1 : std::exp(z);
    }
    return 1;
}

/// What an epilogue says of one element, in float64.
struct EpilogueOnHost {
    std::vector<double> bias{};  ///< length cols, or empty
    Activation activation = Activation::identity;
    DropoutMask dropout{};
    std::vector<std::int64_t> row_ids{};  ///< length rows

    double mask(std::int64_t r, std::int64_t c) const {
        if (!dropout.active()) return 1;
        const bool gone = dropout.dropped(row_ids[static_cast<std::size_t>(r)], static_cast<std::uint32_t>(c));
        return gone ? 0 : dropout.scale();
    }
    double biased(double z, std::int64_t c) const {
        return bias.empty() ? z : z + bias[static_cast<std::size_t>(c)];
    }
    double operator()(double z, std::int64_t r, std::int64_t c) const {
        return activate(activation, biased(z, c)) * mask(r, c);
    }
};

/// The same epilogue on the device, with what it points to.
struct EpilogueOnDevice {
    EpilogueOnDevice(Backend& k, const EpilogueOnHost& h) {
        if (!h.bias.empty()) {
            bias = k.matrix(1, static_cast<std::int64_t>(h.bias.size()));
            k.upload(std::span<const double>(h.bias), bias);
            epilogue.bias = bias.view().data;
        }
        ids = k.upload(std::span<const std::int64_t>(h.row_ids));
        epilogue.activation = h.activation;
        epilogue.dropout = h.dropout;
        epilogue.row_ids = ids.data();
    }
    Matrix bias;
    Array<std::int64_t> ids;
    Epilogue epilogue;
};

/// Bias, the activation, dropout 0.4; row ids far apart and above 2^32.
inline EpilogueOnHost full_epilogue(std::int64_t rows, std::int64_t cols, Activation a, double rate = 0.4) {
    EpilogueOnHost e{.activation = a, .dropout = {.rate = rate, .seed = 77, .layer = 3, .epoch = 12}};
    for (std::int64_t c = 0; c < cols; ++c) e.bias.push_back(noise(9, 0, c));
    for (std::int64_t r = 0; r < rows; ++r) e.row_ids.push_back(r * 5'000'000'019);
    return e;
}

/// The unit roundoff of a kernel's type.
inline double unit(const Backend& k) { return k.dtype() == DType::f32 ? 0x1p-24 : 0x1p-53; }

/// What sums of `terms` values of about 1 may differ by: the kernel's rounding, and that of a double loop, one after
/// another.
inline double tolerance(const Backend& k, std::int64_t terms) {
    const auto n = static_cast<double>(terms);
    return 17 * unit(k) * (8 + std::sqrt(n)) + 0x1p-53 * n;
}

/// The largest |found − wanted| / max(1, |wanted|).
inline double error(const HostMatrix& found, const HostMatrix& wanted) {
    if (found.rows != wanted.rows || found.cols != wanted.cols) return INFINITY;
    double worst = 0;
    for (std::size_t i = 0; i < wanted.values.size(); ++i) {
        const double off =
            std::abs(found.values[i] - wanted.values[i]) / std::max(1.0, std::abs(wanted.values[i]));
        if (!(off <= worst)) worst = std::isnan(off) ? INFINITY : off;
    }
    return worst;
}

}  // namespace gnnbench::test
