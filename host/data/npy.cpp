#include <data/npy.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

static_assert(std::endian::native == std::endian::little, "arrays are stored little-endian");

namespace {

constexpr std::string_view magic = "\x93NUMPY";

/// The header is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. This reads
/// the value after `key` up to where its kind ends.
std::optional<std::string_view> after_key(std::string_view text, std::string_view key) {
    auto at = text.find(fmt::format("'{}'", key));
    if (at == text.npos) return std::nullopt;
    at = text.find_first_not_of(": ", at + key.size() + 2);
    if (at == text.npos) return std::nullopt;
    return text.substr(at);
}

std::optional<std::vector<std::int64_t>> parse_shape(std::string_view text) {
    if (text.empty() || text.front() != '(') return std::nullopt;
    auto end = text.find(')');
    if (end == text.npos) return std::nullopt;
    std::vector<std::int64_t> shape;
    for (const char *p = text.data() + 1, *last = text.data() + end; p < last;) {
        if (*p == ' ' || *p == ',') {
            ++p;
            continue;
        }
        std::int64_t extent = 0;
        auto [rest, bad] = std::from_chars(p, last, extent);
        if (bad != std::errc{} || extent < 0) return std::nullopt;
        shape.push_back(extent);
        p = rest;
    }
    return shape;
}

void check_size(const NpyHeader& header, std::size_t file_bytes, const std::string& where) {
    // Division, so that no shape however large overflows.
    auto there = file_bytes - header.data_offset, item = std::max<std::size_t>(header.item_bytes(), 1);
    // An array without elements takes no bytes, and so would bound none of its extents.
    if (std::ranges::any_of(header.shape, [](auto extent) { return extent > INT32_MAX; }) &&
        header.elements() == 0)
        throw DataError(fmt::format("{}: its header promises an array of shape ({}), which holds nothing", where,
                                    fmt::join(header.shape, ", ")));
    if (usize(header.elements()) > there / item)
        throw DataError(
            fmt::format("{}: its header states an array of shape ({}) and type '{}', but there are only {} "
                        "bytes; it was truncated: write it again",
                        where, fmt::join(header.shape, ", "), header.descr, there));
}

}  // namespace

std::int64_t NpyHeader::elements() const {
    std::int64_t count = 1;
    // As if no extent were zero: a product may not wrap on the way there.
    bool empty = false;
    for (auto extent : shape) {
        empty = empty || extent == 0;
        if (__builtin_mul_overflow(count, extent == 0 ? 1 : extent, &count))
            throw DataError("an .npy shape is too large");
    }
    return empty ? 0 : count;
}

// The number that ends the type string; four bytes for each character of "U".
std::size_t NpyHeader::item_bytes() const {
    std::uint32_t size = 0;
    if (descr.size() > 2) std::from_chars(descr.data() + 2, descr.data() + descr.size(), size);
    return descr.size() > 1 && descr[1] == 'U' ? std::size_t{4} * size : size;
}

std::size_t npy_data_offset(std::span<const std::byte> begun) {
    if (begun.size() < 12) return 0;
    std::size_t length_bytes = begun[6] == std::byte{1} ? 2 : 4, length = 0;
    std::memcpy(&length, begun.data() + 8, length_bytes);
    return 8 + length_bytes + length;
}

NpyHeader parse_npy_header(std::span<const std::byte> file, const std::string& where) {
    auto fail = [&](std::string_view finding) {
        return DataError(fmt::format("{}: expected a NumPy .npy file, found {}", where, finding));
    };
    std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
    if (text.size() < 12 || !text.starts_with(magic)) throw fail("no .npy signature at its beginning");
    const int version = static_cast<unsigned char>(text[6]);
    if (version < 1 || version > 3) throw fail(fmt::format("format version {} (1, 2 and 3 are known)", version));
    NpyHeader header;
    header.data_offset = npy_data_offset(file);
    if (header.data_offset > text.size()) throw fail("a header longer than the file");
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    text = text.substr(8 + length_bytes, header.data_offset - 8 - length_bytes);

    auto descr = after_key(text, "descr"), order = after_key(text, "fortran_order"),
         shape = after_key(text, "shape");
    if (!descr || !order || !shape) throw fail("a header without descr, fortran_order or shape");
    if (descr->front() != '\'') throw fail("a structured element type; expected plain numbers");
    header.descr = std::string(descr->substr(1, descr->find('\'', 1) - 1));
    if (header.descr.size() < 3 || header.descr.front() == '>')
        throw fail(fmt::format("element type '{}'; expected a little-endian type", header.descr));
    header.fortran_order = order->starts_with("True");
    auto extents = parse_shape(*shape);
    if (!extents) throw fail("a shape that is not a list of numbers");
    header.shape = *extents;
    return header;
}

