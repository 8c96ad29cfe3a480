#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace gnnbench {

/// A temporary file without a name, so that it is gone when this object is, or the process, however that ends. Every
/// failure (full disk, read-only folder) is an EnvironmentError that names the folder and the cause.
class SpillFile {
public:
    explicit SpillFile(std::filesystem::path folder);
    SpillFile(SpillFile&& other) noexcept;
    SpillFile& operator=(SpillFile&& other) noexcept;
    ~SpillFile();

    void append(std::span<const std::byte> bytes);
    /// `begin`: of the first byte, from the file's beginning; all of them are there.
    void read(std::uint64_t begin, std::span<std::byte> bytes) const;
    std::uint64_t size() const { return size_; }

private:
    std::filesystem::path folder_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
};

}  // namespace gnnbench
