#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gnnbench {

/// What a launcher and its ranks on one host share in files: Open MPI's segment of 4 MiB a rank, and PMIx's store.
std::int64_t shared_bytes(int ranks);

/// Where a trial's shared files may lie, the best first: /dev/shm, then folders on disk, which the ranks map as well.
std::vector<std::filesystem::path> places_for_shared_files(const std::filesystem::path& trial_folder);

/// The first of the places that is a folder, can be written and has so many bytes free; empty if none is.
std::filesystem::path first_with_room(const std::vector<std::filesystem::path>& places, std::int64_t bytes);

/// A trial's folder for shared files, readable by this user only and removed on destruction.
class SharedFolder {
public:
    SharedFolder() = default;  ///< none: the launcher's own default
    /// Throws EnvironmentError where no place has room for so many ranks: they would start, and then hang.
    SharedFolder(const std::string& trial, int ranks, const std::filesystem::path& trial_folder);
    ~SharedFolder();
    SharedFolder(const SharedFolder&) = delete;
    SharedFolder& operator=(const SharedFolder&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
    int owner_ = -1;
};

/// Why the shared files of so many ranks are not in /dev/shm, and where they are instead; empty if they are there.
std::string remark_on_shared_files(int ranks);

}  // namespace gnnbench
