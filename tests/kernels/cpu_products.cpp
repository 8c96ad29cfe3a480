// The cpu kernel's SpMM formats and GEMM paths against double loops.
#include <catch2/catch.hpp>

#include <gnnbench/caches.hpp>
#include <gnnbench/training/adjacency.hpp>

#include "cpu_support.hpp"

using namespace gnnbench;
using namespace gnnbench::test;

namespace {

/// B, and A · B in float64: what every format, scale and epilogue is held to.
struct Product {
    const Csr& a;
    HostMatrix b, sums;

    Product(const Csr& csr, std::int64_t width)
        : a(csr), b(random_matrix(csr.cols, width, 1)), sums(csr.rows, width) {
        for (std::int64_t r = 0; r < a.rows; ++r)
            for (auto j = static_cast<std::size_t>(a.indptr[static_cast<std::size_t>(r)]);
                 j < static_cast<std::size_t>(a.indptr[static_cast<std::size_t>(r) + 1]); ++j)
                for (std::int64_t f = 0; f < width; ++f) sums(r, f) += a.values[j] * b(a.indices[j], f);
    }
};

/// What C holds before and must hold after.
struct Expected {
    HostMatrix start, wanted;
};

/// C = epilogue(alpha · sums + beta · C). beta 0 never reads C: not a number in it must not show.
Expected expected(const HostMatrix& sums, Scale s, const EpilogueOnHost& e) {
    Expected x{HostMatrix(sums.rows, sums.cols), HostMatrix(sums.rows, sums.cols)};
    if (s.beta == 0)
        std::fill(x.start.values.begin(), x.start.values.end(), NAN);
    else
        x.start = random_matrix(sums.rows, sums.cols, 2);
    for (std::int64_t r = 0; r < sums.rows; ++r)
        for (std::int64_t f = 0; f < sums.cols; ++f)
            x.wanted(r, f) = e(s.alpha * sums(r, f) + (s.beta == 0 ? 0 : s.beta * x.start(r, f)), r, f);
    return x;
}

std::int64_t longest_row(const Csr& a) {
    std::int64_t most = 0;
    for (std::size_t r = 1; r < a.indptr.size(); ++r) most = std::max(most, a.indptr[r] - a.indptr[r - 1]);
    return most;
}

/// A kernel with a matrix in one of its formats.
struct Multiplier {
    std::string format;
    int threads;
    DType dtype;
    std::unique_ptr<Backend> backend;
    std::unique_ptr<PreparedMatrix> prepared;

    Multiplier(const Csr& a, const std::string& asked, int n, DType t)
        : format(asked), threads(n), dtype(t), backend(cpu_kernel(n, asked, t)), prepared(backend->prepare(a)) {}

    void check(const Product& p, Scale s, const EpilogueOnHost& e, const Expected& x) const {
        INFO((dtype == DType::f32 ? "float32, format " : "float64, format ")
             << format << ": " << prepared->format << ", " << threads << " threads, " << p.a.rows << " x "
             << p.a.cols << ", " << p.a.nonzeros() << " nonzeros, width " << p.b.cols << ", alpha " << s.alpha
             << ", beta " << s.beta);
        const Matrix b = to_device(*backend, p.b);
        const EpilogueOnDevice on_device(*backend, e);
        Matrix c = to_device(*backend, x.start);
        backend->spmm(*prepared, b, c, s, on_device.epilogue);
        CHECK(error(backend->download(c), x.wanted) < tolerance(*backend, longest_row(p.a)));
        if (format != "rows") return;
        // A plain view, which every kernel multiplies in the same way.
        const auto indptr = backend->upload(std::span<const std::int64_t>(p.a.indptr));
        const auto indices = backend->upload(std::span<const std::int32_t>(p.a.indices));
        HostMatrix values_host(1, p.a.nonzeros());
        values_host.values = p.a.values;
        const Matrix values = to_device(*backend, values_host);
        c = to_device(*backend, x.start);
        backend->spmm(
            CsrView{indptr.data(), indices.data(), values.view().data, p.a.rows, p.a.cols, p.a.nonzeros()}, b, c,
            s, on_device.epilogue);
        CHECK(error(backend->download(c), x.wanted) < tolerance(*backend, longest_row(p.a)));
    }
};

std::vector<Multiplier> multipliers(const Csr& a, const std::vector<std::string>& formats,
                                    const std::vector<int>& threads) {
    std::vector<Multiplier> out;
    for (const std::string& format : formats)
        for (const int n : threads)
            for (const DType t : {DType::f32, DType::f64}) out.emplace_back(a, format, n, t);
    return out;
}

void check_spmm(const std::vector<Multiplier>& all, const Product& p, Scale s, const EpilogueOnHost& e) {
    const Expected x = expected(p.sums, s, e);
    for (const Multiplier& m : all) m.check(p, s, e, x);
}

HostMatrix turned(const HostMatrix& m) {
    HostMatrix t(m.cols, m.rows);
    for (std::int64_t r = 0; r < m.rows; ++r)
        for (std::int64_t c = 0; c < m.cols; ++c) t(c, r) = m(r, c);
    return t;
}

}  // namespace

