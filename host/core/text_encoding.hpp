#pragma once
#include <string_view>

namespace gnnbench {

/// What some programs write before UTF-8. It says nothing of its text, and is no part of it.
inline constexpr std::string_view utf8_mark = "\xef\xbb\xbf";

/// A text without the UTF-8 byte order mark that may begin it.
inline std::string_view without_mark(std::string_view text) {
    return text.substr(text.starts_with(utf8_mark) ? utf8_mark.size() : 0);
}

/// Whether a file that begins so is UTF-16 or UTF-32: by its byte order mark, or by a zero byte beside a character.
inline bool is_utf16(std::string_view begins) {
    if (begins.starts_with("\xff\xfe") || begins.starts_with("\xfe\xff")) return true;
    return begins.size() > 1 && (begins[0] == '\0') != (begins[1] == '\0');
}

/// What to do about that, for an error.
inline constexpr const char* utf16_advice =
    "it is UTF-16, texts are read as UTF-8: convert it (iconv -f UTF-16 -t UTF-8)";

}  // namespace gnnbench
