#include <data/memory_budget.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

/// The number after `key` in /proc/meminfo, in bytes; 0 where there is none.
std::uint64_t meminfo(std::string_view key) {
    std::ifstream in("/proc/meminfo");
    for (std::string word; in >> word;) {
        std::uint64_t kib = 0;
        if (word == key && in >> kib) return kib << 10;
    }
    return 0;
}

/// The number in a file of one; UINT64_MAX for "max", or where there is none.
std::uint64_t number_in(const fs::path& file) {
    std::uint64_t number = 0;
    return std::ifstream(file) >> number ? number : UINT64_MAX;
}

/// What this process' cgroup, and those around it, still allow.
std::uint64_t cgroup_allowance() {
    std::ifstream in("/proc/self/cgroup");
    fs::path group = "/";
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("0::/")) group = line.substr(3);
    const fs::path root = "/sys/fs/cgroup";
    std::uint64_t least = UINT64_MAX;
    for (fs::path g = group.relative_path();; g = g.parent_path()) {
        const std::uint64_t most = number_in(root / g / "memory.max"),
                            used = number_in(root / g / "memory.current");
        if (most != UINT64_MAX && used != UINT64_MAX) least = std::min(least, most > used ? most - used : 0);
        if (g.empty()) return least;
    }
}

}  // namespace

std::uint64_t available_memory_bytes() {
    const std::uint64_t available = meminfo("MemAvailable:");
    return std::min(available > 0 ? available : machine_memory_bytes(), cgroup_allowance());
}

std::uint64_t parse_memory(std::string_view text, const std::string& what) {
    double number = 0;
    const char* const end = text.data() + text.size();
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the end is given too
    const auto [rest, bad] = std::from_chars(text.data(), end, number);
    std::string_view unit(rest, static_cast<std::size_t>(end - rest));
    int shift = 0;
    if (!unit.empty() && unit != "B") {
        const std::string_view units = "KMGT";
        const auto place = units.find(unit.front());
        const std::string_view ending = unit.substr(1);
        shift = place != units.npos && (ending.empty() || ending == "B" || ending == "iB")
                    ? 10 * (static_cast<int>(place) + 1)
                    : -1;
    }
    if (bad != std::errc{} || shift < 0 || !std::isfinite(number) || number < 0 ||
        std::ldexp(number, shift) >= 0x1p62)
        throw SpecError(fmt::format("{} is '{}'; expected bytes as 2G, 1.5G, 256M or 800000000", what, text));
    return static_cast<std::uint64_t>(std::ldexp(number, shift));
}

std::string memory_text(std::uint64_t bytes) {
    const auto number = static_cast<double>(bytes);
    if (bytes >= std::uint64_t{1} << 30) return fmt::format("{:.1f} GiB", number / (1 << 30));
    if (bytes >= std::uint64_t{1} << 20) return fmt::format("{:.1f} MiB", number / (1 << 20));
    return fmt::format("{} bytes", bytes);
}

std::uint64_t HeldSize::vertex_bytes() const {
    return 4 * sizeof(std::int64_t) + sizeof(float) * static_cast<std::uint64_t>(feature_count) + 6;
}

std::uint64_t HeldSize::bytes() const {
    const auto e = static_cast<std::uint64_t>(edges), v = static_cast<std::uint64_t>(vertices);
    std::uint64_t of_edges = 0, of_vertices = 0, all = 0;
    const bool beyond = __builtin_mul_overflow(e, edge_bytes, &of_edges) ||
                        __builtin_mul_overflow(v, vertex_bytes(), &of_vertices) ||
                        __builtin_add_overflow(of_edges, of_vertices, &all);
    return beyond ? UINT64_MAX : all;
}

std::uint64_t MemoryBudget::default_memory() { return available_memory_bytes() / 4 * 3; }

std::int64_t MemoryBudget::most_edges(std::uint64_t edge_bytes) const {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(memory_bytes / edge_bytes, INT64_MAX));
}

void MemoryBudget::require(std::uint64_t bytes, const std::string& what) const {
    if (bytes > memory_bytes)
        throw EnvironmentError(
            fmt::format("{} needs {} of memory, this import may take {}; allow more with "
                        "`gnnbench dataset import --memory`",
                        what, memory_text(bytes), memory_text(memory_bytes)));
}

void MemoryBudget::require_disk(std::uint64_t bytes, const std::string& what) const {
    std::error_code unknown;
    const auto space = fs::space(folder, unknown);
    if (!unknown && space.available < bytes)
        throw EnvironmentError(
            fmt::format("{} needs {} on disk, {} has {}; free space there, or name another "
                        "folder with --data-dir",
                        what, memory_text(bytes), folder.string(), memory_text(space.available)));
}

std::size_t MemoryBudget::text_block_bytes() const {
    return static_cast<std::size_t>(
        std::clamp<std::uint64_t>(memory_bytes / 64, std::uint64_t{4} << 10, std::uint64_t{32} << 20));
}

}  // namespace gnnbench
