#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/backend.hpp>

#include "bounds.hpp"
#include "cases.hpp"
#include "plain.hpp"
#include "plugin/loader.hpp"
#include "timing.hpp"

namespace gnnbench::bench {
namespace {

/// Every 997th row: enough to tell wrong from right without a third matrix in memory.
std::vector<float> sampled(ConstMatrixView m) {
    std::vector<float> out;
    const auto* p = static_cast<const float*>(m.data);
    for (std::int64_t r = 0; r < m.rows; r += 997) out.insert(out.end(), p + r * m.ld, p + r * m.ld + m.cols);
    return out;
}

bool close(const std::vector<float>& a, const std::vector<float>& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!(std::abs(a[i] - b[i]) <= 1e-3f * std::max(1.0f, std::abs(b[i])))) return false;
    return true;
}

class SpmmBench {
public:
    SpmmBench(const Options& o, Backend& backend, const Csr& a) : o_(o), backend_(backend), a_(a) {
        const long widest = *std::max_element(o.widths.begin(), o.widths.end());
        b_ = backend.matrix(a.cols, widest);
        c_ = backend.matrix(a.rows, widest);
        auto* p = static_cast<float*>(b_.view().data);
#pragma omp parallel for num_threads(o.threads)
        for (std::int64_t i = 0; i < a.cols * widest; ++i)
            p[i] = static_cast<float>((static_cast<std::uint64_t>(i) * 2654435761u >> 16 & 1023)) / 512.0f - 1.0f;
        indptr_ = backend.upload(std::span<const std::int64_t>(a.indptr));
        indices_ = backend.upload(std::span<const std::int32_t>(a.indices));
        values_ = backend.matrix(1, a.nonzeros());
        backend.upload(std::span<const double>(a.values), values_);
        plain_ = {indptr_.data(), indices_.data(), static_cast<const float*>(values_.view().data), a.rows};
        // Random rows for the gather bound.
        std::vector<std::int32_t> rows(static_cast<std::size_t>(std::min<std::int64_t>(a.nonzeros(), 4'000'000)));
        for (std::size_t i = 0; i < rows.size(); ++i)
            rows[i] =
                static_cast<std::int32_t>((i * 0x9E3779B97F4A7C15u >> 20) % static_cast<std::uint64_t>(a.cols));
        rows_ = backend.upload(std::span<const std::int32_t>(rows));
    }

    /// Seconds of a product and what it was compared with.
    struct Measured {
        double ours_s, plain_over_ours, gather_bytes;
    };

    /// Bytes per second of random rows so wide.
    double gather_rate(std::int64_t w) {
        volatile double keep = 0;
        const auto* from = static_cast<const float*>(b_.view().data);
        const auto s =
            take_turns(o_, {[&] { keep = gather_rows(from, w, rows_.data(), rows_.size(), o_.threads); }});
        return gathered_bytes(w) / median(s[0]);
    }

