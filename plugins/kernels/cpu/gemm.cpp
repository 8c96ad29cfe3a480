#include "gemm.hpp"

#include <algorithm>

#include <cblas.h>

#include "threads.hpp"

namespace gnnbench::cpu {
namespace {

CBLAS_TRANSPOSE word(Transpose t) { return t == Transpose::yes ? CblasTrans : CblasNoTrans; }

void library_gemm(const GemmCall& g, int threads) {
    const auto k = static_cast<int>(g.ta == Transpose::no ? g.a.cols : g.a.rows);
    openblas_set_num_threads(threads);
    cblas_sgemm(CblasRowMajor, word(g.ta), word(g.tb), static_cast<int>(g.c.rows), static_cast<int>(g.c.cols), k,
                g.alpha, static_cast<const float*>(g.a.data), static_cast<int>(std::max<std::int64_t>(1, g.a.ld)),
                static_cast<const float*>(g.b.data), static_cast<int>(std::max<std::int64_t>(1, g.b.ld)), g.beta,
                static_cast<float*>(g.c.data), static_cast<int>(g.c.ld));
    if (!g.epilogue.empty)
        parallel_ranges(threads, g.c.rows, rows_for(1 << 14, g.c.cols), [&](std::int64_t begin, std::int64_t end) {
            epilogue_rows(g.epilogue, g.c, g.c, {begin, end});
        });
}

}  // namespace

void gemm(const GemmCall& g, int threads) { library_gemm(g, threads); }

}  // namespace gnnbench::cpu
