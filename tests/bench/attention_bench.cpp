#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

float at(ConstMatrixView m, std::int64_t r, std::int64_t c) {
    return static_cast<const float*>(m.data)[r * m.ld + c];
}

bool close(double found, double wanted) {
    return std::abs(found - wanted) <= 1e-3 * std::max(1.0, std::abs(wanted));
}

/// What is timed: a walk over one graph, both directions of which take the rows of the same matrix, since what a walk costs does
/// not depend on what its matrix is the transpose of.
struct AttentionPass {
    const char *layer, *name;
    Walk walk;
    std::function<void(Backend&, const PreparedMatrix&)> run;
};

/// Attention's operands over one graph. Walks take turns with what they read and write: scores and gradients are any numbers.
class AttentionBench {
public:
    AttentionBench(const Options& o, Backend& backend, const Csr& a, Heads heads)
        : a_(a),
          heads_(heads),
          wide_(filled(o, backend, a.rows, 2 * w() + 2 * h())),
          b_(filled(o, backend, a.cols, w() + h())),
          l_(filled(o, backend, a.rows, h())),
          vector_(filled(o, backend, 1, w())),
          first_(backend.matrix(a.rows, w() + h())),
          second_(backend.matrix(a.rows, w())),
          maxima_(backend.matrix(a.rows, h())),
          sums_(backend.matrix(a.rows, h())),
          slope_sums_(backend.matrix(a.rows, h())) {}

    /// FLOPs of a nonzero. GAT: two sums of w products; a head's weight is exp(λ(l + r)) = exp(l) exp(r), or the same of
    /// multiples of l and r, so that no nonzero needs an exponential: a comparison, its value's and the slope's product,
    /// two sums. GATv2: a score's sum, product and sum a column, and what sums take.
    std::vector<AttentionPass> passes() const {
        namespace operations = entry_operations;
        const auto wf = static_cast<double>(w()), hf = static_cast<double>(h());
        const auto walk = [&](std::int64_t width, double flops, double exponentials, std::int64_t row_columns) {
            return Walk{.width = width,
                        .flops = flops,
                        .exponentials = exponentials,
                        .index_bytes = 6,
                        .row_columns = row_columns};
        };
        return {
            {"gat", "forward", walk(w() + h(), operations::attend(wf, hf, true), 0, 2 * w() + 4 * h()),
             [this](Backend& k, const PreparedMatrix& a) {
                 k.attend(a, shape(), b_, l_, {z(), slopes(), maxima_, sums_, slope_sums_}, {});
             }},
            {"gat", "forward without P", walk(w() + h(), operations::attend(wf, hf, false), 0, w() + 3 * h()),
             [this](Backend& k, const PreparedMatrix& a) {
                 k.attend(a, shape(), b_, l_, {z(), none(), maxima_, sums_, none()}, {});
             }},
            {"gat", "backward", walk(w() + 3 * h(), operations::attend_backward(wf, hf), 0, 2 * (w() + h())),
             [this](Backend& k, const PreparedMatrix& a) {
                 k.attend_backward(a, shape(), given(), b_, first_, {});
             }},
            {"gatv2", "forward", walk(w(), operations::dynamic_attend(wf), hf, 2 * w() + 2 * h()),
             [this](Backend& k, const PreparedMatrix& a) {
                 k.dynamic_attend(a, shape(), vector_, t(), s(), {z(), none(), maxima_, sums_, none()}, {});
             }},
            {"gatv2", "backward, rows", walk(w(), operations::dynamic_backward_rows(wf), hf, 3 * w() + 2 * h()),
             [this](Backend& k, const PreparedMatrix& a) {
                 k.dynamic_backward_rows(a, shape(), vector_, t(), wide_, slopes(), {});
             }},
            {"gatv2", "backward, neighbours",
             walk(2 * w() + 2 * h(), operations::dynamic_backward_neighbours(wf), hf, 3 * w()),
             [this](Backend& k, const PreparedMatrix& a) {
                 k.dynamic_backward_neighbours(a, shape(), vector_, wide_, t(), slopes(), z(), {});
             }},
        };
    }
    void product(Backend& k, const PreparedMatrix& a) { k.spmm(a, t(), z()); }
    const float* operand() const { return static_cast<const float*>(wide_.view().data); }
    std::int64_t columns() const { return w() + h(); }

