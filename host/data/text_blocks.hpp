#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <data/file.hpp>
#include <data/text_input.hpp>

namespace gnnbench {

/// A text file in blocks of whole lines, for readers on several threads: a plain file as it is mapped, a compressed one
/// as it is unpacked; without the byte order mark that may begin it.
class TextBlocks {
public:
    /// `block_bytes`: about as many as a block has.
    explicit TextBlocks(const std::filesystem::path& path, std::size_t block_bytes = std::size_t{32} << 20,
                        std::size_t most_line_bytes = longest_line);
    /// The next block, which ends with its last line's end, or at the end of the file; false after that. Valid until the
    /// next call.
    bool next(std::string_view& block);
    const std::string& path() const { return path_; }
    /// Size of the whole text; 0 if it is compressed, since its size is then unknown.
    std::size_t bytes() const { return mapped_ ? mapped_->bytes().size() : 0; }

private:
    bool next_mapped(std::string_view& block);
    bool next_unpacked(std::string_view& block);
    void check_length(std::size_t line_bytes) const;

    std::string path_;
    std::size_t block_bytes_, most_line_bytes_;
    std::optional<MappedFile> mapped_;
    std::size_t begin_ = 0, released_ = 0;  ///< of the next block in the mapped file; what comes before it
    std::optional<ByteStream> stream_;
    std::string block_;  ///< unpacked; what follows the last line's end begins the next one
    std::size_t used_ = 0;
    bool begun_ = false;
};

/// Cuts a block into `runs` runs of whole lines, some of which may be empty.
std::vector<std::string_view> runs_of_lines(std::string_view block, int runs);

}  // namespace gnnbench
