#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// XXH3-64 of every block of a store's arrays: of the bytes of each .npy file, head included, in blocks of some rows (or,
/// of tiles, some tiles) each. Whoever reads some blocks can tell whether they are those that were written.
struct FileChecksums {
    static constexpr std::int64_t block_bytes = std::int64_t{4} << 20;

    /// By path within the store; the last block of a file may be shorter.
    std::map<std::string, std::vector<std::uint64_t>> blocks;

    bool empty() const { return blocks.empty(); }
    bool operator==(const FileChecksums&) const = default;
};

/// The .npy files of a store's folder and of folders in it, hidden ones left out, by their paths within it, in order.
std::vector<std::string> array_files(const std::filesystem::path& store);

/// Current checksums of all array files, computed on all threads.
FileChecksums compute_checksums(const std::filesystem::path& store);

/// Which blocks a process checks: of all blocks in the files' order, the `index`-th of `count` equal runs.
struct BlockShare {
    int index = 0, count = 1;
};

/// Throws DataError that names file and bytes of the first block of the share that is not what it was, or the file that is
/// missing. Reads through a small buffer, so that the blocks do not count as this process's memory; pages that are mapped
/// are the same pages. `threads` 0: all there are.
void check_blocks(const std::filesystem::path& store, const FileChecksums& checksums, BlockShare share,
                  int threads);

/// {"block_bytes": …, "files": {"indptr.npy": 16 hex digits for each block, …}}
nlohmann::json to_json(const FileChecksums& checksums);
/// Throws DataError naming `file` where it is none.
FileChecksums checksums_from_json(const nlohmann::json& j, const std::string& file);

}  // namespace gnnbench
