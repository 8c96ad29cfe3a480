#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace gnnbench {

/// A whole file in memory, read-only and shared: every process that maps it uses the same pages.
class MappedFile {
public:
    MappedFile() = default;
    /// Throws DataError where it cannot be read.
    explicit MappedFile(const std::filesystem::path& path);
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    std::span<const std::byte> bytes() const { return {data_, size_}; }
    /// Lets go of the memory of bytes [begin, end), but for pages that others share; what is read again comes from the file.
    void release(std::size_t begin, std::size_t end) const;

private:
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// A file being written from its beginning. Every failure (full disk, read-only folder) is an
/// EnvironmentError that names the path and the cause; `close` reports errors of the last writes.
class OutputFile {
public:
    explicit OutputFile(std::filesystem::path path);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile();

    void write(std::span<const std::byte> bytes);
    void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
    /// In place of what was written at the file's beginning, which has as many bytes or more.
    void rewrite_beginning(std::string_view text);
    void close();

private:
    std::filesystem::path path_;
    int descriptor_ = -1;
};

/// Creates the folder in one that exists: SpecError where that is missing (see require_folder_of), EnvironmentError
/// with path and cause where it cannot be created.
void make_folder(const std::filesystem::path& path);

}  // namespace gnnbench
