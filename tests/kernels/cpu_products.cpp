// The cpu kernel's SpMM formats and GEMM paths against double loops.
#include <catch2/catch.hpp>

#include "cpu_support.hpp"

using namespace gnnbench;
using namespace gnnbench::test;

namespace {

HostMatrix product(const Csr& a, const HostMatrix& b, const HostMatrix& c0, Scale s, const EpilogueOnHost& e) {
    HostMatrix c(a.rows, b.cols);
    for (std::int64_t r = 0; r < a.rows; ++r)
        for (std::int64_t f = 0; f < b.cols; ++f) {
            double sum = 0;
            for (auto j = static_cast<std::size_t>(a.indptr[static_cast<std::size_t>(r)]);
                 j < static_cast<std::size_t>(a.indptr[static_cast<std::size_t>(r) + 1]); ++j)
                sum += a.values[j] * b(a.indices[j], f);
            c(r, f) = e(s.alpha * sum + (s.beta == 0 ? 0 : s.beta * c0(r, f)), r, f);
        }
    return c;
}

std::int64_t longest_row(const Csr& a) {
    std::int64_t most = 0;
    for (std::size_t r = 1; r < a.indptr.size(); ++r) most = std::max(most, a.indptr[r] - a.indptr[r - 1]);
    return most;
}

/// The kernel's product by its prepared form and by a plain view.
void check_spmm(Kernel& k, const Csr& a, std::int64_t width, Scale s, const EpilogueOnHost& e) {
    const HostMatrix b = random_matrix(a.cols, width, 1), c0 = random_matrix(a.rows, width, 2);
    const HostMatrix wanted = product(a, b, c0, s, e);
    const Matrix b_dev = to_device(k, b);
    const EpilogueOnDevice on_device(k, e);
    const auto prepared = k.prepare(a);
    INFO("format " << prepared->format << ", " << a.rows << " x " << a.cols << ", " << a.nonzeros()
                   << " nonzeros, width " << width << ", alpha " << s.alpha << ", beta " << s.beta);
    // beta 0 never reads C: not a number in it must not show.
    HostMatrix start = c0;
    if (s.beta == 0) std::fill(start.values.begin(), start.values.end(), NAN);
    Matrix c = to_device(k, start);
    k.spmm(*prepared, b_dev, c, s, on_device.epilogue);
    CHECK(error(k.download(c), wanted) < tolerance(longest_row(a)));

    const auto indptr = k.upload(std::span<const std::int64_t>(a.indptr));
    const auto indices = k.upload(std::span<const std::int32_t>(a.indices));
    HostMatrix values_host(1, a.nonzeros());
    values_host.values = a.values;
    const Matrix values = to_device(k, values_host);
    c = to_device(k, start);
    k.spmm(CsrView{indptr.data(), indices.data(), values.view().data, a.rows, a.cols}, b_dev, c, s,
           on_device.epilogue);
    CHECK(error(k.download(c), wanted) < tolerance(longest_row(a)));
}

}  // namespace

TEST_CASE("cpu says why it cannot serve float64 or no thread") {
    const auto plugin = PluginCatalog().kernel("cpu");
    CHECK(plugin->why_unsupported({.dtype = DType::f64, .params = {}}).find("float32 only") != std::string::npos);
    CHECK(plugin->why_unsupported({.threads = 0, .params = {}}).find("at least 1 thread") != std::string::npos);
    CHECK(plugin->why_unsupported({.threads = 3, .params = {}}).empty());
}

