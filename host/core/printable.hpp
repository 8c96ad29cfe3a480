#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace gnnbench {

/// The offset of the first byte of `text` that is not UTF-8; npos if all of it is.
std::size_t first_no_utf8(std::string_view text);

/// `text` made safe for a terminal: control characters other than \n and \t, with which names could move
/// the cursor or hide preceding text, are escaped (\x1b), and so are bytes that are not UTF-8.
std::string printable(std::string_view text);

}  // namespace gnnbench
