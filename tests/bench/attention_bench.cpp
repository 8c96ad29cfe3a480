#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/backend.hpp>
#include <gnnbench/usize.hpp>

#include "bounds.hpp"
#include "cases.hpp"
#include "plain.hpp"
#include "plugin/loader.hpp"
#include "timing.hpp"

namespace gnnbench::bench {
namespace {

/// Heads and the columns of each; H · d = w.
struct Heads {
    std::int64_t count, width;
    std::int64_t columns() const { return count * width; }
};
constexpr Heads all_heads[] = {{8, 16}, {8, 32}};

constexpr double slope = 0.2;
double leaky(double x) { return x > 0 ? x : slope * x; }
double leaky_derivative(double x) { return x > 0 ? 1 : slope; }

/// Numbers from −1 to 1.
void fill(const Matrix& m, int threads) {
    auto* p = static_cast<float*>(m.view().data);
    const std::int64_t count = m.rows() * m.cols();
#pragma omp parallel for num_threads(threads)
    for (std::int64_t i = 0; i < count; ++i)
        p[i] = static_cast<float>((static_cast<std::uint64_t>(i) * 2654435761u >> 16 & 1023)) / 512.0f - 1.0f;
}

float at(const Matrix& m, std::int64_t r, std::int64_t c) {
    return static_cast<const float*>(m.view().data)[r * m.cols() + c];
}

bool close(double found, double wanted) {
    return std::abs(found - wanted) <= 1e-3 * std::max(1.0, std::abs(wanted));
}

/// Attention over one graph, both directions of which walk the rows of the same matrix: what a walk costs does not depend on
/// what its matrix is the transpose of.
class AttentionBench {
public:
    AttentionBench(const Options& o, Backend& backend, const Csr& a, Heads heads)
        : o_(o),
          backend_(backend),
          a_(a),
          heads_(heads),
          prepared_(backend.prepare(a)),
          b_(filled(a.cols, w() + h())),
          l_(filled(a.rows, h())),
          z_(backend.matrix(a.rows, w())),
          slopes_(backend.matrix(a.rows, w())),
          maxima_(backend.matrix(a.rows, h())),
          sums_(backend.matrix(a.rows, h())),
          slope_sums_(backend.matrix(a.rows, h())),
          given_(filled(a.cols, w() + 3 * h())),
          own_(filled(a.rows, w() + h())),
          c_(backend.matrix(a.rows, w() + h())) {}

    void forward() {
        backend_.attend(*prepared_, shape(), b_, l_, {z_, slopes_, maxima_, sums_, slope_sums_}, {});
    }
    void backward() { backend_.attend_backward(*prepared_, shape(), given_, own_, c_, {}); }
    void product() { backend_.spmm(*prepared_, b_.view().reshaped(a_.cols, w()), z_); }
    const float* operand() const { return static_cast<const float*>(given_.view().data); }

    /// Against the formulas (gnnbench/verbs/attention.hpp) in every 997th row.
    bool agrees() {
        forward();
        backward();
        for (std::int64_t r = 0; r < a_.rows; r += 997)
            for (std::int64_t head = 0; head < h(); ++head)
                if (!forward_agrees(r, head) || !backward_agrees(r, head)) return false;
        return true;
    }

    /// The FLOPs of a nonzero: forward two sums of w products; backward a dot product and a sum.
    Walk forward_walk() const {
        return {.width = w() + h(),
                .flops = 4.0 * static_cast<double>(w()),
                .exponentials = static_cast<double>(h()),
                .index_bytes = 8,
                .row_columns = 2 * w() + 4 * h()};
    }
    Walk backward_walk() const {
        return {.width = w() + 3 * h(),
                .flops = 4.0 * static_cast<double>(w()),
                .exponentials = static_cast<double>(h()),
                .index_bytes = 8,
                .row_columns = 2 * (w() + h())};
    }

private:
    std::int64_t w() const { return heads_.columns(); }
    std::int64_t h() const { return heads_.count; }
    AttentionHeads shape() const { return {static_cast<int>(h()), slope}; }
    Matrix filled(std::int64_t rows, std::int64_t cols) {
        Matrix m = backend_.matrix(rows, cols);
        fill(m, o_.threads);
        return m;
    }

