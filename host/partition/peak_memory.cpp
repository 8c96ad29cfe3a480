#include "partition/peak_memory.hpp"

#include <algorithm>
#include <fstream>
#include <span>
#include <string>

#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// A line of /proc/self/status in bytes: "VmHWM".
std::int64_t own_memory(const std::string& field) {
    std::ifstream in("/proc/self/status");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(field + ":")) return std::stoll(line.substr(field.size() + 1)) * 1024;
    return 0;
}

}  // namespace

void touch_rows(const GraphView& graph, RowRange rows) {
    constexpr std::size_t page = 4096;
    volatile char sum = 0;
    const auto walk = [&](auto array) {
        const auto bytes = std::as_bytes(array);
        for (std::size_t i = 0; i < bytes.size(); i += page)
            sum = static_cast<char>(sum + static_cast<char>(bytes[i]));
    };
    if (rows.count() == 0) return;
    const std::int64_t first = graph.indptr[usize(rows.first)], entries = graph.indptr[usize(rows.last)] - first;
    walk(graph.indptr.subspan(usize(rows.first), usize(rows.count()) + 1));
    walk(graph.indices.subspan(usize(first), usize(entries)));
    if (!graph.weights.empty()) walk(graph.weights.subspan(usize(first), usize(entries)));
}

PeakMemory::PeakMemory() {
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak counts from here
    before_ = own_memory("VmRSS");
}

std::int64_t PeakMemory::bytes() const { return std::max<std::int64_t>(own_memory("VmHWM") - before_, 0); }

}  // namespace gnnbench
