#include <gnnbench/temporary_folder.hpp>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "core/owned_folder.hpp"

namespace gnnbench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "gnnbench-";
constexpr const char* owner_file = ".gnnbench-owner";
/// An empty folder without an owner's file is being made, unless it is old. One with files is the user's.
constexpr auto being_made = std::chrono::minutes(10);

/// Whether no process holds the lock of the folder's owner.
bool is_abandoned(const fs::path& folder) {
    struct stat info{};
    if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != getuid()) return false;
    const int owner = ::open((folder / owner_file).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (owner < 0) {
        const auto age = std::chrono::system_clock::now() - std::chrono::system_clock::from_time_t(info.st_mtime);
        std::error_code error;
        return errno == ENOENT && age > being_made && fs::is_empty(folder, error) && !error;
    }
    const bool left = ::flock(owner, LOCK_EX | LOCK_NB) == 0;
    ::close(owner);
    return left;
}

}  // namespace

int own_folder(const fs::path& folder) {
    const int owner = ::open((folder / owner_file).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (owner >= 0) ::flock(owner, LOCK_EX | LOCK_NB);
    return owner;
}

std::vector<fs::path> abandoned_folders(const fs::path& place) {
    std::vector<fs::path> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(place, ignored))
        if (entry.path().filename().string().starts_with(prefix) && is_abandoned(entry.path()))
            found.push_back(entry.path());
    return found;
}

fs::path temporary_files() {
    const char* chosen = std::getenv("TMPDIR");
    return chosen && *chosen ? chosen : "/tmp";
}

void remove_left_temporary_folders() {
    std::error_code ignored;
    for (const fs::path& folder : abandoned_folders(temporary_files())) fs::remove_all(folder, ignored);
}

TemporaryFolder::TemporaryFolder(std::string_view what) {
    std::string name = (temporary_files() / fmt::format("{}{}-XXXXXX", prefix, what)).string();
    if (!mkdtemp(name.data()))
        throw EnvironmentError(fmt::format("cannot make a folder {}: {}", name, std::strerror(errno)));
    path_ = name;
    owner_ = own_folder(path_);
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    if (owner_ >= 0) ::close(owner_);
}

}  // namespace gnnbench
