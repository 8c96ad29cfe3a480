#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <gnnbench/backend.hpp>

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

    /// One row of the table, by a kernel that knows the width and so chooses a format for it; returns plain ÷ ours.
    double width(std::int64_t w, Backend& ours, Report& report) {
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
        const auto s = take_turns(
            o_, {[&] { plain_spmm(plain_, from, to, w, o_.threads); }, [&] { ours.spmm(*prepared, b, c); },
                 [&] { keep = gather_rows(from, w, rows_.data(), rows_.size(), o_.threads); }});
        const double row_bytes = 4.0 * static_cast<double>(w), ratio = median_ratio(s[0], s[1]);
        const double gathered = static_cast<double>(prepared->nonzeros) * row_bytes;
        const double rate = static_cast<double>(rows_.size()) * row_bytes / median(s[2]);
        report.line(fmt::format("| {} | {:.4f} | {:.4f} | {:.2f}{} | {:.1f} | {:.1f} | {:.1f} | {}, {:.1f} s |", w,
                                median(s[0]), median(s[1]), ratio, agrees ? "" : " WRONG",
                                gathered / median(s[0]) / 1e9, gathered / median(s[1]) / 1e9, rate / 1e9,
                                prepared->format, prepare_s));
        return ratio;
    }

private:
    const Options& o_;
    Backend& backend_;
    const Csr& a_;
    Matrix b_, c_, values_;
    Array<std::int64_t> indptr_;
    Array<std::int32_t> indices_, rows_;
    PlainCsr plain_{};
};

}  // namespace

void bench_spmm(const Options& o, Report& report) {
    const PluginCatalog catalog;
    const auto plugin = catalog.kernel("cpu");
    KernelSetting setting{.threads = o.threads, .params = Params(catalog.find(PluginKind::kernel, "cpu").params)};
    for (const Case& one : cases()) {
        if (!o.graph.empty() && o.graph != one.name) continue;
        const auto backend = plugin->create(setting);
        const Csr a = one.make(o);
        SpmmBench bench(o, *backend, a);
        report.line(
            fmt::format("## SpMM: {}\n\n{} rows, {} nonzeros. GB/s count the rows of B that the nonzeros name; "
                        "gather is what this machine gathers of random rows that wide. The format is chosen for "
                        "each width.\n",
                        one.what, a.rows, a.nonzeros()));
        report.line(
            "| width | plain s | ours s | plain ÷ ours | plain GB/s | ours GB/s | gather GB/s | format, prepared "
            "in |");
        report.line("| --- | --- | --- | --- | --- | --- | --- | --- |");
        double logs = 0;
        for (const long w : o.widths) {
            setting.widths = {w};
            logs += std::log(bench.width(w, *plugin->create(setting), report));
        }
        report.line(fmt::format("\nGeometric mean {:.2f}; the goal at full size is {}.\n",
                                std::exp(logs / static_cast<double>(o.widths.size())), one.goal));
    }
}

}  // namespace gnnbench::bench
