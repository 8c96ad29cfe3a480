#include "partitioning/peers_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>

namespace gnnbench::bench {
namespace {

std::string line(const PartitioningCase& c, std::string_view title, const Measured& m, const Measured& own) {
    const std::string row =
        fmt::format("| {} | {} | {} | {} | {} | {:.3f} | {:.2f} | {:.3f} | {:.3f} |\n", c.name, c.parts, title,
                    m.volume, m.cut, m.imbalance, m.cpu_s, ratio(own.volume, m.volume), ratio(own.cut, m.cut));
    std::fputs(row.c_str(), stderr);
    return row;
}

}  // namespace

void PeersTable::measure(const PartitioningCase& c, double imbalance, int seed, const std::string& preset) {
    for (Column& column : columns_) column.runs.push_back(measure_peer(column.peer, c, imbalance, seed, preset));
}

void PeersTable::end_case(const PartitioningCase& c, const Measured& metis, const Measured& own) {
    if (columns_.empty()) return;
    ++cases_;
    rows_ += line(c, "hypergraph", own, own);
    rows_ += line(c, "METIS", metis, own);
    for (Column& column : columns_) {
        const Measured its = summary(column.runs);
        rows_ += line(c, column.peer.title, its, own);
        column.log_volumes += std::log(ratio(own.volume, its.volume));
        column.log_seconds += std::log(own.cpu_s / its.cpu_s);
        column.runs.clear();
    }
}

std::string PeersTable::text() const {
    if (columns_.empty()) return "";
    std::string text =
        "\n| graph | parts | partitioner | connectivity−1 | edge cut | imbalance | CPU s | ours ÷ its volume | "
        "ours ÷ its cut "
        "|\n| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n" +
        rows_ + "\n";
    for (const Column& column : columns_)
        text += fmt::format("Geometric means over {} graphs, ours ÷ {}'s: volume {:.3f}, CPU time {:.3f}\n",
                            cases_, column.peer.title, std::exp(column.log_volumes / cases_),
                            std::exp(column.log_seconds / cases_));
    return text;
}

}  // namespace gnnbench::bench