namespace detail {

NpyHeader checked_header(const MappedFile& file, const std::string& where, const char* descr) {
    auto header = parse_npy_header(file.bytes(), where);
    if (header.descr != descr)
        throw DataError(fmt::format("{}: expected elements of type '{}', found '{}'", where, descr, header.descr));
    if (header.fortran_order && header.shape.size() > 1)
        throw DataError(
            fmt::format("{}: expected rows first (C order), found columns first; write it with "
                        "numpy.ascontiguousarray",
                        where));
    check_size(header, file.bytes().size(), where);
    if (header.data_offset % header.item_bytes() != 0)
        throw DataError(fmt::format("{}: its elements are not aligned to {} bytes; write it with numpy.save",
                                    where, header.item_bytes()));
    return header;
}

namespace {

std::string npy_head(const char* descr, std::span<const std::int64_t> shape) {
    auto extents = fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
    auto text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, extents);
    // Signature, version and length take 10 bytes; NumPy pads the whole with blanks to a multiple of 64.
    text.append(63 - (10 + text.size()) % 64, ' ');
    text.push_back('\n');
    auto length = static_cast<std::uint16_t>(text.size());
    std::string head(magic);
    head += {'\x01', '\x00', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
    return head + text;
}

}  // namespace

std::string usual_npy_head(const char* descr, std::span<const std::int64_t> shape) {
    std::string head = npy_head(descr, shape);
    require(head.size() == usual_head_bytes, "an array's head is longer than room was left for");
    return head;
}

void write_npy_bytes(const std::filesystem::path& path, const char* descr, std::span<const std::byte> values,
                     std::span<const std::int64_t> shape) {
    OutputFile out(path);
    out.write(npy_head(descr, shape));
    out.write(values);
    out.close();
}

}  // namespace detail

HostMatrix read_matrix_npy(const std::filesystem::path& path) {
    MappedFile file(path);
    auto bytes = file.bytes();
    NpyArray array(std::vector<std::byte>(bytes.begin(), bytes.end()), path.string());
    const auto& shape = array.shape();
    const auto& descr = array.header().descr;
    if (shape.empty() || shape.size() > 2 || (descr != "<f4" && descr != "<f8"))
        throw DataError(
            fmt::format("{}: expected a matrix or vector of float32 or float64, found type '{}' with {} "
                        "dimensions",
                        path.string(), descr, shape.size()));
    HostMatrix matrix;
    matrix.rows = shape.size() == 2 ? shape[0] : 1;
    matrix.cols = shape.back();
    matrix.values = array.as<double>();
    return matrix;
}

void write_matrix_npy(const std::filesystem::path& path, const HostMatrix& matrix, DType type) {
    if (type == DType::f64) return write_npy<double>(path, matrix.values, {matrix.rows, matrix.cols});
    std::vector<float> narrow(matrix.values.begin(), matrix.values.end());
    write_npy<float>(path, narrow, {matrix.rows, matrix.cols});
}

NpyArray::NpyArray(std::vector<std::byte> file, std::string where)
    : file_(std::move(file)), where_(std::move(where)) {
    header_ = parse_npy_header(file_, where_);
    check_size(header_, file_.size(), where_);
}

