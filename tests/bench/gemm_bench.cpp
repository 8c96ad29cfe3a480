#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>

#include <cblas.h>
#include <fmt/format.h>
#include <libxsmm.h>

#include <gnnbench/backend.hpp>

#include "plugin/loader.hpp"
#include "timing.hpp"

namespace gnnbench::bench {
namespace {

struct Shape {
    std::int64_t rows, in, out;
};

enum class Form { plain, at_b, a_bt };

/// The operands of one form: plain H·W [n × in · in × out], AᵀB (a weight gradient), ABᵀ (back through W).
struct Operands {
    Form form;
    Shape s;
    const float *tall, *other;  ///< [rows × in]; [in × out], [rows × out] or [out × in]
    float* c;
};

void openblas(const Operands& g, int threads) {
    openblas_set_num_threads(threads);
    const auto n = static_cast<int>(g.s.rows), in = static_cast<int>(g.s.in), out = static_cast<int>(g.s.out);
    if (g.form == Form::at_b) {
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, in, out, n, 1, g.tall, in, g.other, out, 0, g.c, out);
    } else {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, g.form == Form::a_bt ? CblasTrans : CblasNoTrans, n, out, in, 1,
                    g.tall, in, g.other, g.form == Form::a_bt ? in : out, 0, g.c, out);
    }
}

/// H·W as libxsmm's users write it: one kernel for 64 rows, threads over the panels. Rows beyond whole panels left out.
void xsmm_panels(const Operands& g, int threads) {
    constexpr std::int64_t panel = 64;
    const auto in = static_cast<int>(g.s.in), out = static_cast<int>(g.s.out);
    const float zero = 0;
    const auto f =
        libxsmm_smmdispatch(out, panel, in, nullptr, nullptr, nullptr, nullptr, &zero, nullptr, nullptr);
    if (!f) return;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::int64_t r = 0; r < g.s.rows / panel; ++r) f(g.other, g.tall + r * panel * in, g.c + r * panel * out);
}

/// AᵀB: each thread adds up its panels of 256 rows, then the threads' sums are added.
void xsmm_at_b(const Operands& g, int threads) {
    constexpr std::int64_t panel = 256;
    const auto in = static_cast<int>(g.s.in), out = static_cast<int>(g.s.out);
    const int flags = LIBXSMM_GEMM_FLAG_TRANS_B;
    const float one = 1;
    const auto f = libxsmm_smmdispatch(out, in, panel, nullptr, nullptr, nullptr, nullptr, &one, &flags, nullptr);
    std::fill_n(g.c, in * out, 0.0f);
    if (!f) return;
#pragma omp parallel num_threads(threads)
    {
        std::vector<float> sum(static_cast<std::size_t>(in * out));
#pragma omp for schedule(static)
        for (std::int64_t r = 0; r < g.s.rows / panel; ++r)
            f(g.other + r * panel * out, g.tall + r * panel * in, sum.data());
#pragma omp critical
        for (std::size_t i = 0; i < sum.size(); ++i) g.c[i] += sum[i];
    }
}

const char* text(Form f) { return f == Form::plain ? "A·B" : f == Form::at_b ? "AᵀB" : "A·Bᵀ"; }

