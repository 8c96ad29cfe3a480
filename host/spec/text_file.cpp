#include "spec/text_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "core/text_encoding.hpp"

namespace gnnbench {
namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20;

/// Already open, and so never waited for.
bool is_open_descriptor(const std::filesystem::path& file) {
    const std::string name = file.lexically_normal().string();
    return name.starts_with("/dev/fd/") || name == "/dev/stdin" || name.starts_with("/proc/");
}

}  // namespace

std::string read_text_file(const std::filesystem::path& file, const std::string& expected) {
    const auto refuse = [&](const std::string& found) {
        return SpecError(fmt::format("{} '{}'; {}", expected, file.string(), found));
    };
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (std::filesystem::is_directory(status)) throw refuse("that is a folder");
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) && !is_open_descriptor(file))
        throw refuse("that is a pipe, a socket or a device");
    errno = 0;
    std::ifstream in(file, std::ios::binary);
    if (!in) throw refuse(error ? error.message() : std::strerror(errno));
    std::string text;
    for (char piece[65536]; in.read(piece, sizeof piece) || in.gcount() > 0;) {
        text.append(piece, usize(in.gcount()));
        if (text.size() > most_bytes) throw refuse(fmt::format("it is longer than {} MiB", most_bytes >> 20));
    }
    if (is_utf16(text)) throw refuse(utf16_advice);
    return std::string(without_mark(text));
}

}  // namespace gnnbench
