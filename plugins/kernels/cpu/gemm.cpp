// Dense products. The tall and skinny ones of training use libxsmm's generated kernels, panel of rows by
// panel of rows; everything else, and float64, goes to OpenBLAS.
#include "gemm.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include <cblas.h>
#include <libxsmm.h>

#include <gnnbench/caches.hpp>
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

/// Kernels for any number of rows up to a panel's: of a whole panel, of `piece` rows, and of what is left after those. A
/// kernel for each number of rows would be more to generate, at some 50 µs each, than batches of ever other sizes save.
struct RowKernels {
    std::int64_t piece = 0;
    libxsmm_smmfunction whole = nullptr, some = nullptr, rest = nullptr;
    bool usable = false;  ///< there is a kernel for all that is needed

    /// For `rows` rows in panels; make(r): a kernel for r rows, or nullptr.
    template <class Make>
    RowKernels(std::int64_t rows, std::int64_t panel, std::int64_t of_piece, Make&& make) : piece(of_piece) {
        const std::int64_t beyond = rows % panel;
        if (rows >= panel) whole = make(panel);
        if (beyond >= piece) some = make(piece);
        if (beyond % piece > 0) rest = make(beyond % piece);
        usable = (rows < panel || whole) && (beyond < piece || some) && (beyond % piece == 0 || rest);
    }

    /// Calls multiply(kernel, first row) for rows [begin, end), fewer than a panel's.
    template <class Multiply>
    void partly(std::int64_t begin, std::int64_t end, Multiply&& multiply) const {
        for (; begin + piece <= end; begin += piece) multiply(some, begin);
        if (begin < end) multiply(rest, begin);
    }
};

/// Multiplications below which one thread works alone: waking the others would cost about as much.
constexpr std::int64_t worth_sharing = std::int64_t{1} << 18;

int threads_for(std::int64_t m, std::int64_t n, std::int64_t k, int threads) {
    return m * n * k < worth_sharing ? 1 : threads;
}

/// C [tall × n] = A [tall × k] · B [k × n]: B stays in cache while panels of A go through. False: nothing was done.
bool tall_product(const GemmCall<float>& g, ConstMatrixView b, int threads) {
    constexpr std::int64_t panel = 64, most_panels = 16, most_depth = 768, least_width = 64;
    const std::vector<std::int64_t> depths = cuts(b.rows, most_depth);
    // A block of B takes half of a core's own cache at most.
    const std::int64_t floats = second_level_cache_bytes() / 2 / static_cast<std::int64_t>(sizeof(float));
    const std::vector<std::int64_t> widths = cuts(g.c.cols, std::max(least_width, floats / depths[1]));
    struct Step {
        std::int64_t k, n;
        RowKernels kernels;
    };
    std::vector<Step> steps;
    for (std::size_t j = 0; j + 1 < widths.size(); ++j)
        for (std::size_t i = 0; i + 1 < depths.size(); ++i) {
            const auto make = [&](std::int64_t rows) {
                return small_product(rows, widths[j + 1] - widths[j], depths[i + 1] - depths[i], g.a.ld, b.ld,
                                     g.c.ld, false, i > 0 || g.beta != 0);
            };
            steps.push_back({depths[i], widths[j], RowKernels(g.c.rows, panel, 8, make)});
            if (!steps.back().kernels.usable) return false;
        }
    const auto one_panel = [&](std::int64_t begin, std::int64_t end) {
        for (const Step& s : steps) {
            const auto multiply = [&](libxsmm_smmfunction kernel, std::int64_t row) {
                kernel(at(b, s.k, s.n), at(g.a, row, s.k), at(g.c, row, s.n));
            };
            if (end - begin == panel)
                multiply(s.kernels.whole, begin);
            else
                s.kernels.partly(begin, end, multiply);
        }
        finish(g, {begin, end});
    };
    // A thread takes panels that lie one after another, so that A and C are read and written in long runs.
    const std::int64_t run = panel * std::clamp<std::int64_t>(g.c.rows / (panel * 8 * threads), 1, most_panels);
    parallel_chunks(threads, g.c.rows, run, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; r += panel) one_panel(r, std::min(end, r + panel));
    });
    return true;
}