TEST_CASE("cpu serves float64, and says why it cannot serve no thread") {
    const auto plugin = PluginCatalog().kernel("cpu");
    CHECK(plugin->why_unsupported({.dtype = DType::f64, .params = {}}).empty());
    CHECK(plugin->why_unsupported({.threads = 0, .params = {}}).find("at least 1 thread") != std::string::npos);
    CHECK(plugin->why_unsupported({.threads = 3, .params = {}}).empty());
}

TEST_CASE("spmm: a 3 x 4 matrix by hand") {
    for (const char* format : {"auto", "rows", "used-rows", "tiled", "reordered"}) {
        const auto k = cpu_kernel(2, format);
        const Csr a{3, 4, {0, 2, 2, 3}, {0, 3, 1}, {2, -1, 0.5}};
        HostMatrix b(4, 2);
        b.values = {1, 2, 3, 4, 5, 6, 7, 8};
        Matrix c = k->matrix(3, 2);
        k->spmm(*k->prepare(a), to_device(*k, b), c);
        INFO(format);
        CHECK(k->download(c).values == std::vector<double>{-5, -4, 0, 0, 1.5, 2});
    }
}

TEST_CASE("spmm: every width from 1 to 70 in every format") {
    const bool square = GENERATE(false, true);  // what alone is put in another order
    const Csr a = random_csr(67, square ? 67 : 131, 9, 5);
    const auto all = multipliers(a,
                                 square ? std::vector<std::string>{"reordered"}
                                        : std::vector<std::string>{"rows", "used-rows", "tiled", "auto"},
                                 {1, 2});
    for (std::int64_t width = 1; width <= 70; ++width) check_spmm(all, Product(a, width), {}, {});
}

