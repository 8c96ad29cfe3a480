// What the kernel `cuda` asks of cuSPARSE, and in which order it adds up. Runs on a device, and on the emulator, which refuses
// what the manual does not allow.
#include <cmath>
#include <functional>
#include <numeric>

#include <gnnbench/error.hpp>

#include "cuda_kernel.hpp"

using namespace gnnbench;
using namespace gnnbench::gpu_tests;

namespace {

/// Row r has 1 + r mod 7 entries, and row 3 so many that it is cut into several pieces of work.
Csr uneven_matrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
    Csr a;
    a.rows = rows;
    a.cols = cols;
    for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t n = r == 3 ? cols : 1 + r % 7;
        for (std::int64_t i = 0; i < n; ++i) {
            a.indices.push_back(static_cast<std::int32_t>(i * (cols / n)));
            a.values.push_back(noise(seed, std::ssize(a.values)));
        }
        a.indptr.push_back(std::ssize(a.indices));
    }
    return a;
}

std::vector<double> product(Backend& k, const PreparedMatrix& a, std::int64_t width, std::int64_t first,
                            std::int64_t ld, bool transposed = false) {
    const Within b(k, transposed ? a.rows : a.cols, width, first, ld, 5),
        c(k, transposed ? a.cols : a.rows, width, first, ld, 6);
    if (transposed)
        k.spmm_transposed(a, b.view, c.view);
    else
        k.spmm(a, b.view, c.view);
    const Matrix packed = k.matrix(c.view.rows, width);
    k.copy(c.view, packed);
    return k.download(packed).values;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double off = std::abs(a[i] - b[i]);
        if (!(off <= worst)) worst = std::isnan(off) ? INFINITY : off;
    }
    return worst;
}

struct Place {
    std::int64_t first, ld;
};

}  // namespace

TEST_CASE("cuda: each algorithm of cuSPARSE is tried, and prepared anew for matrices that lie otherwise") {
    constexpr std::int64_t width = 16;
    const auto reference = catalog().kernel("reference")->create({.params = Params(std::span<const ParamDecl>())});
    // cusparseSpMMAlg_t's numbers; the emulator makes one of them the fastest, a device has its own.
    for (const auto& [number, name] : {std::pair{4, "alg1"}, {6, "alg2"}, {12, "alg3"}}) {
        setenv("GNNBENCH_EMULATED_FASTEST_SPMM", std::to_string(number).c_str(), 1);
        const auto backend = created(cuda("cusparse", {width}));
        const Csr a = uneven_matrix(60 + number, 90, 2);  // a choice is kept by pattern
        const auto prepared = backend->prepare(a), expected = reference->prepare(a);
        if (emulated()) CHECK(prepared->format == "csr, 16: cusparse-" + std::string(name));
        for (const Place at : {Place{0, 16}, {0, 20}, {4, 24}, {1, 20}, {1, 17}, {0, 16}}) {
            INFO(prepared->format << ", from column " << at.first << " of rows of " << at.ld);
            CHECK(largest_difference(product(*backend, *prepared, width, at.first, at.ld),
                                     product(*reference, *expected, width, at.first, at.ld)) < 1e-4);
        }
    }
    unsetenv("GNNBENCH_EMULATED_FASTEST_SPMM");
}

