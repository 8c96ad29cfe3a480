#pragma once
// What tests of the kernel `cuda` alone make it of, and fill matrices with.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <gnnbench/backend.hpp>
#include <gnnbench/random.hpp>

#include "contract/not_here.hpp"
#include "plugin/loader.hpp"

namespace gnnbench::gpu_tests {

inline const PluginCatalog& catalog() {
    static const PluginCatalog found;
    return found;
}

inline void set(KernelSetting& s, const std::string& parameter, const std::string& value) {
    for (const ParamDecl& p : catalog().find(PluginKind::kernel, "cuda").params)
        if (p.name == parameter) s.params.set(p, value);
}

inline KernelSetting cuda(const std::string& spmm, std::vector<std::int64_t> widths = {}) {
    KernelSetting s{.params = Params(catalog().find(PluginKind::kernel, "cuda").params),
                    .widths = std::move(widths)};
    set(s, "spmm", spmm);
    return s;
}

inline std::unique_ptr<Backend> created(const KernelSetting& s) {
    const auto plugin = catalog().kernel("cuda");
    if (const std::string why = plugin->why_unsupported(s); !why.empty())
        FAIL("skipped: kernel cuda: " << why);  // CTest knows a machine without a device by these words
    return plugin->create(s);
}

inline bool emulated() { return std::getenv("GNNBENCH_EMULATED_DEVICES") != nullptr; }

/// In [−1, 1), with more digits than float32 has.
inline double noise(std::uint64_t seed, std::int64_t i) {
    return 2 * unit_interval(random_word(seed, Draw::features, static_cast<std::uint64_t>(i), 0, 0)) - 1;
}

/// `rows` × `cols` random numbers in columns [first, first + cols) of rows of `ld`.
struct Within {
    Matrix whole;
    MatrixView view;
    Within(Backend& k, std::int64_t rows, std::int64_t cols, std::int64_t first, std::int64_t ld,
           std::uint64_t seed)
        : whole(k.matrix(rows, ld)), view(whole.view().cols_from(first, cols)) {
        std::vector<double> values(static_cast<std::size_t>(rows * ld));
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto row = static_cast<std::int64_t>(i) / ld, col = static_cast<std::int64_t>(i) % ld - first;
            values[i] = col >= 0 && col < cols ? noise(seed, row * cols + col) : 77;
        }
        k.upload(std::span<const double>(values), whole);
    }
};

}  // namespace gnnbench::gpu_tests
