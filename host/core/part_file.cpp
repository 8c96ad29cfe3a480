#include <gnnbench/part_file.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "core/plural.hpp"
#include "core/printable.hpp"
#include "core/text_encoding.hpp"

namespace gnnbench {
namespace {

/// The whole numbers of a text file, with the line of each.
class Numbers {
public:
    explicit Numbers(const std::filesystem::path& file) : file_(file.string()), in_(file, std::ios::binary) {
        std::error_code ignored;
        if (!in_ || std::filesystem::is_directory(file, ignored))
            throw DataError(
                fmt::format("{} cannot be read: {}", file_, in_ ? "it is a folder" : std::strerror(errno)));
        pass_mark();
    }

    /// The next number; nothing at the end of the file.
    std::optional<std::int64_t> next() {
        int c = get();
        while (is_blank(c)) c = get();
        if (c == end) return {};
        line_ = next_line_;
        std::array<char, 24> text{};
        std::size_t length = 0;
        for (; c != end && !is_blank(c) && length < text.size(); c = get()) text[length++] = static_cast<char>(c);
        if (c == '\n') in_.unget(), --next_line_;
        std::int64_t number = 0;
        const char* last = text.data() + length;
        const auto parsed = std::from_chars(text.data(), last, number);
        if (parsed.ec != std::errc() || parsed.ptr != last)
            throw DataError(fmt::format("{}: expected a whole number, found '{}'", where(),
                                        printable(std::string(text.data(), length))));
        return number;
    }

    /// FILE:LINE of the last number.
    std::string where() const { return fmt::format("{}:{}", file_, line_); }
    const std::string& file() const { return file_; }

private:
    void pass_mark() {
        std::array<char, utf8_mark.size()> first{};
        in_.read(first.data(), first.size());
        const std::string_view begins(first.data(), usize(in_.gcount()));
        if (is_utf16(begins)) throw DataError(fmt::format("{}: {}", file_, utf16_advice));
        if (begins.starts_with(utf8_mark)) return;
        in_.clear();
        in_.seekg(0);
    }

    static constexpr int end = std::char_traits<char>::eof();
    static bool is_blank(int c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
    int get() {
        const int c = in_.get();
        if (c == '\n') ++next_line_;
        return c;
    }

    std::string file_;
    std::ifstream in_;
    std::int64_t line_ = 1, next_line_ = 1;
};

}  // namespace

Partition read_part_file(const std::filesystem::path& file, Part parts, std::int64_t vertices, Part first) {
    Numbers numbers(file);
    Partition result{.parts = parts, .part_of = {}, .column_part_of = {}};
    result.part_of.reserve(usize(vertices));
    for (auto part = numbers.next(); part; part = numbers.next()) {
        if (std::ssize(result.part_of) == vertices)
            throw DataError(
                fmt::format("{}: this is a part more than the graph has vertices, {}; the file belongs "
                            "to another graph",
                            numbers.where(), vertices));
        if (*part < first || *part >= std::int64_t{first} + parts)
            throw DataError(fmt::format("{}: part {} of vertex {}; {} were asked for, which are {} to {}{}",
                                        numbers.where(), *part, result.part_of.size(), plural(parts, "part"),
                                        first, std::int64_t{first} + parts - 1,
                                        first == 0 && *part == parts ? " (does the file count from 1?)" : ""));
        result.part_of.push_back(static_cast<Part>(*part - first));
    }
    if (std::ssize(result.part_of) != vertices)
        throw DataError(
            fmt::format("{} has the parts of {} vertices; the graph has {}. The file belongs to another graph",
                        numbers.file(), result.part_of.size(), vertices));
    return result;
}

Partition read_size_file(const std::filesystem::path& file, Part parts, std::int64_t vertices) {
    Numbers numbers(file);
    Partition result{.parts = parts, .part_of = {}, .column_part_of = {}};
    result.part_of.reserve(usize(vertices));
    Part part = 0;
    for (auto size = numbers.next(); size; size = numbers.next(), ++part) {
        if (part == parts)
            throw DataError(fmt::format("{}: there are sizes of more than the {} that were asked for",
                                        numbers.where(), plural(parts, "part")));
        const std::int64_t left = vertices - std::ssize(result.part_of);
        if (*size < 0 || *size > left)
            throw DataError(
                fmt::format("{}: {} vertices in part {}; the graph has {}, of which {} are left. The "
                            "file belongs to another graph",
                            numbers.where(), *size, part, vertices, left));
        result.part_of.insert(result.part_of.end(), usize(*size), part);
    }
    if (part != parts)
        throw DataError(
            fmt::format("{} has the sizes of {}; {} were asked for", numbers.file(), plural(part, "part"), parts));
    if (std::ssize(result.part_of) != vertices)
        throw DataError(
            fmt::format("{} has sizes that sum to {}; the graph has {} vertices. The file belongs to "
                        "another graph",
                        numbers.file(), result.part_of.size(), vertices));
    return result;
}

std::string file_digest(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    std::vector<char> piece(std::size_t{1} << 16);
    while (in.read(piece.data(), std::ssize(piece)) || in.gcount() > 0)
        XXH3_64bits_update(&state, piece.data(), usize(in.gcount()));
    return in.eof() ? fmt::format("{:016x}", XXH3_64bits_digest(&state)) : "unreadable";
}

}  // namespace gnnbench
