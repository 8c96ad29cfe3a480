#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct archive;

namespace gnnbench {

struct ArchiveCloser {
    void operator()(archive* a) const;
};

/// libarchive's error message, if it gives one.
std::string archive_problem(archive* a);

/// DataError where a file has unpacked to so much more than it has bytes that it was made to: beyond a gigabyte, more
/// than 200 times. Text and arrays of graphs compress by a tenth of that.
void refuse_bomb(const std::string& file, std::int64_t unpacked_bytes, std::int64_t packed_bytes);

/// The bytes of a file, decompressed if it is gzip, zstd, xz or bzip2 (detected by content, not by name).
class ByteStream {
public:
    explicit ByteStream(const std::filesystem::path& path);
    /// The next piece, valid until the next call; empty at the end. Throws DataError on a damaged file.
    std::string_view next();

private:
    std::unique_ptr<archive, ArchiveCloser> archive_;
    std::string path_;
    std::int64_t packed_ = 0, unpacked_ = 0;
    bool ended_ = false;
};

/// All remaining bytes.
std::vector<std::byte> read_all(const std::filesystem::path& path);

/// A vertex of a METIS graph with a hundred million neighbours has a line as long.
inline constexpr std::size_t longest_line = std::size_t{1} << 30;
/// "1024 MiB", or bytes where it is less than one.
std::string line_limit_text(std::size_t bytes);

/// A line of a file, for errors.
class LinePlace {
public:
    explicit LinePlace(std::string path, std::int64_t line_number = 0)
        : path_(std::move(path)), line_number_(line_number) {}
    std::int64_t line_number() const { return line_number_; }  ///< from 1
    std::string where() const;                                 ///< "file:line"
    const std::string& path() const { return path_; }

protected:
    std::string path_;
    std::int64_t line_number_;
};

/// A text file line by line, compressed or not; ends of line are \n or \r\n, and not part of the line, nor is a UTF-8 byte
/// order mark of the first.
class LineReader : public LinePlace {
public:
    explicit LineReader(const std::filesystem::path& path, std::size_t most_line_bytes = longest_line);
    /// False at the end. The line is valid until the next call.
    bool next(std::string_view& line);

private:
    ByteStream stream_;
    std::string_view rest_;  ///< of the stream's current piece
    std::string carried_;    ///< a line that began in an earlier piece
    std::size_t most_line_bytes_;
};

/// The beginning of a text without its byte order mark. Throws DataError where it is UTF-16.
std::string_view text_beginning(std::string_view begins, const std::string& file);

/// Splits at blanks, tabs, commas and semicolons. Runs of blanks count once; so do other separators with blanks
/// around.
void split_fields(std::string_view line, std::vector<std::string_view>& fields);

bool is_blank(std::string_view line);

/// Up to 40 characters of what was found, for an error message.
std::string shown(std::string_view text);

/// The numbers of a text file; each throws DataError naming `where`, what was expected and what was found.
std::int64_t parse_integer(std::string_view text, std::int64_t least, std::int64_t most, const LinePlace& at,
                           std::string_view what);
float parse_number(std::string_view text, const LinePlace& at, std::string_view what);
inline float parse_weight(std::string_view text, const LinePlace& at) {
    return parse_number(text, at, "the weight");
}

}  // namespace gnnbench
