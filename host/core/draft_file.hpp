#pragma once
#include <filesystem>
#include <string_view>

#include <sys/types.h>

namespace gnnbench {

/// A file being written beside its target, under a name that no other process can have prepared (O_EXCL), until it is
/// published under the target's. With the mode of the file that it replaces or resembles, else as the umask says.
/// Removed with this object unless it was published; of a killed process it stays, see remove_left_drafts.
class DraftFile {
public:
    /// `like`: has the mode that the target is to have; the target itself by default.
    explicit DraftFile(std::filesystem::path target, const std::filesystem::path& like = {});
    ~DraftFile();
    DraftFile(const DraftFile&) = delete;
    DraftFile& operator=(const DraftFile&) = delete;

    const std::filesystem::path& path() const { return path_; }
    void write(std::string_view bytes);
    /// On disk before it has its name: a target that exists is complete.
    void publish();

private:
    std::filesystem::path target_, path_;
    int descriptor_ = -1;
};

/// Removes drafts for this target. Only for who holds a lock that its writers hold.
void remove_left_drafts(const std::filesystem::path& target);

}  // namespace gnnbench