TEST_CASE("cuda: deterministic products add up in one order, in every process and by the transpose too") {
    constexpr std::int64_t width = 17;
    const Csr a = uneven_matrix(80, 1200, 1);
    const auto reference = catalog().kernel("reference")->create({.params = Params(std::span<const ParamDecl>())});
    const auto expected = reference->prepare(a, TransposedProducts::wanted);
    std::vector<double> plain, by_transpose;
    for (int time = 0; time < 3; ++time) {
        const auto backend = created(cuda("deterministic", {width}));
        const auto prepared = backend->prepare(a, TransposedProducts::wanted);
        CHECK(prepared->format == "csr, balanced; transpose: csr, rows");  // nothing that was timed
        for (int again = 0; again < 2; ++again) {
            const auto p = product(*backend, *prepared, width, 0, width),
                       t = product(*backend, *prepared, width, 0, width, true);
            if (plain.empty()) {
                plain = p;
                by_transpose = t;
                CHECK(largest_difference(p, product(*reference, *expected, width, 0, width)) < 1e-4);
                CHECK(largest_difference(t, product(*reference, *expected, width, 0, width, true)) < 1e-4);
            }
            CHECK((p == plain));
            CHECK((t == by_transpose));
        }
    }
}

TEST_CASE("cuda: a product by the transpose adds up in the same order each time, whatever multiplies") {
    constexpr std::int64_t width = 17;
    const Csr a = uneven_matrix(80, 1200, 1);
    const auto reference = catalog().kernel("reference")->create({.params = Params(std::span<const ParamDecl>())});
    const auto expected = reference->prepare(a, TransposedProducts::wanted);
    const auto wanted = product(*reference, *expected, width, 0, width, true);
    for (const char* how : {"auto", "rows", "balanced", "panels", "cusparse"}) {
        INFO(how);
        const auto backend = created(cuda(how));
        const auto prepared = backend->prepare(a, TransposedProducts::wanted);
        const auto first = product(*backend, *prepared, width, 0, width, true);
        CHECK(largest_difference(first, wanted) < 1e-4);
        for (int again = 0; again < 3; ++again)
            CHECK((product(*backend, *prepared, width, 0, width, true) == first));
    }
}

TEST_CASE("cuda: of a matrix and its transpose only rows in use are stored, and nothing twice that is the same") {
    const auto backend = created(cuda("auto"));
    const auto format = [&](const Csr& a) { return backend->prepare(a, TransposedProducts::wanted)->format; };
    Csr a;  // entries (1, 7) and (6, 8)
    a.rows = 8;
    a.cols = 9;
    a.indptr = {0, 0, 1, 1, 1, 1, 1, 2, 2};
    a.indices = {7, 8};
    a.values = {0.5, -2};
    CHECK(format(a) == "csr of used rows, rows; transpose: csr of used rows, rows");
    Csr square = a;  // (1, 6) and (6, 1)
    square.cols = 8;
    square.indices = {6, 1};
    square.values = {0.5, 0.5};
    CHECK(format(square) == "csr of used rows, rows, its own transpose");
    const std::int64_t before = backend->memory().current_bytes;
    const auto alone = backend->prepare(square);
    const std::int64_t one = backend->memory().current_bytes - before;
    const auto both = backend->prepare(square, TransposedProducts::wanted);
    CHECK(backend->memory().current_bytes - before == 2 * one);
    const auto reference = catalog().kernel("reference")->create({.params = Params(std::span<const ParamDecl>())});
    const auto expected = reference->prepare(square, TransposedProducts::wanted);
    CHECK(largest_difference(product(*backend, *both, 5, 0, 5, true),
                             product(*reference, *expected, 5, 0, 5, true)) < 1e-4);
    square.values = {0.5, 0.25};
    CHECK(format(square) == "csr of used rows, rows; transpose: csr of used rows, rows");
}

