#include "worker/store_share.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include <gnnbench/error.hpp>
#include <gnnbench/process_group.hpp>

#include "data/checked_store.hpp"

namespace gnnbench {

namespace {

/// The same on all ranks that read the same files, on whichever host; a device's number differs between hosts.
std::string identity_of(const Store& store, const FileChecksums& checksums) {
    struct stat info{};
    const auto file = store.path() / "manifest.json";
    if (::stat(file.c_str(), &info) != 0) return "gone";
    return fmt::format("{} {} {}.{} {}.{} {}", info.st_ino, info.st_size, info.st_mtim.tv_sec,
                       info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec, checksums.blocks.size());
}

BlockShare share_of(const std::string& mine, const ProcessGroup& group) {
    const std::vector<std::string> all = group.all_gather(mine);
    const auto before = std::count(all.begin(), all.begin() + group.rank(), mine);
    return {.index = static_cast<int>(before), .count = static_cast<int>(std::ranges::count(all, mine))};
}

}  // namespace

void check_shares(const Store& store, const ProcessGroup& group, int threads) {
    const FileChecksums checksums = known_checksums(store);
    const BlockShare share = share_of(identity_of(store, checksums), group);
    std::string problem;
    try {
        check_blocks(store.path(), checksums, share, threads);
    } catch (const DataError& e) {
        problem = e.what();
    }
    for (const std::string& found : group.all_gather(problem))
        if (!found.empty()) throw DataError(found);
}

}  // namespace gnnbench