/// Asks for rows [begin, end) of a matrix ahead of their use, in the second-level cache.
void prefetch(ConstMatrixView m, std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t line = 16;
    for (std::int64_t r = begin; r < end; ++r)
        for (std::int64_t c = 0; c < m.cols; c += line) __builtin_prefetch(at(m, r, c), 0, 2);
}

/// C [m × n] = Aᵀ B with A [tall × m], B [tall × n]: every thread sums up an equal run of rows, then the sums are
/// added in the threads' order. A kernel reads its block of B once for each few rows of C, so that blocks fit the first-level
/// cache; A's next panel is asked for meanwhile. A kernel adds each product to a running sum, so sums are of up to 2,048 rows first,
/// and then of those: rounding errors would otherwise grow with the number of rows. False: nothing was done.
bool tall_sum(const GemmCall<float>& g, int threads, Workspace& workspace) {
    constexpr std::int64_t widest = 64, piece = 16, most_rows = 256, summed_rows = 2048;
    constexpr std::int64_t block_floats = (std::int64_t{16} << 10) / static_cast<std::int64_t>(sizeof(float));
    const std::int64_t tall = g.a.rows, m = g.c.rows, n = g.c.cols;
    const std::vector<std::int64_t> widths = cuts(n, widest);
    const std::int64_t blocks = std::ssize(widths) - 1, width = (n + blocks - 1) / blocks;
    const std::int64_t panel = std::clamp(block_floats / width / piece * piece, piece, most_rows);
    const std::int64_t panels = tall / panel, group = summed_rows / panel;
    std::vector<RowKernels> kernels;
    for (std::int64_t j = 0; j < blocks; ++j) {
        kernels.emplace_back(tall, panel, piece, [&](std::int64_t rows) {
            return small_product(m, widths[usize(j + 1)] - widths[usize(j)], rows, g.a.ld, g.b.ld, n, true, true);
        });
        if (!kernels.back().usable) return false;
    }
    const auto size = usize(m * n);
    float* sums = workspace.shared<float>(2 * usize(threads) * size);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int t = 0; t < threads; ++t) {
        float* total = sums + usize(t) * size;
        float* part = total + usize(threads) * size;
        std::fill_n(total, size, 0.0f);
        const std::int64_t end = even_begin(panels, t + 1, threads);
        for (std::int64_t first = even_begin(panels, t, threads); first < end; first += group) {
            std::fill_n(part, size, 0.0f);
            for (std::int64_t p = first; p < std::min(end, first + group); ++p)
                for (std::int64_t j = 0; j < blocks; ++j) {
                    if (p + 1 < end)
                        prefetch(g.a, (p + 1) * panel + panel * j / blocks,
                                 (p + 1) * panel + panel * (j + 1) / blocks);
                    kernels[usize(j)].whole(at(g.b, p * panel, widths[usize(j)]), at(g.a, p * panel, 0),
                                            part + widths[usize(j)]);
                }
            for (std::size_t i = 0; i < size; ++i) total[i] += part[i];
        }
        if (t != threads - 1) continue;
        for (std::int64_t j = 0; j < blocks; ++j)
            kernels[usize(j)].partly(panels * panel, tall, [&](libxsmm_smmfunction kernel, std::int64_t row) {
                kernel(at(g.b, row, widths[usize(j)]), at(g.a, row, 0), total + widths[usize(j)]);
            });
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
    const int used = threads_for(g.c.rows, g.c.cols, depth, threads);
    if (g.ta == Transpose::no && plain_scale && small(depth, g.c.cols))
        done = tall_product(g, g.tb == Transpose::yes ? transposed(g.b, workspace) : g.b, used);
    if (g.ta == Transpose::yes && g.tb == Transpose::no && small(g.c.rows, g.c.cols))
        done = tall_sum(g, used, workspace);
    if (!done) library_gemm(g, used);
}

template <>
void gemm(const GemmCall<double>& g, int threads, Workspace&) {
    library_gemm(g, threads);
}

}  // namespace gnnbench::cpu