TEST_CASE("cuda: long rows are multiplied alike wherever they begin in memory, and whatever is beside them") {
    Csr a;
    a.cols = 211;
    for (const std::int64_t n : {31, 33, 0, 32, 70, 1, 34, 35, 64, 2, 150, 3, 48}) {
        for (std::int64_t i = 0; i < n; ++i) {
            a.indices.push_back(static_cast<std::int32_t>(i * (a.cols / n)));
            // What is beside a long row in memory shows where it gets into its sums.
            a.values.push_back(n < 4 ? NAN : noise(7, std::ssize(a.values)));
        }
        a.indptr.push_back(std::ssize(a.indices));
    }
    a.rows = std::ssize(a.indptr) - 1;
    const auto reference = catalog().kernel("reference")->create({.params = Params(std::span<const ParamDecl>())});
    const auto expected = reference->prepare(a);
    const auto not_numbers = [](std::vector<double> v) {
        for (double& x : v) x = std::isnan(x) ? 1e6 : x;
        return v;
    };
    for (const char* how : {"rows", "balanced"})
        for (const std::int64_t width : {8, 16, 41, 64, 130}) {
            INFO(how << ", width " << width);
            const auto backend = created(cuda(how));
            const auto wanted = not_numbers(product(*reference, *expected, width, 0, width));
            const auto found = product(*backend, *backend->prepare(a), width, 0, width);
            CHECK(largest_difference(not_numbers(found), wanted) < 1e-4);
            // In memory of others, from the first, second or fourth place of an array on.
            const Within b(*backend, a.cols, width, 0, width, 5), c(*backend, a.rows, width, 0, width, 6);
            for (const std::size_t indices_at : {0U, 1U})
                for (const std::size_t values_at : {0U, 1U, 3U}) {
                    std::vector<std::int32_t> indices(indices_at);
                    std::vector<double> values(values_at);
                    indices.insert(indices.end(), a.indices.begin(), a.indices.end());
                    values.insert(values.end(), a.values.begin(), a.values.end());
                    const auto indptr_there = backend->upload(std::span<const std::int64_t>(a.indptr));
                    const auto indices_there = backend->upload(std::span<const std::int32_t>(indices));
                    const Matrix values_there = backend->matrix(1, std::ssize(values));
                    backend->upload(std::span<const double>(values), values_there);
                    const CsrView view{.indptr = indptr_there.data(),
                                       .indices = indices_there.data() + indices_at,
                                       .values = static_cast<float*>(values_there.view().data) + values_at,
                                       .rows = a.rows,
                                       .cols = a.cols,
                                       .nonzeros = a.nonzeros()};
                    backend->spmm(view, b.view, c.view);
                    CHECK(largest_difference(not_numbers(backend->download(c.whole).values), wanted) < 1e-4);
                }
        }
}

namespace {

/// What verbs make of matrices of three rows, which `place` says where they lie: the i-th of them [3 × 8].
std::vector<std::vector<double>> verbs_on(Backend& k, const PreparedMatrix& a, const PreparedMatrix& both,
                                          const std::function<MatrixView(int)>& place) {
    const MatrixView x = place(0), y = place(1), z = place(2), w = place(3);
    const std::vector<std::int32_t> order = {2, 0, 1};
    const Array<std::int32_t> rows = k.upload(std::span<const std::int32_t>(order));
    const Matrix packed = k.matrix(3, 8), sums = k.matrix(1, 8), square = k.matrix(8, 8);
    std::vector<std::vector<double>> out;
    const auto keep = [&](MatrixView m) {
        k.copy(m, packed);
        out.push_back(k.download(packed).values);
    };
    std::vector<double> values(24);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = noise(11, static_cast<std::int64_t>(i));
    k.upload(std::span<const double>(values), packed);
    k.copy(packed, x);
    k.fill(y, 0.5);
    k.axpby(2, x, -1, y);
    keep(y);
    k.spmm(a, x, z);
    keep(z);
    k.spmm(a, x, z, {-0.5, 2}, {.activation = Activation::leaky_relu, .dropout = {}});
    keep(z);
    k.spmm_transposed(both, z, y, {1, 1});
    keep(y);
    k.gather_rows(y, rows.data(), w);
    k.scatter_add_rows(x, rows.data(), w);
    keep(w);
    k.dropout({.activation = Activation::relu, .dropout = {}}, w, z);
    k.apply_backward({.activation = Activation::relu, .dropout = {}}, z, y, w);
    keep(w);
    k.gemm(Transpose::yes, x, Transpose::no, y, square);
    k.gemm(Transpose::no, x, Transpose::no, square, z);
    keep(z);
    k.column_sums(z, sums);
    out.push_back(k.download(sums).values);
    return out;
}

}  // namespace

