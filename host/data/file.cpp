#include <data/file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "core/existing_folder.hpp"

namespace gnnbench {

namespace {

[[noreturn]] void cannot_write(const std::filesystem::path& path, int cause) {
    throw EnvironmentError(fmt::format("cannot write {}: {}; free space there, or name another folder",
                                       path.string(), std::strerror(cause)));
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
    // Not blocking: opening a pipe would wait for its writer.
    int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) throw DataError(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
    struct stat info{};
    if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
        ::close(descriptor);
        throw DataError(fmt::format("cannot read {}: it is not a regular file", path.string()));
    }
    size_ = usize(info.st_size);
    void* mapped = size_ == 0 ? nullptr : ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
    int cause = errno;
    ::close(descriptor);
    if (mapped == MAP_FAILED) {
        size_ = 0;
        throw EnvironmentError(fmt::format("cannot map {} into memory: {}", path.string(), std::strerror(cause)));
    }
    data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

MappedFile::~MappedFile() {
    if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::release(std::size_t begin, std::size_t end) const {
    const auto page = usize(::sysconf(_SC_PAGESIZE));
    begin = begin / page * page;
    end = std::min(end, size_) / page * page;
    if (begin < end) ::madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) cannot_write(path_, errno);
}

OutputFile::~OutputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) cannot_write(path_, errno);
        bytes = bytes.subspan(usize(written));
    }
}

void OutputFile::rewrite_beginning(std::string_view text) {
    const auto written = ::pwrite(descriptor_, text.data(), text.size(), 0);
    if (written != static_cast<ssize_t>(text.size())) cannot_write(path_, written < 0 ? errno : ENOSPC);
}

void OutputFile::close() {
    int descriptor = std::exchange(descriptor_, -1);
    if (descriptor >= 0 && ::close(descriptor) != 0) cannot_write(path_, errno);
}

void make_folder(const std::filesystem::path& path) {
    require_folder_of(path, "the folder");
    std::error_code cause;
    std::filesystem::create_directory(path.has_filename() ? path : path.parent_path(), cause);
    if (cause)
        throw EnvironmentError(
            fmt::format("cannot create the folder {}: {}; name another one", path.string(), cause.message()));
}

}  // namespace gnnbench