    bool forward_agrees(std::int64_t r, std::int64_t head) const {
        double sum = 0, z = 0;
        for (auto e = usize(a_.indptr[usize(r)]); e < usize(a_.indptr[usize(r) + 1]); ++e) {
            const std::int64_t j = a_.indices[e];
            const double p = a_.values[e] * std::exp(leaky(double{at(l_, r, head)} + at(b_, j, w() + head)));
            sum += p;
            z += p * at(b_, j, head);
        }
        return close(at(z_, r, head), sum == 0 ? 0 : z / sum);
    }
    bool backward_agrees(std::int64_t r, std::int64_t head) const {
        double dh = 0, dr = 0;
        for (auto e = usize(a_.indptr[usize(r)]); e < usize(a_.indptr[usize(r) + 1]); ++e) {
            const std::int64_t i = a_.indices[e];
            const double argument = double{at(given_, i, w() + head)} + at(own_, r, w() + head);
            const double alpha = a_.values[e] * std::exp(leaky(argument) - at(given_, i, w() + h() + head));
            double dot = 0;
            for (std::int64_t c = head; c < w(); c += h()) dot += double{at(given_, i, c)} * at(own_, r, c);
            dh += alpha * at(given_, i, head);
            dr += alpha * (dot - at(given_, i, w() + 2 * h() + head)) * leaky_derivative(argument);
        }
        return close(at(c_, r, head), dh) && close(at(c_, r, w() + head), dr);
    }

    const Options& o_;
    Backend& backend_;
    const Csr& a_;
    Heads heads_;
    std::unique_ptr<PreparedMatrix> prepared_;
    Matrix b_, l_, z_, slopes_, maxima_, sums_, slope_sums_, given_, own_, c_;
};

/// Random rows for the gather bound.
std::vector<std::int32_t> random_rows(const Csr& a) {
    std::vector<std::int32_t> rows(usize(std::min<std::int64_t>(a.nonzeros(), 4'000'000)));
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i] = static_cast<std::int32_t>((i * 0x9E3779B97F4A7C15u >> 20) % static_cast<std::uint64_t>(a.cols));
    return rows;
}

void report_pass(const char* pass, Heads heads, const Bound& bound, const std::vector<double>& ours,
                 const std::vector<double>& product, bool agrees, Report& report) {
    report.line(fmt::format("| {} × {} | {} | {:.4f} | {:.4f} | {:.4f} | {:.4f} | {:.4f} | {:.2f}{} | {:.2f} |",
                            heads.count, heads.width, pass, median(ours), bound.flops_s, bound.l2_s,
                            bound.memory_s, bound.gather_s, median(ours) / bound.seconds(), agrees ? "" : " WRONG",
                            median_ratio(ours, product)));
}

}  // namespace

void bench_attention(const Options& o, Report& report) {
    const PluginCatalog catalog;
    const auto plugin = catalog.kernel("cpu");
    const Params params(catalog.find(PluginKind::kernel, "cpu").params);
    const auto create = [&](std::int64_t heads) {
        return plugin->create({.threads = o.threads, .params = params, .heads = heads});
    };
    const MachineRates rates = machine_rates(o, *create(0));
    report.line(fmt::format(
        "## Attention\n\nGEMM {:.0f} GFLOP/s, {:.1f} G exponentials/s, rows streamed from the "
        "second-level caches {:.0f} GB/s, triad {:.1f} GB/s. Heads × columns of each. Seconds of a "
        "pass, and what it takes at least for four reasons.\n",
        rates.gemm_flops / 1e9, rates.exponentials / 1e9, rates.l2_bytes / 1e9, rates.triad_bytes / 1e9));
    for (const Case& one : cases()) {
        if (!o.graph.empty() && o.graph != one.name) continue;
        const Csr a = one.make(o);
        const std::vector<std::int32_t> rows = random_rows(a);
        ProductBounds bounds(rates, a, one.communities(o));
        report.line(fmt::format("### {}\n\n{} rows, {} nonzeros.\n", one.what, a.rows, a.nonzeros()));
        report.line(
            "| heads | pass | ours s | FLOPs, exp | B through L2 | A, B, rows once | rows gathered | ours ÷ bound "
            "| "
            "÷ an SpMM as wide |");
        report.line("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
        for (const Heads heads : all_heads) {
            const auto backend = create(heads.count);
            AttentionBench bench(o, *backend, a, heads);
            const bool agrees = bench.agrees();
            report.agrees = report.agrees && agrees;
            volatile double keep = 0;
            const auto gather = [&](std::int64_t width) {
                keep = gather_rows(bench.operand(), width, rows.data(), std::ssize(rows), o.threads);
            };
            const std::vector<std::int64_t> panels = {16, 32, 64, 128, bench.forward_walk().width};
            std::vector<std::function<void()>> candidates = {[&] { bench.forward(); }, [&] { bench.backward(); },
                                                             [&] { bench.product(); }};
            for (const std::int64_t panel : panels) candidates.emplace_back([&gather, panel] { gather(panel); });
            const auto s = take_turns(o, candidates);
            for (std::size_t i = 0; i < panels.size(); ++i)
                bounds.set_gather_rate(panels[i],
                                       4.0 * static_cast<double>(panels[i] * std::ssize(rows)) / median(s[3 + i]));
            report_pass("forward", heads, bounds.of(bench.forward_walk()), s[0], s[2], agrees, report);
            report_pass("backward", heads, bounds.of(bench.backward_walk()), s[1], s[2], agrees, report);
        }
        report.line("");
    }
}

}  // namespace gnnbench::bench
