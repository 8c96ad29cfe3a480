#include <data/spill_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

namespace {

constexpr std::size_t at_once = std::size_t{1} << 30;  // a call moves 2 GiB at most

/// Not every file system has files that never had a name.
int open_unnamed(const std::filesystem::path& folder) {
    const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return descriptor;
    std::string name = (folder / ".gnnbench-XXXXXX").string();
    const int named = ::mkostemp(name.data(), O_CLOEXEC);
    if (named >= 0) ::unlink(name.c_str());
    return named;
}

}  // namespace

SpillFile::SpillFile(std::filesystem::path folder)
    : folder_(std::move(folder)), descriptor_(open_unnamed(folder_)) {
    if (descriptor_ < 0)
        throw EnvironmentError(
            fmt::format("cannot make a temporary file in {}: {}; name another folder with "
                        "--data-dir",
                        folder_.string(), std::strerror(errno)));
}

SpillFile::SpillFile(SpillFile&& other) noexcept
    : folder_(std::move(other.folder_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

SpillFile& SpillFile::operator=(SpillFile&& other) noexcept {
    std::swap(folder_, other.folder_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(size_, other.size_);
    return *this;
}

SpillFile::~SpillFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void SpillFile::append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written =
            ::pwrite(descriptor_, bytes.data(), std::min(bytes.size(), at_once), static_cast<off_t>(size_));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0)
            throw EnvironmentError(
                fmt::format("cannot write a temporary file in {}: {}; free space there, name "
                            "another folder with --data-dir, or allow more --memory",
                            folder_.string(), std::strerror(errno)));
        size_ += usize(written);
        bytes = bytes.subspan(usize(written));
    }
}

void SpillFile::read(std::uint64_t begin, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
        const ssize_t got =
            ::pread(descriptor_, bytes.data(), std::min(bytes.size(), at_once), static_cast<off_t>(begin));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            throw EnvironmentError(fmt::format("cannot read a temporary file in {}: {}", folder_.string(),
                                               got < 0 ? std::strerror(errno) : "it ends too early"));
        begin += usize(got);
        bytes = bytes.subspan(usize(got));
    }
}

}  // namespace gnnbench