TEST_CASE("spmm: a 3 x 4 matrix by hand") {
    for (const char* format : {"auto", "rows", "tiled", "reordered"}) {
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
    const std::string format = GENERATE("rows", "tiled", "reordered", "auto");
    const int threads = GENERATE(1, 2);
    const auto k = cpu_kernel(threads, format);
    const Csr a = random_csr(67, format == "reordered" ? 67 : 131, 9, 5);
    for (std::int64_t width = 1; width <= 70; ++width) check_spmm(*k, a, width, {}, {});
}

TEST_CASE("spmm: wide, ragged and degenerate shapes with alpha, beta and epilogues") {
    const std::string format = GENERATE("rows", "tiled", "reordered");
    const int threads = GENERATE(1, 3);
    const auto k = cpu_kernel(threads, format);
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
        for (const std::int64_t width : {1, 16, 41, 129, 300, 512})
            for (const Scale s : {Scale{1, 0}, Scale{-0.5, 0}, Scale{2, 0.75}}) {
                if ((cols > 10'000 && width > 20) || (rows * width > 60'000 && s.alpha != -0.5)) continue;
                const Csr a = random_csr(rows, cols, most, 11, width == 16);
                check_spmm(*k, a, width, s, {});
                check_spmm(*k, a, width, s, full_epilogue(rows, width, Activation::leaky_relu));
            }
}

TEST_CASE("spmm: long rows beside short ones, and rows enough for several chunks") {
    const std::string format = GENERATE("rows", "tiled", "reordered");
    const auto k = cpu_kernel(2, format);
    Csr a = random_csr(20000, 3000, 3, 21);
    Csr dense = random_csr(40, 3000, 2900, 22);
    const std::int64_t before = a.nonzeros();
    a.rows += dense.rows;
    for (std::size_t r = 1; r < dense.indptr.size(); ++r) a.indptr.push_back(before + dense.indptr[r]);
    a.indices.insert(a.indices.end(), dense.indices.begin(), dense.indices.end());
    a.values.insert(a.values.end(), dense.values.begin(), dense.values.end());
    check_spmm(*k, a, 20, {}, {});
    check_spmm(*k, a, 33, {1, 1}, full_epilogue(a.rows, 33, Activation::relu));
}

TEST_CASE("spmm: results too large for the caches are written past them") {
    const auto k = cpu_kernel(2, "rows");
    // 41 wide and 1 GiB would be slow: as many rows as make 80 MiB, one entry in most.
    const Csr a = random_csr(480'000, 1000, 1, 31);
    check_spmm(*k, a, 41, {}, {});
    check_spmm(*k, a, 48, {}, full_epilogue(a.rows, 48, Activation::relu));
}

TEST_CASE("spmm: the same bits in every run and with any number of threads") {
    const Csr a = random_csr(5000, 5000, 40, 41);
    const HostMatrix b = random_matrix(5000, 65, 42);
    for (const char* format : {"rows", "tiled", "reordered"}) {
        std::vector<double> first;
        for (const int threads : {1, 2, 3, 2}) {
            const auto k = cpu_kernel(threads, format);
            Matrix c = k->matrix(5000, 65);
            k->spmm(*k->prepare(a), to_device(*k, b), c);
            if (first.empty()) first = k->download(c).values;
            INFO(format << ", " << threads << " threads");
            CHECK(k->download(c).values == first);
        }
    }
}

TEST_CASE("gemm: every transposition, odd shapes, alpha, beta, epilogue") {
    const int threads = GENERATE(1, 2);
    const auto k = cpu_kernel(threads);
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
                                      {130, 41, 9001}})
        for (const Transpose ta : {Transpose::no, Transpose::yes})
            for (const Transpose tb : {Transpose::no, Transpose::yes})
                for (const Scale s : {Scale{1, 0}, Scale{-0.5, 2}}) {
                    const bool at = ta == Transpose::yes, bt = tb == Transpose::yes;
                    const HostMatrix a = random_matrix(at ? depth : m, at ? m : depth, 1);
                    const HostMatrix b = random_matrix(bt ? n : depth, bt ? depth : n, 2);
                    const HostMatrix c0 = random_matrix(m, n, 3);
                    const EpilogueOnHost e =
                        s.beta == 0 ? EpilogueOnHost{} : full_epilogue(m, n, Activation::sigmoid);
                    HostMatrix wanted(m, n), start = c0;
                    for (std::int64_t i = 0; i < m; ++i)
                        for (std::int64_t j = 0; j < n; ++j) {
                            double sum = 0;
                            for (std::int64_t p = 0; p < depth; ++p)
                                sum += (at ? a(p, i) : a(i, p)) * (bt ? b(j, p) : b(p, j));
                            wanted(i, j) = e(s.alpha * sum + s.beta * c0(i, j), i, j);
                        }
                    if (s.beta == 0) std::fill(start.values.begin(), start.values.end(), NAN);
                    Matrix c = to_device(*k, start);
                    k->gemm(ta, to_device(*k, a), tb, to_device(*k, b), c, s, EpilogueOnDevice(*k, e).epilogue);
                    INFO(m << " x " << n << " x " << depth << (at ? " A^T" : "") << (bt ? " B^T" : "")
                           << ", alpha " << s.alpha << ", beta " << s.beta << ", threads " << threads);
                    CHECK(error(k->download(c), wanted) < tolerance(depth));
                }
}
