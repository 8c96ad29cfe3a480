#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace gnnbench {

/// Bytes of memory that the system could still give this process: MemAvailable, or less where cgroup v2 limits it.
std::uint64_t available_memory_bytes();

/// "2G", "1.5GiB", "256M", "800000": bytes, in powers of 1024. Throws SpecError, beginning with `what`.
std::uint64_t parse_memory(std::string_view text, const std::string& what);
/// "1.5 GiB", "256 MiB", "800 bytes".
std::string memory_text(std::uint64_t bytes);

/// What an import takes per edge and per vertex if it holds everything in memory; see docs/datasets.md.
struct HeldSize {
    std::int64_t edges = 0, vertices = 0;
    std::uint64_t edge_bytes = 0;
    std::int64_t feature_count = 0;

    /// Bytes per vertex: its row, four times; a row of features, float32; its label, its mask and what draws them.
    std::uint64_t vertex_bytes() const;
    std::uint64_t bytes() const;
};

/// How much memory an import may take, and where what exceeds it goes.
struct MemoryBudget {
    /// Three quarters of what is available.
    static std::uint64_t default_memory();

    std::uint64_t memory_bytes = default_memory();
    /// Folder for temporary files, which are unnamed and so vanish with the process; preferably the store's folder.
    std::filesystem::path folder = std::filesystem::temp_directory_path();
    std::function<void(const std::string&)> progress = {};  ///< or null

    bool holds(const HeldSize& size) const { return size.bytes() <= memory_bytes; }
    /// How many edges of `edge_bytes` each it holds.
    std::int64_t most_edges(std::uint64_t edge_bytes) const;
    /// Throws EnvironmentError: what needs `bytes`, what is allowed, and what to do.
    void require(std::uint64_t bytes, const std::string& what) const;
    /// Throws EnvironmentError where the folder's file system has less than `bytes`.
    void require_disk(std::uint64_t bytes, const std::string& what) const;
    /// Bytes that a block of text has which is read on all threads, and the longest line in it: what is made of a block
    /// takes at most 16 times as much.
    std::size_t text_block_bytes() const;
    void say(const std::string& line) const {
        if (progress) progress(line);
    }
};

}  // namespace gnnbench
