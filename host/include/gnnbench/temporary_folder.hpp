#pragma once
#include <filesystem>
#include <string_view>

namespace gnnbench {

/// A folder for files of this process, in TMPDIR or else /tmp, removed with this object. If the process is killed
/// first, the next gnnbench command of the same user removes the folder. Only for the user to read.
class TemporaryFolder {
public:
    /// gnnbench-WHAT-XXXXXX. Throws EnvironmentError if it cannot be made.
    explicit TemporaryFolder(std::string_view what);
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder();
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    int owner_ = -1;
};

}  // namespace gnnbench
