// Dense products. The tall and skinny ones of training use libxsmm's generated kernels, panel of rows by
// panel of rows; everything else, and float64, goes to OpenBLAS.
#include "gemm.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include <cblas.h>
#include <libxsmm.h>

#include <gnnbench/usize.hpp>

#include "threads.hpp"

namespace gnnbench::cpu {
namespace {

const float* at(ConstMatrixView m, std::int64_t r, std::int64_t c) {
    return static_cast<const float*>(m.data) + r * m.ld + c;
}
float* at(MatrixView m, std::int64_t r, std::int64_t c) { return static_cast<float*>(m.data) + r * m.ld + c; }

/// A kernel for row-major C [m × n] += or = A [m × k] · B [k × n], or with A [k × m] transposed. libxsmm thinks in
/// columns, so it is given Cᵀ = Bᵀ Aᵀ. Null if it has none for this machine or shape.
libxsmm_smmfunction small_product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t lda,
                                  std::int64_t ldb, std::int64_t ldc, bool a_transposed, bool adds) {
    const auto a = static_cast<int>(lda), b = static_cast<int>(ldb), c = static_cast<int>(ldc);
    const float alpha = 1, beta = adds ? 1 : 0;
    const int flags = a_transposed ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
    return libxsmm_smmdispatch(static_cast<int>(n), static_cast<int>(m), static_cast<int>(k), &b, &a, &c, &alpha,
                               &beta, &flags, nullptr);
}

/// [0, count) cut into as few equal blocks as have at most `most` items: the first items of the blocks, and count.
std::vector<std::int64_t> cuts(std::int64_t count, std::int64_t most) {
    const std::int64_t blocks = std::max<std::int64_t>(1, (count + most - 1) / most);
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i <= blocks; ++i) out.push_back(count * i / blocks);
    return out;
}

template <class T>
void finish(const GemmCall<T>& g, RowRange rows) {
    if (!g.epilogue.empty) epilogue_rows(g.epilogue, g.c, g.c, rows);
}

/// OpenBLAS has threads of its own and must be called from outside parallel regions.
template <class T>
void library_gemm(const GemmCall<T>& g, int threads) {
    const auto word = [](Transpose t) { return t == Transpose::yes ? CblasTrans : CblasNoTrans; };
    const auto lead = [](ConstMatrixView m) { return static_cast<int>(std::max<std::int64_t>(1, m.ld)); };
    const auto m = static_cast<int>(g.c.rows), n = static_cast<int>(g.c.cols),
               k = static_cast<int>(g.ta == Transpose::no ? g.a.cols : g.a.rows);
    const auto product = [&](auto xgemm) {
        xgemm(CblasRowMajor, word(g.ta), word(g.tb), m, n, k, g.alpha, static_cast<const T*>(g.a.data), lead(g.a),
              static_cast<const T*>(g.b.data), lead(g.b), g.beta, static_cast<T*>(g.c.data), lead(g.c));
    };
    openblas_set_num_threads(threads);
    if constexpr (std::is_same_v<T, float>)
        product(cblas_sgemm);
    else
        product(cblas_dgemm);
    parallel_ranges(threads, g.c.rows, rows_for(1 << 14, g.c.cols),
                    [&](std::int64_t begin, std::int64_t end) { finish(g, {begin, end}); });
}

/// C [tall × n] = A [tall × k] · B [k × n]: B stays in cache while panels of A go through. False: nothing was done.
bool tall_product(const GemmCall<float>& g, ConstMatrixView b, int threads) {
    constexpr std::int64_t panel = 64, most_depth = 768, most_width = 256;
    const std::vector<std::int64_t> depths = cuts(b.rows, most_depth), widths = cuts(g.c.cols, most_width);
    struct Step {
        std::int64_t k, n;
        libxsmm_smmfunction whole, rest;
    };
    const std::int64_t rest = g.c.rows % panel;
    std::vector<Step> steps;
    for (std::size_t j = 0; j + 1 < widths.size(); ++j)
        for (std::size_t i = 0; i + 1 < depths.size(); ++i) {
            const auto make = [&](std::int64_t rows) {
                return small_product(rows, widths[j + 1] - widths[j], depths[i + 1] - depths[i], g.a.ld, b.ld,
                                     g.c.ld, false, i > 0 || g.beta != 0);
            };
            steps.push_back({depths[i], widths[j], make(panel), rest ? make(rest) : nullptr});
            if (!steps.back().whole || (rest && !steps.back().rest)) return false;
        }
    parallel_chunks(threads, g.c.rows, panel, [&](std::int64_t begin, std::int64_t end) {
        for (const Step& s : steps)
            (end - begin == panel ? s.whole : s.rest)(at(b, s.k, s.n), at(g.a, begin, s.k), at(g.c, begin, s.n));
        finish(g, {begin, end});
    });
    return true;
}