    /// One row of the table, by a kernel that knows the width and so chooses a format for it.
    Measured width(std::int64_t w, Backend& ours, Backend* other, Report& report) {
        const double begin = seconds_now(o_);
        const auto prepared = ours.prepare(a_);
        const double prepare_s = seconds_now(o_) - begin;
        const MatrixView b = b_.view().reshaped(b_.rows(), w), c = c_.view().reshaped(c_.rows(), w);
        const auto* from = static_cast<const float*>(b.data);
        auto* to = static_cast<float*>(c.data);
        plain_spmm(plain_, from, to, w, o_.threads);
        const auto wanted = sampled(c);
        backend_.fill(c, NAN);
        ours.spmm(*prepared, b, c);
        const bool agrees = close(sampled(c), wanted);
        report.agrees = report.agrees && agrees;
        volatile double keep = 0;
        std::vector<std::function<void()>> candidates = {
            [&] { plain_spmm(plain_, from, to, w, o_.threads); }, [&] { ours.spmm(*prepared, b, c); },
            [&] { keep = gather_rows(from, w, rows_.data(), rows_.size(), o_.threads); }};
        const auto prepared_there = other ? other->prepare(a_) : nullptr;
        if (other) candidates.emplace_back([&] { other->spmm(*prepared_there, b, c); });
        const auto s = take_turns(o_, candidates);
        std::string beside;
        if (other)
            beside = fmt::format(" {:.4f} | {:.3f} | {} |", median(s[3]), median_ratio(s[1], s[3]),
                                 prepared_there->format);
        const double row_bytes = 4.0 * static_cast<double>(w), ratio = median_ratio(s[0], s[1]);
        const double gathered = static_cast<double>(prepared->nonzeros) * row_bytes;
        const double rate = gathered_bytes(w) / median(s[2]);
        report.line(fmt::format("| {} | {:.4f} | {:.4f} | {:.2f}{} | {:.1f} | {:.1f} | {:.1f} | {}, {:.2f} s |{}",
                                w, median(s[0]), median(s[1]), ratio, agrees ? "" : " WRONG",
                                gathered / median(s[0]) / 1e9, gathered / median(s[1]) / 1e9, rate / 1e9,
                                prepared->format, prepare_s, beside));
        return {median(s[1]), ratio, rate};
    }

private:
    double gathered_bytes(std::int64_t w) const { return 4.0 * static_cast<double>(w * rows_.size()); }
    const Options& o_;
    Backend& backend_;
    const Csr& a_;
    Matrix b_, c_, values_;
    Array<std::int64_t> indptr_;
    Array<std::int32_t> indices_, rows_;
    PlainCsr plain_{};
};

/// The cpu kernel of one build.
class KernelOfBuild {
public:
    KernelOfBuild(const Options& o, const PluginCatalog& catalog)
        : threads_(o.threads),
          plugin_(catalog.kernel("cpu")),
          params_(catalog.find(PluginKind::kernel, "cpu").params) {
        for (const ParamDecl& d : catalog.find(PluginKind::kernel, "cpu").params)
            if (std::string_view(d.name) == "format") params_.set(d, o.format);
    }
    std::unique_ptr<Backend> create(std::vector<std::int64_t> widths) const {
        return plugin_->create({.threads = threads_, .params = params_, .widths = std::move(widths)});
    }

private:
    int threads_;
    std::unique_ptr<BackendPlugin> plugin_;
    Params params_;
};

/// Each width's time beside its bounds.
void report_bounds(const Options& o, const ProductBounds& bounds, const std::vector<double>& ours_s,
                   Report& report) {
    report.line("Seconds that a product takes at least, for four reasons, and ours ÷ the largest of them.\n");
    report.line("| width | FLOPs | B through L2 | A, B, C once | rows gathered | ours s | ours ÷ bound |");
    report.line("| --- | --- | --- | --- | --- | --- | --- |");
    double logs = 0;
    for (std::size_t i = 0; i < o.widths.size(); ++i) {
        const Bound b = bounds.at(o.widths[i]);
        const double ratio = ours_s[i] / b.seconds();
        logs += std::log(ratio);
        report.line(fmt::format("| {} | {:.4f} | {:.4f} | {:.4f} | {:.4f} | {:.4f} | {:.2f} |", o.widths[i],
                                b.flops_s, b.l2_s, b.memory_s, b.gather_s, ours_s[i], ratio));
    }
    report.line(fmt::format("\nGeometric mean {:.2f}.\n", std::exp(logs / static_cast<double>(ours_s.size()))));
}

}  // namespace

void bench_spmm(const Options& o, Report& report) {
    const KernelOfBuild here(o, PluginCatalog());
    std::optional<KernelOfBuild> there;
    if (!o.other.empty()) there.emplace(o, PluginCatalog({o.other}));
    const MachineRates rates = machine_rates(o, *here.create({}));
    report.line(
        fmt::format("GEMM {:.0f} GFLOP/s, rows streamed from the second-level caches {:.0f} GB/s, triad "
                    "{:.1f} GB/s.\n",
                    rates.gemm_flops / 1e9, rates.l2_bytes / 1e9, rates.triad_bytes / 1e9));
    for (const Case& one : cases()) {
        if (!o.graph.empty() && o.graph != one.name) continue;
        const auto backend = here.create({});
        const Csr a = one.make(o);
        SpmmBench bench(o, *backend, a);
        ProductBounds bounds(rates, a, one.communities(o));
        report.line(
            fmt::format("## SpMM: {}\n\n{} rows, {} nonzeros. GB/s count the rows of B that the nonzeros name; "
                        "gather is what this machine gathers of random rows that wide. The format is chosen for "
                        "each width.\n",
                        one.what, a.rows, a.nonzeros()));
        report.line(
            std::string(
                "| width | plain s | ours s | plain ÷ ours | plain GB/s | ours GB/s | gather GB/s | format, "
                "prepared in |") +
            (there ? " other build s | ours ÷ other | its format |" : ""));
        report.line(std::string("| --- | --- | --- | --- | --- | --- | --- | --- |") +
                    (there ? " --- | --- | --- |" : ""));
        double logs = 0;
        std::vector<double> ours_s;
        for (const long panel : {16L, 32L, 64L, 128L})
            if (panel <= *std::ranges::max_element(o.widths))
                bounds.set_gather_rate(panel, bench.gather_rate(panel));
        for (const long w : o.widths) {
            const auto other = there ? there->create({w}) : nullptr;
            const auto measured = bench.width(w, *here.create({w}), other.get(), report);
            logs += std::log(measured.plain_over_ours);
            ours_s.push_back(measured.ours_s);
            bounds.set_gather_rate(w, measured.gather_bytes);
        }
        report.line(fmt::format("\nGeometric mean {:.2f}; the goal at full size is {}.\n",
                                std::exp(logs / static_cast<double>(o.widths.size())), one.goal));
        report_bounds(o, bounds, ours_s, report);
    }
}

}  // namespace gnnbench::bench
