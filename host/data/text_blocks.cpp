#include <data/text_blocks.hpp>

#include <array>
#include <fstream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

namespace {

/// By its first bytes, as ByteStream detects it.
bool is_compressed(const std::filesystem::path& path) {
    std::array<char, 6> first{};
    std::ifstream(path, std::ios::binary).read(first.data(), first.size());
    const std::string_view begins(first.data(), first.size());
    return begins.starts_with("\x1f\x8b") || begins.starts_with("\x28\xb5\x2f\xfd") || begins.starts_with("BZh") ||
           begins == std::string_view(
                         "\xfd"
                         "7zXZ\0",
                         6);
}

}  // namespace

TextBlocks::TextBlocks(const std::filesystem::path& path, std::size_t block_bytes, std::size_t most_line_bytes)
    : path_(path.string()), block_bytes_(block_bytes), most_line_bytes_(most_line_bytes) {
    if (std::filesystem::is_regular_file(path) && !is_compressed(path))
        mapped_.emplace(path);
    else
        stream_.emplace(path);
}

void TextBlocks::check_length(std::size_t line_bytes) const {
    if (line_bytes > most_line_bytes_)
        throw DataError(
            fmt::format("{}: a line of more than {}; expected text", path_, line_limit_text(most_line_bytes_)));
}

bool TextBlocks::next(std::string_view& block) {
    if (!(stream_ ? next_unpacked(block) : next_mapped(block))) return false;
    if (!begun_) block = text_beginning(block, path_);
    begun_ = true;
    return true;
}

bool TextBlocks::next_mapped(std::string_view& block) {
    mapped_->release(released_, begin_);
    released_ = begin_;
    const auto bytes = mapped_->bytes();
    const std::string_view rest =
        std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).substr(begin_);
    if (rest.empty()) return false;
    std::size_t size = rest.size();
    if (size > block_bytes_) {
        const std::size_t before = rest.rfind('\n', block_bytes_);
        const std::size_t end = before != rest.npos ? before : rest.find('\n', block_bytes_);
        size = end == rest.npos ? rest.size() : end + 1;
        if (before == rest.npos) check_length(size);
    }
    block = rest.substr(0, size);
    begin_ += size;
    return true;
}

bool TextBlocks::next_unpacked(std::string_view& block) {
    block_.erase(0, used_);
    std::size_t searched = 0;  // without a line's end
    for (;;) {
        if (block_.size() >= block_bytes_) {
            const std::size_t end = std::string_view(block_).substr(searched).rfind('\n');
            if (end != block_.npos) {
                used_ = searched + end + 1;
                break;
            }
            searched = block_.size();
            check_length(searched);
        }
        const std::string_view piece = stream_->next();
        used_ = block_.size();
        if (piece.empty()) break;
        block_ += piece;
    }
    block = std::string_view(block_).substr(0, used_);
    return !block.empty();
}

std::vector<std::string_view> runs_of_lines(std::string_view block, int runs) {
    std::vector<std::string_view> out;
    std::size_t begin = 0;
    for (int r = 1; r <= runs; ++r) {
        std::size_t end = r == runs ? block.size() : std::max(begin, block.size() * usize(r) / usize(runs));
        if (end > 0 && end < block.size()) {
            end = block.find('\n', end - 1);
            end = end == block.npos ? block.size() : end + 1;
        }
        out.push_back(block.substr(begin, end - begin));
        begin = end;
    }
    return out;
}

}  // namespace gnnbench
