// What else the contracts of all kernels do not ask of `cuda`: the digits of dense products, uploads that nobody waits for, and
// how many ranks a host has devices for.
#include <algorithm>
#include <cmath>

#include "cuda_kernel.hpp"

using namespace gnnbench;
using namespace gnnbench::gpu_tests;

TEST_CASE("cuda: dense products have the digits of float32, and inputs those of TF32 where asked for") {
    constexpr std::int64_t m = 24, inner = 40, n = 17;
    const auto element = [](std::uint64_t seed, std::int64_t i) { return static_cast<float>(noise(seed, i)); };
    for (const char* tf32 : {"false", "true"}) {
        KernelSetting s = cuda("auto");
        set(s, "tf32", tf32);
        const auto backend = created(s);
        const Within a(*backend, m, inner, 0, inner, 21), b(*backend, inner, n, 0, n, 22),
            c(*backend, m, n, 0, n, 23);
        backend->gemm(Transpose::no, a.view, Transpose::no, b.view, c.view);
        const std::vector<double> found = backend->download(c.whole).values;
        // In float32 each of the products and sums is rounded once; TF32 has ten binary digits, and cuts off the others at worst.
        constexpr double float_32 = inner * 0x1p-24 / (1 - inner * 0x1p-24), tf_32 = 2 * 0x1p-10 + 0x1p-20;
        double worst = 0, worst_tf32 = 0;  // of errors to their bounds
        bool rounded_once = true;          // as sums of a wider type would be
        for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
                double exact = 0, size = 0;
                for (std::int64_t l = 0; l < inner; ++l) {
                    const double product = double{element(21, i * inner + l)} * double{element(22, l * n + j)};
                    exact += product;
                    size += std::abs(product);
                }
                const double value = found[static_cast<std::size_t>(i * n + j)], error = std::abs(value - exact);
                rounded_once = rounded_once && value == double{static_cast<float>(exact)};
                worst = std::max(worst, error / (float_32 * size));
                worst_tf32 = std::max(worst_tf32, error / ((float_32 + tf_32 + float_32 * tf_32) * size));
            }
        INFO("tf32: " << tf32 << "; errors are " << worst << " of float32's bound, " << worst_tf32
                      << " of TF32's");
        const bool rounds_inputs = std::string(tf32) == "true";
        CHECK((rounds_inputs ? worst_tf32 : worst) <= 1);
        if (emulated()) CHECK((worst > 1) == rounds_inputs);  // of devices, not all have TF32
        CHECK_FALSE(rounded_once);
    }
}

TEST_CASE(
    "cuda: little data is uploaded without waiting for the device, and what is there does not change with its "
    "source") {
    if (!emulated()) return contract::not_here("where a test sees what the host waits for");
    const auto backend = created(cuda("auto"));
    const Matrix m = backend->matrix(64, 64);
    std::vector<Matrix> copies;
    for (int i = 0; i < 4; ++i) copies.push_back(backend->matrix(64, 64));
    backend->synchronize(StreamRole::compute);
    setenv("GNNBENCH_EMULATED_FAILURE", "cudaStreamQuery:1", 1);  // which is how the host waits
    std::vector<float> source(64 * 64);
    for (int i = 0; i < 4; ++i) {
        std::fill(source.begin(), source.end(), static_cast<float>(i));
        backend->upload(std::span<const float>(source), m);
        backend->copy(m, copies[static_cast<std::size_t>(i)]);
    }
    std::fill(source.begin(), source.end(), 99.0f);
    unsetenv("GNNBENCH_EMULATED_FAILURE");
    for (int i = 0; i < 4; ++i)
        CHECK(backend->download(copies[static_cast<std::size_t>(i)]).values == std::vector<double>(64 * 64, i));
}

TEST_CASE("cuda: much data at once, or more than page-locked memory is spent on, arrives too") {
    const auto backend = created(cuda("auto"));
    const auto arrives = [&](std::int64_t rows) {
        const Matrix m = backend->matrix(rows, 1024), from = backend->matrix(1, 8);
        std::vector<float> source(static_cast<std::size_t>(rows) * 1024);
        for (int value = 1; value <= 8; ++value) {
            std::fill(source.begin(), source.end(), static_cast<float>(value));
            backend->upload(std::span<const float>(source), m);
            backend->copy(m.view().rows_from(rows - 1, 1).cols_from(1023, 1), from.view().cols_from(value - 1, 1));
        }
        return backend->download(from).values;
    };
    const std::vector<double> all = {1, 2, 3, 4, 5, 6, 7, 8};
    CHECK(arrives(4200) == all);
    CHECK(arrives(2100) == all);
    if (!emulated()) return;
    setenv("GNNBENCH_EMULATED_FAILURE", "cudaHostAlloc:1", 1);
    CHECK(arrives(100) == all);
    unsetenv("GNNBENCH_EMULATED_FAILURE");
}

TEST_CASE("cuda: whoever plans a job that is to have more ranks than there are devices refuses it") {
    if (!emulated()) return contract::not_here("whose number of devices a test can set");
    KernelSetting s = cuda("auto");
    s.local_ranks = 3;
    const std::string all = std::getenv("GNNBENCH_EMULATED_DEVICES");
    setenv("GNNBENCH_EMULATED_DEVICES", "3", 1);
    const auto plugin = catalog().kernel("cuda");
    CHECK(plugin->why_unsupported(s) == "");
    setenv("CUDA_VISIBLE_DEVICES", "2", 1);
    CHECK(plugin->why_unsupported(s) ==
          "3 ranks on this host and 1 CUDA device; share_devices: true lets ranks share one");
    unsetenv("CUDA_VISIBLE_DEVICES");
    setenv("GNNBENCH_EMULATED_DEVICES", all.c_str(), 1);
}
