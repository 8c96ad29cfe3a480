#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace gnnbench {

/// The offset of the first byte of `text` that is no UTF-8; npos where all of it is.
std::size_t first_no_utf8(std::string_view text);

/// `text` as a terminal may be given it, whoever wrote it: control characters other than \n and \t, with which names could move
/// the cursor or hide what stands before them, are written out (\x1b), and bytes that are no UTF-8 too.
std::string printable(std::string_view text);

}  // namespace gnnbench