/// C [m × n] = Aᵀ B with A [tall × m], B [tall × n]: every thread sums up an equal run of rows, then the sums are
/// added in the threads' order. A kernel adds each product to a running sum, so sums are of 2,048 rows first, and
/// then of those: rounding errors would otherwise grow with the number of rows. False: nothing was done.
bool tall_sum(const GemmCall<float>& g, int threads, Workspace& workspace) {
    constexpr std::int64_t panel = 256, group = 8;
    const std::int64_t tall = g.a.rows, m = g.c.rows, n = g.c.cols, rest = tall % panel, panels = tall / panel;
    const auto whole = small_product(m, n, panel, g.a.ld, g.b.ld, n, true, true);
    const auto last = rest ? small_product(m, n, rest, g.a.ld, g.b.ld, n, true, true) : nullptr;
    if (!whole || (rest && !last)) return false;
    const auto size = usize(m * n);
    float* sums = workspace.shared<float>(2 * usize(threads) * size);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; ++t) {
        float* total = sums + usize(t) * size;
        float* part = total + usize(threads) * size;
        std::fill_n(total, size, 0.0f);
        const std::int64_t end = even_begin(panels, t + 1, threads);
        for (std::int64_t first = even_begin(panels, t, threads); first < end; first += group) {
            std::fill_n(part, size, 0.0f);
            for (std::int64_t p = first; p < std::min(end, first + group); ++p)
                whole(at(g.b, p * panel, 0), at(g.a, p * panel, 0), part);
            for (std::size_t i = 0; i < size; ++i) total[i] += part[i];
        }
        if (rest && t == threads - 1) last(at(g.b, panels * panel, 0), at(g.a, panels * panel, 0), total);
    }
    parallel_ranges(threads, m, rows_for(1 << 14, n), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r)
            for (std::int64_t c = 0; c < n; ++c) {
                float sum = 0;
                for (int t = 0; t < threads; ++t) sum += sums[usize(t) * size + usize(r * n + c)];
                float* out = at(g.c, r, c);
                *out = g.alpha * sum + (g.beta == 0 ? 0.0f : g.beta * *out);
            }
        finish(g, {begin, end});
    });
    return true;
}

/// m, transposed and contiguous.
ConstMatrixView transposed(ConstMatrixView m, Workspace& workspace) {
    float* out = workspace.shared<float>(usize(m.rows * m.cols));
    for (std::int64_t r = 0; r < m.rows; ++r)
        for (std::int64_t c = 0; c < m.cols; ++c) out[c * m.rows + r] = *at(m, r, c);
    return {out, m.cols, m.rows, m.rows, DType::f32};
}

/// Whether one operand is small, as a weight matrix is, and the other tall.
bool small(std::int64_t rows, std::int64_t cols) { return rows > 0 && cols > 0 && rows * cols <= (1 << 20); }

}  // namespace

template <>
void gemm(const GemmCall<float>& g, int threads, Workspace& workspace) {
    const bool plain_scale = g.alpha == 1 && (g.beta == 0 || g.beta == 1);
    const std::int64_t depth = g.ta == Transpose::no ? g.a.cols : g.a.rows;
    bool done = false;
    if (g.ta == Transpose::no && plain_scale && g.c.rows >= 256 && small(depth, g.c.cols))
        done = tall_product(g, g.tb == Transpose::yes ? transposed(g.b, workspace) : g.b, threads);
    if (g.ta == Transpose::yes && g.tb == Transpose::no && depth >= 4096 && small(g.c.rows, g.c.cols))
        done = tall_sum(g, threads, workspace);
    if (!done) library_gemm(g, threads);
}

template <>
void gemm(const GemmCall<double>& g, int threads, Workspace&) {
    library_gemm(g, threads);
}

}  // namespace gnnbench::cpu
