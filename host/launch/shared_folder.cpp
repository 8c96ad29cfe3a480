#include "launch/shared_folder.hpp"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "core/owned_folder.hpp"
#include "core/plural.hpp"

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

constexpr const char* shared_memory = "/dev/shm";
/// Sizes of PMIx's store, and of btl_vader_segment_size with what lies beside it, as Open MPI 4.1 allocates them.
constexpr std::int64_t store_bytes = std::int64_t{9} << 20, segment_bytes = (std::int64_t{4} << 20) + (64 << 10);

/// Free for this user; −1 where it is no folder that can be written.
std::int64_t free_bytes(const fs::path& folder) {
    struct statvfs info{};
    if (::access(folder.c_str(), W_OK | X_OK) != 0 || ::statvfs(folder.c_str(), &info) != 0) return -1;
    return static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
}

std::string mebibytes(std::int64_t bytes) {
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string room_in(const fs::path& folder) {
    const std::int64_t bytes = free_bytes(folder);
    return bytes < 0 ? folder.string() + " cannot be written"
                     : fmt::format("{} has {} free", folder.string(), mebibytes(bytes));
}

}  // namespace

std::int64_t shared_bytes(int ranks) { return store_bytes + segment_bytes * ranks; }

std::vector<fs::path> places_for_shared_files(const fs::path& trial_folder) {
    std::vector<fs::path> places{shared_memory, temporary_files()};
    if (!trial_folder.empty()) places.push_back(trial_folder);
    return places;
}

fs::path first_with_room(const std::vector<fs::path>& places, std::int64_t bytes) {
    for (const fs::path& place : places)
        if (free_bytes(place) >= bytes) return place;
    return {};
}

SharedFolder::SharedFolder(const std::string& trial, int ranks, const fs::path& trial_folder) {
    const std::vector<fs::path> places = places_for_shared_files(trial_folder);
    const std::int64_t needed = shared_bytes(ranks);
    const fs::path place = first_with_room(places, needed);
    if (place.empty()) {
        std::vector<std::string> rooms;
        for (const fs::path& one : places) rooms.push_back(room_in(one));
        throw EnvironmentError(fmt::format(
            "{} of one host share files of {}, and no folder has room for them: {}; enlarge /dev/shm, or "
            "name another folder with TMPDIR",
            plural(ranks, "rank"), mebibytes(needed), fmt::join(rooms, ", ")));
    }
    const fs::path folder = place / ("gnnbench-" + trial);
    if (::mkdir(folder.c_str(), S_IRWXU) != 0)
        throw EnvironmentError(
            fmt::format("cannot create the folder {}: {}", folder.string(), std::strerror(errno)));
    path_ = folder.string();
    owner_ = own_folder(folder);
}

SharedFolder::~SharedFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
    if (owner_ >= 0) ::close(owner_);
}

std::string remark_on_shared_files(int ranks) {
    const std::int64_t needed = shared_bytes(ranks);
    const fs::path place = first_with_room(places_for_shared_files({}), needed);
    if (place == shared_memory) return {};
    return fmt::format("{}, and {} need {}: their shared files are {}", room_in(shared_memory),
                       plural(ranks, "rank"), mebibytes(needed),
                       place.empty() ? "beside the database" : "in " + place.string());
}

}  // namespace gnnbench
