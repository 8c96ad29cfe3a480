// What the cpu kernel's choice of a format costs beside the best one: every format forced, then the choice at several sizes
// of cache, which the kernel is told of.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include <gnnbench/backend.hpp>
#include <gnnbench/caches.hpp>

#include "cases.hpp"
#include "graphs.hpp"
#include "plugin/loader.hpp"
#include "timing.hpp"

namespace gnnbench::bench {
namespace {

const char* const named[] = {"rows",       "tiled-1024", "tiled-1536",  "tiled-2048",  "tiled-3072", "tiled-4096",
                             "tiled-6144", "tiled-8192", "tiled-12288", "tiled-16384", "reordered"};

class FormatsBench {
public:
    FormatsBench(const Options& o, Csr a) : o_(o), a_(std::move(a)) {
        plain_ = kernel("rows");
        const long widest = *std::max_element(o.widths.begin(), o.widths.end());
        b_ = plain_->matrix(a_.cols, widest);
        c_ = plain_->matrix(a_.rows, widest);
        plain_->fill(b_, 0.5);
        if (o.formats.empty())
            for (const char* const format : named) prepare(format);
        for (const std::string& format : o.formats) prepare(format.c_str());
    }

    /// A row of seconds for each width.
    void measure(Report& report) {
        std::string head = "| width |", line = "| --- |";
        for (const Prepared& p : prepared_) {
            head += fmt::format(" {} |", p.matrix->format);
            line += " --- |";
        }
        report.line(head);
        report.line(line);
        for (const long w : o_.widths) {
            const MatrixView b = b_.view().reshaped(b_.rows(), w), c = c_.view().reshaped(c_.rows(), w);
            std::vector<std::function<void()>> candidates;
            for (const Prepared& p : prepared_)
                candidates.emplace_back([&p, b, c] { p.backend->spmm(*p.matrix, b, c); });
            std::vector<std::vector<double>> s = take_turns(o_, candidates);
            std::string row = fmt::format("| {} |", w);
            for (std::size_t i = 0; i < prepared_.size(); ++i) {
                row += fmt::format(" {:.4f} |", median(s[i]));
                seconds_[w][form_of(prepared_[i].matrix->format)] = std::move(s[i]);
            }
            report.line(row);
        }
        std::string row = "| prepared |";
        for (const Prepared& p : prepared_) row += fmt::format(" {:.2f} |", p.seconds);
        report.line(row + "\n");
    }

    /// A row for each size of cache, width and way of choosing: what is chosen, and its time ÷ the best candidate's.
    void choices(Report& report) {
        report.line("| cache KiB | width | way | chosen | prepared | ÷ best | notes |");
        report.line("| --- | --- | --- | --- | --- | --- | --- |");
        std::vector<long> caches = o_.caches;
        if (caches.empty()) caches = {static_cast<long>(second_level_cache_bytes() / 1024)};
        for (const long kib : caches)
            for (const long w : o_.widths)
                for (const char* const way : {"untimed", "auto"}) choice(kib, w, way, report);
        unsetenv("GNNBENCH_CPU_CACHE_KIB");
        report.line("");
    }

private:
    struct Prepared {
        std::unique_ptr<Backend> backend;
        std::unique_ptr<PreparedMatrix> matrix;
        double seconds;
    };

    void choice(long kib, long width, const char* way, Report& report) const {
        setenv("GNNBENCH_CPU_CACHE_KIB", std::to_string(kib).c_str(), 1);
        const auto backend = kernel(way, {width});
        const double begin = seconds_now(o_);
        const std::string format = backend->prepare(a_)->format;
        report.line(fmt::format("| {} | {} | {} | {} | {:.2f} | {:.2f} | {} |", kib, width, way, format,
                                seconds_now(o_) - begin, beside_best(width, format, kib), backend->notes()));
    }

    std::unique_ptr<Backend> kernel(const std::string& format, std::vector<std::int64_t> widths = {}) const {
        const PluginDescription about = catalog_.find(PluginKind::kernel, "cpu");
        KernelSetting setting{.threads = o_.threads, .params = Params(about.params), .widths = std::move(widths)};
        for (const ParamDecl& p : about.params)
            if (std::string(p.name) == "format") setting.params.set(p, format);
        return catalog_.kernel("cpu")->create(setting);
    }

    void prepare(const char* format) {
        auto backend = kernel(format);
        const double begin = seconds_now(o_);
        auto matrix = backend->prepare(a_);
        prepared_.push_back({std::move(backend), std::move(matrix), seconds_now(o_) - begin});
    }

    /// A format's name without what it says of the matrix ("csr in cluster order, 45% inside"), which depends on the cache.
    static std::string form_of(const std::string& format) { return format.substr(0, format.find(',')); }

    /// Tiles of half to all of the cache are candidates, as are all other formats.
    static bool is_candidate(const std::string& format, long kib, long width) {
        if (!format.starts_with("tiled ")) return true;
        const double panel = static_cast<double>(std::min(64L, (width + 15) / 16 * 16));
        const double fits = static_cast<double>(kib) * 1024 / (4 * panel), tile = std::stod(format.substr(6));
        return tile >= std::min(fits / 2, 16384.0) && tile <= std::max(fits, 1024.0);
    }
    double beside_best(long width, const std::string& format, long kib) const {
        const auto& of = seconds_.at(width);
        double least = INFINITY;
        for (const auto& [name, seconds] : of)
            if (is_candidate(name, kib, width)) least = std::min(least, median(seconds));
        const auto at = of.find(form_of(format));
        return at == of.end() ? NAN : median(at->second) / least;
    }

    const Options& o_;
    PluginCatalog catalog_;
    Csr a_;
    std::unique_ptr<Backend> plain_;
    std::vector<Prepared> prepared_;
    Matrix b_, c_;
    std::map<long, std::map<std::string, std::vector<double>>> seconds_;
};

void bench(const Options& o, const std::string& what, Csr a, Report& report) {
    report.line(
        fmt::format("## Formats: {}\n\n{} rows, {} nonzeros. Seconds a product:\n", what, a.rows, a.nonzeros()));
    FormatsBench formats(o, std::move(a));
    formats.measure(report);
    if (o.formats.empty()) formats.choices(report);
}

}  // namespace

void bench_formats(const Options& o, Report& report) {
    for (const Case& one : cases())
        if (o.degrees.empty() && (o.graph.empty() || o.graph == one.name)) bench(o, one.what, one.make(o), report);
    for (const double degree : o.degrees)
        bench(o, fmt::format("Power law with communities, {} draws a row", degree),
              power_law({.vertices = static_cast<std::int64_t>(o.rows_of(233'000)),
                         .average_degree = degree,
                         .exponent = 2.5,
                         .widest = 60,
                         .communities = 50}),
              report);
}

}  // namespace gnnbench::bench
