#include "core/draft_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

namespace {

constexpr std::string_view draft_ending = ".draft";
constexpr mode_t permission_bits = 07777;

std::string draft_prefix(const std::filesystem::path& target) { return "." + target.filename().string() + "."; }

[[noreturn]] void cannot(const char* verb, const std::filesystem::path& path) {
    throw EnvironmentError(fmt::format("cannot {} '{}': {}", verb, path.string(), std::strerror(errno)));
}

}  // namespace

DraftFile::DraftFile(std::filesystem::path target, const std::filesystem::path& like)
    : target_(std::move(target)) {
    struct stat known{};
    const bool exists = ::stat((like.empty() ? target_ : like).c_str(), &known) == 0;
    std::random_device random;
    do {
        path_ = target_.parent_path() /
                fmt::format("{}{:08x}{:08x}{}", draft_prefix(target_), random(), random(), draft_ending);
        descriptor_ =
            ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, exists ? 0600 : 0666);
    } while (descriptor_ < 0 && errno == EEXIST);
    if (descriptor_ < 0) cannot("create", path_);
    if (exists) ::fchmod(descriptor_, known.st_mode & permission_bits);
}

DraftFile::~DraftFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!path_.empty()) ::unlink(path_.c_str());
}

void DraftFile::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) cannot("write", target_);
        bytes.remove_prefix(usize(written));
    }
}

void DraftFile::publish() {
    if (::fsync(descriptor_) != 0) cannot("write", target_);
    if (::rename(path_.c_str(), target_.c_str()) != 0) cannot("name", target_);
    path_.clear();
}

void remove_left_drafts(const std::filesystem::path& target) {
    std::error_code ignored;
    const auto folder = target.has_parent_path() ? target.parent_path() : std::filesystem::path(".");
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        // SQLite's journal of one begins as it does.
        if (name.starts_with(draft_prefix(target)) && name.find(draft_ending) != std::string::npos)
            std::filesystem::remove(entry.path(), ignored);
    }
}

}  // namespace gnnbench