TEST_CASE("cuda: rows that lie further apart than 32 bits count") {
    if (!emulated()) return contract::not_here("which has address space without memory");
    setenv("GNNBENCH_EMULATED_BYTES", "17179869184", 1);
    constexpr std::int64_t apart = (std::int64_t{1} << 30) + 64;  // the third begins behind 2³¹ elements
    const auto reference = catalog().kernel("reference")->create({.params = Params(std::span<const ParamDecl>())});
    const Csr a = uneven_matrix(3, 3, 4);
    std::vector<std::vector<double>> expected;
    {
        std::vector<Matrix> places;
        for (int i = 0; i < 4; ++i) places.push_back(reference->matrix(3, 8));
        expected = verbs_on(*reference, *reference->prepare(a), *reference->prepare(a, TransposedProducts::wanted),
                            [&](int i) { return places[static_cast<std::size_t>(i)].view(); });
    }
    for (const char* how : {"rows", "balanced", "panels", "cusparse", "deterministic"}) {
        INFO(how);
        const auto backend = created(cuda(how));
        const auto prepared = backend->prepare(a), both = backend->prepare(a, TransposedProducts::wanted);
        const Buffer far = backend->allocate(static_cast<std::size_t>(2 * apart + 64) * sizeof(float));
        const auto found = verbs_on(*backend, *prepared, *both, [&](int i) {
            return MatrixView{static_cast<float*>(far.data()) + std::ptrdiff_t{8} * i, 3, 8, apart, DType::f32};
        });
        REQUIRE(found.size() == expected.size());
        for (std::size_t step = 0; step < found.size(); ++step) {
            INFO("step " << step);
            CHECK(largest_difference(found[step], expected[step]) < 1e-4);
        }
    }
    unsetenv("GNNBENCH_EMULATED_BYTES");
}

TEST_CASE(
    "cuda: what cuSPARSE refuses, or memory is short for, leaves other products and the backend as they were") {
    if (!emulated()) return contract::not_here("whose calls a test can let fail");
    constexpr std::int64_t width = 17;
    const auto reference = catalog().kernel("reference")->create({.params = Params(std::span<const ParamDecl>())});
    std::vector<std::string> failures = {"cusparseSpMM:1", "cusparseSpMM:9", "cusparseSpMM_preprocess:1"};
    for (int call = 1; call <= 16; ++call) failures.push_back("cudaMalloc:" + std::to_string(call));
    std::int64_t rows = 100;  // of another matrix each time: choices are kept by pattern
    int out_of_memory = 0;
    for (const std::string& failure : failures) {
        const Csr a = uneven_matrix(++rows, 1200, 3);
        const auto expected = reference->prepare(a);
        const auto wanted = product(*reference, *expected, width, 0, width);
        const auto backend = created(cuda("auto", {width}));
        const bool refusal = failure.starts_with("cusparse");
        INFO(failure);
        setenv("GNNBENCH_EMULATED_FAILURE", failure.c_str(), 1);
        try {
            const auto prepared = backend->prepare(a);
            if (failure == "cusparseSpMM:1") CHECK(prepared->format.find("cusparse") == std::string::npos);
            const auto found = product(*backend, *prepared, width, 0, width);
            CHECK(largest_difference(found, wanted) < 1e-4);
        } catch (const OutOfMemory&) {
            CHECK(!refusal);
            ++out_of_memory;
        }
        unsetenv("GNNBENCH_EMULATED_FAILURE");
        const auto again = backend->prepare(a);
        CHECK(largest_difference(product(*backend, *again, width, 0, width), wanted) < 1e-4);
    }
    CHECK(out_of_memory > 3);
    CHECK(out_of_memory < 16);
}
