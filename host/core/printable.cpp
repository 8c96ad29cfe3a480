#include "core/printable.hpp"

#include <fmt/format.h>

namespace gnnbench {
namespace {

unsigned char byte(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

/// Bytes of the character at `at`; 0 where there is none (RFC 3629: no overlong form, no surrogate, up to U+10FFFF).
std::size_t length_at(std::string_view text, std::size_t at) {
    const unsigned char first = byte(text, at);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                               : first >= 0xe0 && first <= 0xef ? 3
                               : first >= 0xf0 && first <= 0xf4 ? 4
                                                                : 0;
    if (length == 0 || at + length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(text, at + i) & 0xc0) != 0x80) return 0;
    const unsigned char second = byte(text, at + 1);
    const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool beyond = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
    return overlong || beyond ? 0 : length;
}

bool is_control(std::string_view text, std::size_t at, std::size_t length) {
    const unsigned char first = byte(text, at);
    if (length == 1) return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f;
    return length == 2 && first == 0xc2 && byte(text, at + 1) < 0xa0;  // C1: U+009B begins an escape sequence, too
}

}  // namespace

std::size_t first_no_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = length_at(text, at);
        if (length == 0) return at;
        at += length;
    }
    return std::string_view::npos;
}

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = length_at(text, at), taken = length == 0 ? 1 : length;
        if (length == 0 || is_control(text, at, length))
            for (std::size_t i = 0; i < taken; ++i) out += fmt::format("\\x{:02x}", byte(text, at + i));
        else
            out += text.substr(at, taken);
        at += taken;
    }
    return out;
}

}  // namespace gnnbench
