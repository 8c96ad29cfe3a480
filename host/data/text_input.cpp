#include <data/text_input.hpp>

#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <span>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>

#include "core/text_encoding.hpp"

namespace gnnbench {

void ArchiveCloser::operator()(archive* a) const { archive_read_free(a); }

std::string archive_problem(archive* a) {
    const char* told = archive_error_string(a);
    return told ? told : "it is damaged";
}

void refuse_bomb(const std::string& file, std::int64_t unpacked_bytes, std::int64_t packed_bytes) {
    constexpr std::int64_t harmless = std::int64_t{1} << 30, most_times = 200;
    if (unpacked_bytes > harmless && unpacked_bytes / most_times > packed_bytes)
        throw DataError(fmt::format(
            "{}: its {} bytes unpack to more than {} times as many; if that is right, unpack it, and import "
            "it as it is then",
            file, packed_bytes, most_times));
}

ByteStream::ByteStream(const std::filesystem::path& path) : archive_(archive_read_new()), path_(path.string()) {
    if (!std::filesystem::is_regular_file(path) || !std::ifstream(path))
        throw DataError(
            fmt::format("cannot read {}: {}", path_,
                        std::filesystem::exists(path) ? "it is not a readable file" : "there is no such file"));
    auto a = archive_.get();
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_zstd(a);
    archive_read_support_filter_xz(a);
    archive_read_support_filter_bzip2(a);
    archive_read_support_format_raw(a);
    archive_read_support_format_empty(a);
    packed_ = static_cast<std::int64_t>(std::filesystem::file_size(path));
    archive_entry* entry = nullptr;
    if (archive_read_open_filename(a, path_.c_str(), 1 << 20) != ARCHIVE_OK)
        throw DataError(fmt::format("cannot read {}: {}", path_, archive_problem(a)));
    auto status = archive_read_next_header(a, &entry);
    if (status == ARCHIVE_EOF)
        ended_ = true;
    else if (status != ARCHIVE_OK)
        throw DataError(fmt::format("cannot read {}: {}", path_, archive_problem(a)));
}

std::string_view ByteStream::next() {
    while (!ended_) {
        const void* data = nullptr;
        std::size_t size = 0;
        la_int64_t offset = 0;
        auto status = archive_read_data_block(archive_.get(), &data, &size, &offset);
        if (status == ARCHIVE_EOF)
            ended_ = true;
        else if (status != ARCHIVE_OK)
            throw DataError(fmt::format("cannot read {} to its end: {}; the file is damaged or incomplete", path_,
                                        archive_problem(archive_.get())));
        else if (size > 0) {
            refuse_bomb(path_, unpacked_ += static_cast<std::int64_t>(size), packed_);
            return {static_cast<const char*>(data), size};
        }
    }
    return {};
}

std::vector<std::byte> read_all(const std::filesystem::path& path) {
    ByteStream stream(path);
    std::vector<std::byte> all;
    for (auto piece = stream.next(); !piece.empty(); piece = stream.next()) {
        auto bytes = std::as_bytes(std::span(piece));
        array_elements(path.string(), {static_cast<std::int64_t>(all.size() + bytes.size())}, 1);
        all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
}

std::string line_limit_text(std::size_t bytes) {
    return bytes >> 20 > 0 ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} bytes", bytes);
}

LineReader::LineReader(const std::filesystem::path& path, std::size_t most_line_bytes)
    : LinePlace(path.string()), stream_(path), most_line_bytes_(most_line_bytes) {}

bool LineReader::next(std::string_view& line) {
    carried_.clear();
    bool any = false;
    for (;;) {
        if (rest_.empty()) rest_ = stream_.next();
        if (rest_.empty()) {
            if (!any) return false;
            line = carried_;
            break;
        }
        any = true;
        auto end = rest_.find('\n');
        if (end == rest_.npos) {
            if (carried_.size() > most_line_bytes_)
                throw DataError(fmt::format("{}:{}: a line of more than {}; expected text", path_,
                                            line_number_ + 1, line_limit_text(most_line_bytes_)));
            carried_ += rest_;
            rest_ = {};
            continue;
        }
        if (carried_.empty())
            line = rest_.substr(0, end);
        else
            line = carried_ += rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        break;
    }
    if (line_number_ == 0) line = text_beginning(line, path_);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++line_number_;
    return true;
}

std::string_view text_beginning(std::string_view begins, const std::string& file) {
    if (is_utf16(begins)) throw DataError(fmt::format("{}: {}", file, utf16_advice));
    return without_mark(begins);
}

std::string LinePlace::where() const { return fmt::format("{}:{}", path_, line_number_); }

void split_fields(std::string_view line, std::vector<std::string_view>& fields) {
    fields.clear();
    auto separates = [](char c) { return c == ' ' || c == '\t' || c == ',' || c == ';'; };
    std::size_t i = 0;
    while (i < line.size()) {
        while (i < line.size() && separates(line[i])) ++i;
        auto begin = i;
        while (i < line.size() && !separates(line[i])) ++i;
        if (i > begin) fields.push_back(line.substr(begin, i - begin));
    }
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == line.npos; }

std::string shown(std::string_view text) {
    return text.size() <= 40 ? std::string(text) : std::string(text.substr(0, 40)) + "…";
}

std::int64_t parse_integer(std::string_view text, std::int64_t least, std::int64_t most, const LinePlace& at,
                           std::string_view what) {
    std::int64_t number = 0;
    auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
    bool clean = bad == std::errc{} && end == text.data() + text.size();
    if (clean && number >= least && number <= most) return number;
    auto allowed = most == INT64_MAX ? fmt::format("from {} on", least) : fmt::format("{} to {}", least, most);
    throw DataError(
        fmt::format("{}: {} is '{}', allowed are whole numbers {}", at.where(), what, shown(text), allowed));
}

float parse_number(std::string_view text, const LinePlace& at, std::string_view what) {
    float number = 0;
    if (text.starts_with('+')) text.remove_prefix(1);
    auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (bad == std::errc::result_out_of_range) {  // 1e-50 of a double precision file is 0 here; 1e50 is too large
        double wide = 0;
        bad = std::from_chars(text.data(), text.data() + text.size(), wide).ec;
        number = std::abs(wide) < 1 ? static_cast<float>(wide) : std::numeric_limits<float>::infinity();
    }
    if (bad != std::errc{} || end != text.data() + text.size() || !std::isfinite(number))
        throw DataError(fmt::format("{}: {} is '{}', allowed are finite numbers", at.where(), what, shown(text)));
    return number;
}

}  // namespace gnnbench