    /// GAT's walks against the formulas (gnnbench/verbs/attention.hpp) in every 997th row; GATv2's are the contract tests'.
    bool agrees(Backend& k, const PreparedMatrix& a) {
        const std::vector<AttentionPass> all = passes();
        all[0].run(k, a);
        for (std::int64_t r = 0; r < a_.rows; r += 997)
            for (std::int64_t head = 0; head < h(); ++head)
                if (!forward_agrees(r, head)) return false;
        all[2].run(k, a);
        for (std::int64_t r = 0; r < a_.rows; r += 997)
            for (std::int64_t head = 0; head < h(); ++head)
                if (!backward_agrees(r, head)) return false;
        return true;
    }

private:
    std::int64_t w() const { return heads_.columns(); }
    std::int64_t h() const { return heads_.count; }
    AttentionHeads shape() const { return {static_cast<int>(h()), slope}; }
    MatrixView z() const { return first_.view().reshaped(a_.rows, w()); }
    MatrixView slopes() const { return second_; }
    MatrixView none() const { return {nullptr, a_.rows, 0, 0, DType::f32}; }
    MatrixView given() const { return wide_.view().reshaped(a_.rows, w() + 3 * h()); }
    MatrixView t() const { return b_.view().reshaped(a_.cols, w()); }
    MatrixView s() const { return wide_.view().reshaped(a_.rows, w()); }
    static Matrix filled(const Options& o, Backend& backend, std::int64_t rows, std::int64_t cols) {
        Matrix m = backend.matrix(rows, cols);
        fill(m, o.threads);
        return m;
    }

    bool forward_agrees(std::int64_t r, std::int64_t head) const {
        double sum = 0, total = 0;
        for (auto e = usize(a_.indptr[usize(r)]); e < usize(a_.indptr[usize(r) + 1]); ++e) {
            const std::int64_t j = a_.indices[e];
            const double p = a_.values[e] * std::exp(leaky(double{at(l_, r, head)} + at(b_, j, w() + head)));
            sum += p;
            total += p * at(b_, j, head);
        }
        return close(at(z(), r, head), sum == 0 ? 0 : total / sum);
    }
    bool backward_agrees(std::int64_t r, std::int64_t head) const {
        double dh = 0, dr = 0;
        const MatrixView g = given();
        for (auto e = usize(a_.indptr[usize(r)]); e < usize(a_.indptr[usize(r) + 1]); ++e) {
            const std::int64_t i = a_.indices[e];
            const double argument = double{at(g, i, w() + head)} + at(b_, r, w() + head);
            const double alpha = a_.values[e] * std::exp(leaky(argument) - at(g, i, w() + h() + head));
            double dot = 0;
            for (std::int64_t c = head; c < w(); c += h()) dot += double{at(g, i, c)} * at(b_, r, c);
            dh += alpha * at(g, i, head);
            dr += alpha * (dot - at(g, i, w() + 2 * h() + head)) * leaky_derivative(argument);
        }
        return close(at(first_, r, head), dh) && close(at(first_, r, w() + head), dr);
    }

    const Csr& a_;
    Heads heads_;
    Matrix wide_, b_, l_, vector_, first_, second_, maxima_, sums_, slope_sums_;
};

/// Random rows for the gather bound.
std::vector<std::int32_t> random_rows(const Csr& a) {
    std::vector<std::int32_t> rows(usize(std::min<std::int64_t>(a.nonzeros(), 4'000'000)));
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i] = static_cast<std::int32_t>((i * 0x9E3779B97F4A7C15u >> 20) % static_cast<std::uint64_t>(a.cols));
    return rows;
}

/// Back ends of some build's cpu kernel.
class Build {
public:
    Build(const Options& o, PluginCatalog catalog)
        : o_(o),
          catalog_(std::move(catalog)),
          plugin_(catalog_.kernel("cpu")),
          params_(catalog_.find(PluginKind::kernel, "cpu").params) {}
    std::unique_ptr<Backend> create(std::int64_t heads, std::int64_t width) const {
        Params params = params_;
        for (const ParamDecl& d : catalog_.find(PluginKind::kernel, "cpu").params)
            if (heads > 0 && std::string_view(d.name) == "format") params.set(d, o_.format);
        return plugin_->create(
            {.threads = o_.threads, .params = params, .widths = {width, width}, .heads = heads});
    }

private:
    const Options& o_;
    PluginCatalog catalog_;
    std::shared_ptr<BackendPlugin> plugin_;
    Params params_;
};

/// A graph, its bounds, and who walks it.
struct Subject {
    const Csr& a;
    ProductBounds& bounds;
    const Build& here;
    const Build* other;
};