TEST_CASE("spmm: wide, ragged and degenerate shapes with alpha, beta and epilogues") {
    for (const auto& [rows, cols, most] : {std::tuple{1, 1, 1},
                                           {1, 300, 200},
                                           {300, 1, 1},
                                           {40, 70000, 50},
                                           {0, 5, 0},
                                           {9, 0, 0},
                                           {5, 8, 0},
                                           {6, 6, 0},
                                           {1200, 1200, 50},
                                           {1500, 2500, 60}})
        for (const bool uniform : {false, true}) {
            const Csr a = random_csr(rows, cols, most, 11, uniform);
            const auto all = multipliers(a, {"rows", "used-rows", "tiled", "reordered"}, {1, 3});
            for (const std::int64_t width : {1, 16, 41, 129, 300, 512}) {
                if ((width == 16) != uniform || (cols > 10'000 && width > 20)) continue;
                const Product p(a, width);
                for (const Scale s : {Scale{1, 0}, Scale{-0.5, 0}, Scale{2, 0.75}}) {
                    if (rows * width > 60'000 && s.alpha != -0.5) continue;
                    check_spmm(all, p, s, {});
                    check_spmm(all, p, s, full_epilogue(rows, width, Activation::leaky_relu));
                }
            }
        }
}

TEST_CASE("spmm: long rows beside short ones, and rows enough for several chunks") {
    Csr a = random_csr(20000, 3000, 3, 21);
    Csr dense = random_csr(40, 3000, 2900, 22);
    const std::int64_t before = a.nonzeros();
    a.rows += dense.rows;
    for (std::size_t r = 1; r < dense.indptr.size(); ++r) a.indptr.push_back(before + dense.indptr[r]);
    a.indices.insert(a.indices.end(), dense.indices.begin(), dense.indices.end());
    a.values.insert(a.values.end(), dense.values.begin(), dense.values.end());
    const auto all = multipliers(a, {"rows", "tiled", "reordered"}, {2});
    check_spmm(all, Product(a, 20), {}, {});
    check_spmm(all, Product(a, 33), {1, 1}, full_epilogue(a.rows, 33, Activation::relu));
}

TEST_CASE("spmm: a matrix of mostly empty rows is stored and gone through by those in use") {
    // Rows in use come in runs and alone; the first and last are empty in one, used in the other.
    for (const bool ends_used : {false, true}) {
        Csr a = random_csr(9000, 700, 4, 71);
        Csr few{a.rows, a.cols, {0}, {}, {}};
        for (std::size_t r = 0; r + 1 < a.indptr.size(); ++r) {
            const bool used = r == 0 || r + 2 == a.indptr.size() ? ends_used : r % 37 == 5 || (r / 100) % 11 == 3;
            for (auto j = static_cast<std::size_t>(a.indptr[r]);
                 used && j < static_cast<std::size_t>(a.indptr[r + 1]); ++j) {
                few.indices.push_back(a.indices[j]);
                few.values.push_back(a.values[j]);
            }
            few.indptr.push_back(std::ssize(few.indices));
        }
        CHECK(cpu_kernel(2, "auto")->prepare(few)->format == "csr of used rows");
        CHECK(cpu_kernel(2, "auto")->prepare(few, TransposedProducts::wanted)->format == "csr");
        CHECK(cpu_kernel(2, "auto")->prepare(a)->format == "csr");
        const auto all = multipliers(few, {"auto", "rows"}, {1, 3});
        for (const std::int64_t width : {1, 16, 41, 300}) {
            const Product p(few, width);
            for (const Scale s : {Scale{1, 0}, Scale{-0.5, 1}, Scale{2, 0.75}}) {
                check_spmm(all, p, s, {});
                check_spmm(all, p, s, full_epilogue(few.rows, width, Activation::relu));
            }
        }
    }
}

TEST_CASE("spmm: results too large for the caches are written past them") {
    const std::int64_t width = 48, cache = last_level_cache_bytes();
    if (cache > 128 << 20) {
        WARN("skipped: a result beyond the last cache's " << (cache >> 20) << " MiB would be slow to check");
        return;
    }
    const Csr a = random_csr(cache / (width * 4) + 1000, 1000, 1, 31);  // one entry in most rows
    const auto all = multipliers(a, {"rows"}, {2});
    check_spmm(all, Product(a, width), {}, {});
    check_spmm(all, Product(a, 41), {}, {});  // rows that do not end with a cache line are not
}

TEST_CASE("spmm: float64 has the format of float32") {
    for (const auto& [rows, most] : {std::pair{100, 5}, {60000, 120}}) {
        const Csr a = random_csr(rows, rows, most, 51);
        for (const char* format : {"auto", "tiled", "reordered"})
            CHECK(cpu_kernel(1, format, DType::f64)->prepare(a)->format ==
                  cpu_kernel(1, format)->prepare(a)->format);
    }
}

TEST_CASE("spmm: the same bits in every run and with any number of threads") {
    const DType dtype = GENERATE(DType::f32, DType::f64);
    const Csr a = random_csr(5000, 5000, 40, 41);
    const HostMatrix b = random_matrix(5000, 65, 42);
    for (const char* format : {"rows", "used-rows", "tiled", "reordered"}) {
        std::vector<double> first;
        for (const int threads : {1, 2, 3, 2}) {
            const auto k = cpu_kernel(threads, format, dtype);
            Matrix c = k->matrix(5000, 65);
            k->spmm(*k->prepare(a), to_device(*k, b), c);
            if (first.empty()) first = k->download(c).values;
            INFO(format << ", " << threads << " threads");
            CHECK((k->download(c).values == first));  // millions of numbers, not to be printed
        }
    }
}

TEST_CASE(
    "spmm transposed: in every format what the plain product by the transpose gives, over many tiles and runs") {
    for (const auto& [rows, cols, most] : {std::tuple{700, 70000, 90},
                                           {70000, 300, 6},
                                           {1200, 1200, 50},
                                           {1, 40, 40},
                                           {40, 1, 1},
                                           {0, 5, 0},
                                           {6, 0, 0}}) {
        const Csr a = random_csr(rows, cols, most, 61), t = transposed(a);
        const std::int64_t width = cols > 10'000 ? 9 : 41;
        const Product p(t, width);
        const EpilogueOnHost e = full_epilogue(cols, width, Activation::leaky_relu);
        const Expected x = expected(p.sums, {-0.5, 0.75}, e);
        for (const char* format : {"auto", "rows", "tiled", "reordered"})
            for (const int threads : {1, 3})
                for (const DType dtype : {DType::f32, DType::f64}) {
                    const auto k = cpu_kernel(threads, format, dtype);
                    const auto prepared = k->prepare(a, TransposedProducts::wanted);
                    const EpilogueOnDevice on_device(*k, e);
                    Matrix c = to_device(*k, x.start);
                    k->spmm_transposed(*prepared, to_device(*k, p.b), c, {-0.5, 0.75}, on_device.epilogue);
                    INFO(rows << " x " << cols << ", " << prepared->format << ", " << threads << " threads");
                    CHECK(error(k->download(c), x.wanted) < tolerance(*k, longest_row(t)));
                }
    }
}

TEST_CASE("spmm transposed: the same bits in every run and with any number of threads") {
    const Csr a = random_csr(5000, 30000, 40, 41);
    const HostMatrix b = random_matrix(5000, 65, 42);
    for (const char* format : {"rows", "used-rows", "tiled", "reordered"}) {
        std::vector<double> first;
        for (const int threads : {1, 2, 3, 7, 2}) {
            const auto k = cpu_kernel(threads, format);
            Matrix c = k->matrix(30000, 65);
            k->spmm_transposed(*k->prepare(a, TransposedProducts::wanted), to_device(*k, b), c);
            if (first.empty()) first = k->download(c).values;
            INFO(format << ", " << threads << " threads");
            CHECK((k->download(c).values == first));  // millions of numbers, not to be printed
        }
    }
}

TEST_CASE("gemm: every transposition, odd shapes, alpha, beta, epilogue") {
    const DType dtype = GENERATE(DType::f32, DType::f64);
    const std::unique_ptr<Backend> kernels[] = {cpu_kernel(1, "auto", dtype), cpu_kernel(2, "auto", dtype)};
    for (const auto& [m, n, depth] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{1, 1, 1},
                                      {3, 5, 7},
                                      {41, 128, 1000},
                                      {1000, 41, 128},
                                      {1003, 7, 65},
                                      {65, 33, 4099},
                                      {4099, 16, 3},
                                      {128, 300, 17},
                                      {4, 6, 0},
                                      {700, 130, 700},
                                      {601, 520, 1100},
                                      {130, 41, 9001}}) {
        // op(A) [m × depth], op(B) [depth × n], and their product.
        const HostMatrix a = random_matrix(m, depth, 1), b = random_matrix(depth, n, 3);
        HostMatrix sums(m, n);
        for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t p = 0; p < depth; ++p)
                for (std::int64_t j = 0; j < n; ++j) sums(i, j) += a(i, p) * b(p, j);
        for (const Scale s : {Scale{1, 0}, Scale{-0.5, 2}}) {
            const EpilogueOnHost e = s.beta == 0 ? EpilogueOnHost{} : full_epilogue(m, n, Activation::sigmoid);
            const Expected x = expected(sums, s, e);
            for (const auto& k : kernels)
                for (const bool at : {false, true})
                    for (const bool bt : {false, true}) {
                        Matrix c = to_device(*k, x.start);
                        k->gemm(at ? Transpose::yes : Transpose::no, to_device(*k, at ? turned(a) : a),
                                bt ? Transpose::yes : Transpose::no, to_device(*k, bt ? turned(b) : b), c, s,
                                EpilogueOnDevice(*k, e).epilogue);
                        INFO(m << " x " << n << " x " << depth << (at ? " A^T" : "") << (bt ? " B^T" : "")
                               << ", alpha " << s.alpha << ", beta " << s.beta << ", " << (k == kernels[0] ? 1 : 2)
                               << " threads");
                        CHECK(error(k->download(c), x.wanted) < tolerance(*k, depth));
                    }
        }
    }
}