/// `before`: the kernel of another build, or null.
double one_shape(const Options& o, Backend& k, Backend* before, const Operands& g, Report& report) {
    const auto [n, in, out] = g.s;
    const bool sums = g.form == Form::at_b, back = g.form == Form::a_bt;
    const std::int64_t other_rows = sums ? n : back ? out : in, other_cols = back ? in : out;
    const ConstMatrixView a{g.tall, n, in, in, DType::f32},
        b{g.other, other_rows, other_cols, other_cols, DType::f32};
    const MatrixView c{g.c, sums ? in : n, out, out, DType::f32};
    const auto multiply = [&](Backend& by) {
        by.gemm(sums ? Transpose::yes : Transpose::no, a, back ? Transpose::yes : Transpose::no, b, c);
    };
    const auto ours = [&] { multiply(k); };
    openblas(g, o.threads);
    const std::vector<float> wanted(g.c, g.c + std::min<std::int64_t>(c.rows * c.cols, 1 << 20));
    k.fill(c, NAN);
    ours();
    // Values are within [−1, 1]: a sum of k products is off by some √k roundings.
    const float tolerance = 1e-6f * (8 + std::sqrt(static_cast<float>(sums ? n : in)));
    float worst = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const float off = std::abs(g.c[i] - wanted[i]) / std::max(1.0f, std::abs(wanted[i]));
        if (!(off <= worst)) worst = std::isnan(off) ? INFINITY : off;
    }
    const bool agrees = worst <= tolerance;
    report.agrees = report.agrees && agrees;
    // libxsmm makes no kernel for a transposed second operand: W is small, its users transpose it beforehand.
    std::vector<std::function<void()>> candidates = {
        ours, [&] { openblas(g, o.threads); },
        [&] { sums ? xsmm_at_b(g, o.threads) : xsmm_panels(g, o.threads); }};
    if (before) candidates.emplace_back([&] { multiply(*before); });
    const auto s = take_turns(o, candidates);
    const double flops = 2.0 * static_cast<double>(n) * static_cast<double>(in) * static_cast<double>(out) / 1e9;
    const double to_blas = median_ratio(s[1], s[0]), to_xsmm = median_ratio(s[2], s[0]),
                 ratio = std::min(to_blas, to_xsmm);
    report.line(fmt::format("| {} | {}×{}×{} | {:.0f} | {:.0f} | {:.0f} | {:.2f}{} |{}", text(g.form), n, in, out,
                            flops / median(s[0]), flops / median(s[1]), flops / median(s[2]), ratio,
                            agrees ? "" : fmt::format(" WRONG by {:.1e}", worst),
                            before ? fmt::format(" {:.2f} |", median_ratio(s[3], s[0])) : ""));
    return ratio;
}

}  // namespace

void bench_gemm(const Options& o, Report& report) {
    const PluginCatalog catalog;
    const auto kernel_of = [&](const PluginCatalog& plugins) {
        return plugins.kernel("cpu")->create(
            {.threads = o.threads, .params = Params(plugins.find(PluginKind::kernel, "cpu").params)});
    };
    const auto backend = kernel_of(catalog);
    std::optional<PluginCatalog> there;
    if (!o.other.empty()) there.emplace(std::vector<std::filesystem::path>{o.other});
    const auto before = there ? kernel_of(*there) : nullptr;
    const auto n = std::max<std::int64_t>(512, static_cast<std::int64_t>(o.rows_of(232'960)) / 512 * 512);
    const Matrix tall = backend->matrix(n, 602), other = backend->matrix(n, 602), c = backend->matrix(n, 602);
    for (const auto& [m, salt] : {std::pair(tall.view(), 1u), std::pair(other.view(), 77u)}) {
        auto* p = static_cast<float*>(m.data);
        for (std::int64_t i = 0; i < n * 602; ++i)
            p[i] = static_cast<float>((static_cast<std::uint64_t>(i + salt) * 0x9E3779B97F4A7C15u >> 40 & 1023)) /
                       512.0f -
                   1;
    }
    report.line(
        "## GEMM\n\nGFLOP/s. A·B is n×in · in×out; AᵀB sums over n; A·Bᵀ is n×in · (out×in)ᵀ. The ratio is the "
        "better "
        "library's time ÷ ours; the goal is 0.9.\n");
    report.line(std::string("| product | n×in×out | ours | OpenBLAS | libxsmm panels | best library ÷ ours |") +
                (before ? " before ÷ ours |" : ""));
    report.line(std::string("| --- | --- | --- | --- | --- | --- |") + (before ? " --- |" : ""));
    for (const Form form : {Form::plain, Form::at_b, Form::a_bt})
        for (const auto& [in, out] :
             {std::pair<std::int64_t, std::int64_t>{602, 128}, {128, 128}, {128, 41}, {100, 128}, {512, 512}}) {
            const bool back = form == Form::a_bt;  // from out columns back to in
            const Shape s{n, back ? out : in, back ? in : out};
            one_shape(o, *backend, before.get(),
                      {form, s, static_cast<const float*>(tall.view().data),
                       static_cast<const float*>(other.view().data), static_cast<float*>(c.view().data)},
                      report);
        }
    report.line("");
}

}  // namespace gnnbench::bench