void bench_heads(const Options& o, const Subject& g, Heads heads, Report& report) {
    const std::int64_t width = heads.columns();
    const auto backend = g.here.create(heads.count, width), plain = g.here.create(0, width),
               before = g.other ? g.other->create(heads.count, width) : nullptr;
    const auto prepared = backend->prepare(g.a), for_product = plain->prepare(g.a),
               prepared_before = before ? before->prepare(g.a) : nullptr;
    AttentionBench bench(o, *backend, g.a, heads);
    const bool agrees = bench.agrees(*backend, *prepared);
    report.agrees = report.agrees && agrees;

    const std::vector<AttentionPass> passes = bench.passes();
    const std::vector<std::int64_t> panels = {16, 32, 64, 128, bench.columns()};
    const std::vector<std::int32_t> rows = random_rows(g.a);
    volatile double keep = 0;
    std::vector<std::function<void()>> candidates = {[&] { bench.product(*plain, *for_product); }};
    for (const std::int64_t panel : panels)
        candidates.emplace_back(
            [&, panel] { keep = gather_rows(bench.operand(), panel, rows.data(), std::ssize(rows), o.threads); });
    const std::size_t first = candidates.size(), each = before ? 2 : 1;
    for (const AttentionPass& pass : passes) {
        candidates.emplace_back([&] { pass.run(*backend, *prepared); });
        if (before) candidates.emplace_back([&] { pass.run(*before, *prepared_before); });
    }
    const auto seconds = take_turns(o, candidates);
    for (std::size_t i = 0; i < panels.size(); ++i)
        g.bounds.set_gather_rate(panels[i],
                                 4.0 * static_cast<double>(panels[i] * std::ssize(rows)) / median(seconds[1 + i]));
    for (std::size_t i = 0; i < passes.size(); ++i) {
        const Bound bound = g.bounds.of(passes[i].walk);
        const auto& ours = seconds[first + each * i];
        report.line(fmt::format(
            "| {} × {} | {} {} | {:.4f} | {:.4f} | {:.4f} | {:.4f} | {:.4f} | {:.2f}{} | {:.2f} |{}", heads.count,
            heads.width, passes[i].layer, passes[i].name, median(ours), bound.flops_s, bound.l2_s, bound.memory_s,
            bound.gather_s, median(ours) / bound.seconds(), agrees ? "" : " WRONG", median_ratio(ours, seconds[0]),
            before ? fmt::format(" {:.4f} | {:.2f} |", median(seconds[first + each * i + 1]),
                                 median_ratio(seconds[first + each * i + 1], ours))
                   : ""));
    }
    report.line(fmt::format("\nFormat: {}; the product's: {}.\n", prepared->format, for_product->format));
}

}  // namespace

void bench_attention(const Options& o, Report& report) {
    const Build here(o, PluginCatalog());
    std::optional<Build> other;
    if (!o.other.empty()) other.emplace(o, PluginCatalog({o.other}));
    const MachineRates rates = machine_rates(o, *here.create(0, 128));
    report.line(fmt::format(
        "## Attention\n\nGEMM {:.0f} GFLOP/s, {:.1f} G exponentials/s, rows streamed from the "
        "second-level caches {:.0f} GB/s, triad {:.1f} GB/s. Heads × columns of each. Seconds of a "
        "pass, and what it takes at least for four reasons.\n",
        rates.gemm_flops / 1e9, rates.exponentials / 1e9, rates.l2_bytes / 1e9, rates.triad_bytes / 1e9));
    for (const Case& one : cases()) {
        if (!o.graph.empty() && o.graph != one.name) continue;
        const Csr a = one.make(o);
        ProductBounds bounds(rates, a, one.communities(o));
        report.line(fmt::format("### {}\n\n{} rows, {} nonzeros.\n", one.what, a.rows, a.nonzeros()));
        for (const Heads heads : all_heads) {
            if (std::ranges::find(o.widths, heads.columns()) == o.widths.end()) continue;
            report.line(std::string("| heads | pass | ours s | FLOPs, exp | B through L2 | A, B, rows once | rows "
                                    "gathered | ours ÷ "
                                    "bound | ÷ an SpMM as wide |") +
                        (other ? " other build s | other ÷ ours |" : ""));
            report.line(std::string("| --- | --- | --- | --- | --- | --- | --- | --- | --- |") +
                        (other ? " --- | --- |" : ""));
            bench_heads(o, {a, bounds, here, other ? &*other : nullptr}, heads, report);
        }
    }
}

}  // namespace gnnbench::bench