NpyArray::NpyArray(NpyHeader header, std::vector<std::byte> elements, std::string where)
    : file_(std::move(elements)), where_(std::move(where)), header_(std::move(header)) {
    header_.data_offset = 0;
    check_size(header_, file_.size(), where_);
}

namespace {

template <class T, class From>
std::vector<T> converted(std::span<const std::byte> data, const NpyHeader& header, const std::string& where) {
    // At most eight times the bytes that are there (check_size), as their elements may become wider.
    auto count = array_elements(where, {header.elements()}, sizeof(T));
    std::vector<T> out(count);
    auto element = [&](std::size_t i) {
        From value;
        std::memcpy(&value, data.data() + i * sizeof(From), sizeof(From));
        if constexpr (std::is_integral_v<T>) {
            bool fits;
            if constexpr (std::is_integral_v<From>)
                fits = std::in_range<T>(value);
            else
                fits = value > From(-0x1p62) && value < From(0x1p62) &&
                       value == static_cast<From>(static_cast<std::int64_t>(value)) &&
                       std::in_range<T>(static_cast<std::int64_t>(value));
            if (!fits)
                throw DataError(fmt::format("{}: value {} does not fit; integers up to {} are allowed", where,
                                            value, std::numeric_limits<T>::max()));
        }
        return static_cast<T>(value);
    };
    if (!header.fortran_order || header.shape.size() < 2 || count == 0) {  // many rows may be empty
        for (std::size_t i = 0; i < count; ++i) out[i] = element(i);
        return out;
    }
    if (header.shape.size() > 2)
        throw DataError(fmt::format("{}: an array of {} dimensions in column order is not supported", where,
                                    header.shape.size()));
    auto rows = usize(header.shape[0]), cols = usize(header.shape[1]);
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < cols; ++c) out[r * cols + c] = element(c * rows + r);
    return out;
}

}  // namespace

template <class T>
std::vector<T> NpyArray::as() const {
    auto data = std::span(file_).subspan(header_.data_offset);
    auto type = std::string_view(header_.descr).substr(1);
    if (type == "f4") return converted<T, float>(data, header_, where_);
    if (type == "f8") return converted<T, double>(data, header_, where_);
    if (type == "i8") return converted<T, std::int64_t>(data, header_, where_);
    if (type == "i4") return converted<T, std::int32_t>(data, header_, where_);
    if (type == "i2") return converted<T, std::int16_t>(data, header_, where_);
    if (type == "i1") return converted<T, signed char>(data, header_, where_);
    if (type == "u8") return converted<T, std::uint64_t>(data, header_, where_);
    if (type == "u4") return converted<T, std::uint32_t>(data, header_, where_);
    if (type == "u2") return converted<T, std::uint16_t>(data, header_, where_);
    if (type == "u1" || type == "b1") return converted<T, unsigned char>(data, header_, where_);
    throw DataError(fmt::format("{}: expected numbers, found elements of type '{}'", where_, header_.descr));
}

std::string NpyArray::text() const {
    const char kind = header_.descr[1];
    if ((kind != 'S' && kind != 'U') || header_.elements() != 1)
        throw DataError(fmt::format("{}: expected one text, found {} elements of type '{}'", where_,
                                    header_.elements(), header_.descr));
    const std::size_t width = kind == 'U' ? 4 : 1;
    std::string text;
    for (std::size_t at = header_.data_offset; at < header_.data_offset + header_.item_bytes(); at += width) {
        std::uint32_t character = 0;
        std::memcpy(&character, file_.data() + at, width);
        if (character >= 128) throw DataError(fmt::format("{}: expected a text in ASCII", where_));
        if (character != 0) text += static_cast<char>(character);  // it is padded with zeros
    }
    return text;
}

template std::vector<float> NpyArray::as<float>() const;
template std::vector<double> NpyArray::as<double>() const;
template std::vector<std::int32_t> NpyArray::as<std::int32_t>() const;
template std::vector<std::int64_t> NpyArray::as<std::int64_t>() const;
template std::vector<std::uint8_t> NpyArray::as<std::uint8_t>() const;

}  // namespace gnnbench
