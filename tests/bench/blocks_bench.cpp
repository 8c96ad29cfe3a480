// The blocks of one of many parts: the sum of their accumulating products beside one product of all their nonzeros.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/backend.hpp>
#include <gnnbench/usize.hpp>

#include "graphs.hpp"
#include "plugin/loader.hpp"
#include "timing.hpp"

namespace gnnbench::bench {
namespace {

/// Rows of part 0 of a random partition, its columns ordered by part: all of them, and a block for each part.
struct PartRows {
    Csr whole;
    std::vector<Csr> blocks;
    std::vector<std::int64_t> first;  ///< length blocks: a block's first column in `whole`
};

PartRows rows_of_part(const Csr& a, std::size_t parts) {
    const auto part_of = [&](std::size_t v) { return (v * 0x9E3779B97F4A7C15u >> 20) % parts; };
    PartRows out;
    std::vector<std::int64_t> size(parts);
    std::vector<std::int32_t> local(usize(a.cols));
    for (std::size_t v = 0; v < local.size(); ++v) local[v] = static_cast<std::int32_t>(size[part_of(v)]++);
    out.blocks.resize(parts);
    for (std::size_t p = 0; p < parts; ++p) {
        out.first.push_back(p == 0 ? 0 : out.first[p - 1] + size[p - 1]);
        out.blocks[p].cols = size[p];
    }
    out.whole.cols = a.cols;
    const auto add = [](Csr& m, std::int64_t column, double value) {
        m.indices.push_back(static_cast<std::int32_t>(column));
        m.values.push_back(value);
    };
    const auto end_row = [](Csr& m) {
        ++m.rows;
        m.indptr.push_back(m.nonzeros());
    };
    for (std::size_t v = 0; v < usize(a.rows); ++v) {
        if (part_of(v) != 0) continue;
        for (auto e = usize(a.indptr[v]); e < usize(a.indptr[v + 1]); ++e) {
            const auto column = usize(a.indices[e]);
            add(out.blocks[part_of(column)], local[column], a.values[e]);
        }
        for (std::size_t p = 0; p < parts; ++p) {
            Csr& b = out.blocks[p];
            for (auto e = usize(b.indptr.back()); e < b.indices.size(); ++e)
                add(out.whole, out.first[p] + b.indices[e], b.values[e]);
            end_row(b);
        }
        end_row(out.whole);
    }
    return out;
}

std::vector<std::unique_ptr<PreparedMatrix>> prepared(Backend& backend, const std::vector<Csr>& blocks) {
    std::vector<std::unique_ptr<PreparedMatrix>> out;
    for (const Csr& b : blocks) out.push_back(backend.prepare(b));
    return out;
}

/// The largest difference of two results that are sums of the same products in another order.
double largest_difference(const HostMatrix& a, const HostMatrix& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i) most = std::max(most, std::abs(a.values[i] - b.values[i]));
    return most;
}

void line_of(const Options& o, const Csr& graph, std::size_t parts, long width, Report& report) {
    const PluginCatalog catalog;
    const auto plugin = catalog.kernel("cpu");
    const auto declared = catalog.find(PluginKind::kernel, "cpu").params;
    const auto backend_of = [&](const char* format) {
        Params params(declared);
        for (const ParamDecl& d : declared)
            if (std::string_view(d.name) == "format") params.set(d, format);
        return plugin->create({.threads = o.threads, .params = params});
    };
    const PartRows part = rows_of_part(graph, parts);
    const auto by_rows = backend_of("rows"), chosen = backend_of("auto");
    const auto whole = by_rows->prepare(part.whole);
    const auto rows = prepared(*by_rows, part.blocks), automatic = prepared(*chosen, part.blocks);

    const Matrix b = by_rows->matrix(graph.cols, width), c = by_rows->matrix(part.whole.rows, width);
    auto* from = static_cast<float*>(b.view().data);
    for (std::int64_t i = 0; i < graph.cols * width; ++i)
        from[i] = static_cast<float>((static_cast<std::uint64_t>(i) * 2654435761u >> 16 & 1023)) / 512.0f - 1.0f;
    const auto sum_of_blocks = [&](Backend& backend, const auto& blocks) {
        for (std::size_t p = 0; p < blocks.size(); ++p)
            backend.spmm(*blocks[p], b.view().rows_from(part.first[p], part.blocks[p].cols), c,
                         {.beta = p == 0 ? 0.0 : 1.0});
    };
    by_rows->spmm(*whole, b, c);
    const HostMatrix wanted = by_rows->download(c);
    sum_of_blocks(*chosen, automatic);
    const bool agrees = largest_difference(by_rows->download(c), wanted) < 1e-3;
    report.agrees = report.agrees && agrees;
    const auto s = take_turns(o, {[&] { by_rows->spmm(*whole, b, c); }, [&] { sum_of_blocks(*by_rows, rows); },
                                  [&] { sum_of_blocks(*chosen, automatic); }});
    const auto by_used_rows = std::ranges::count_if(automatic, [](const auto& m) { return m->format != "csr"; });
    report.line(fmt::format("| {} | {} | {} | {} | {} | {:.4f} | {:.4f} | {:.4f} | {:.2f} | {:.2f}{} |", parts,
                            part.whole.rows, part.whole.nonzeros(), by_used_rows, width, median(s[0]),
                            median(s[1]), median(s[2]), median_ratio(s[1], s[0]), median_ratio(s[2], s[0]),
                            agrees ? "" : " WRONG"));
}

}  // namespace

void bench_blocks(const Options& o, Report& report) {
    const auto vertices = std::max<std::int64_t>(640, static_cast<std::int64_t>(o.rows_of(2'400'000)));
    const Csr graph = power_law({.vertices = vertices,
                                 .average_degree = 16,
                                 .exponent = 2.5,
                                 .widest = 200,
                                 .communities = std::max<std::int64_t>(1, vertices / 1000)});
    report.line(
        "## SpMM: blocks of one of many parts\n\nRows of one part of a random partition of a sparse power law, "
        "times "
        "each part's rows of B in turn, added up; beside one product of the same nonzeros.\n");
    report.line(
        "| parts | rows | nonzeros | blocks of used rows | width | one product, s | blocks, format rows, s | "
        "blocks, format auto, s | "
        "rows ÷ "
        "one | auto ÷ one |");
    report.line("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (const std::size_t parts : {16, 64})
        for (const long width : {16L, 128L}) line_of(o, graph, parts, width, report);
    report.line("");
}

}  // namespace gnnbench::bench
