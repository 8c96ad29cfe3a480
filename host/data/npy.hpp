#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/matrix.hpp>
#include <gnnbench/usize.hpp>

#include <data/file.hpp>

namespace gnnbench {

/// The header of a NumPy .npy file (format 1, 2 or 3).
struct NpyHeader {
    std::string descr;                ///< NumPy's type string: "<f4", "|b1", "<U7"
    bool fortran_order = false;       ///< first index varies fastest
    std::vector<std::int64_t> shape;  ///< empty: one scalar
    std::size_t data_offset = 0;      ///< bytes from the file's beginning to the first element

    std::int64_t elements() const;
    std::size_t item_bytes() const;  ///< of one element; 0 where the type has no size
};

/// Bytes before the first element of a .npy file of which this is the beginning; 0 where it is too short to tell.
std::size_t npy_data_offset(std::span<const std::byte> begun);

/// `where` names the file in errors. Throws DataError if this is not a .npy header.
NpyHeader parse_npy_header(std::span<const std::byte> file, const std::string& where);

/// NumPy's type string of T.
template <class T>
constexpr const char* npy_descr = nullptr;
template <>
inline constexpr const char* npy_descr<float> = "<f4";
template <>
inline constexpr const char* npy_descr<double> = "<f8";
template <>
inline constexpr const char* npy_descr<std::int32_t> = "<i4";
template <>
inline constexpr const char* npy_descr<std::int64_t> = "<i8";
template <>
inline constexpr const char* npy_descr<std::uint8_t> = "|u1";
template <>
inline constexpr const char* npy_descr<Split> = "|u1";

namespace detail {
/// Parses the header and checks type, order (rows first) and file size.
NpyHeader checked_header(const MappedFile& file, const std::string& where, const char* descr);
void write_npy_bytes(const std::filesystem::path& path, const char* descr, std::span<const std::byte> values,
                     std::span<const std::int64_t> shape);
/// All that comes before the elements, which is so long for arrays of one or two dimensions.
inline constexpr std::size_t usual_head_bytes = 128;
std::string usual_npy_head(const char* descr, std::span<const std::int64_t> shape);
}  // namespace detail

/// An .npy file of element type T, mapped read-only: row-major, of any shape.
template <class T>
class MappedArray {
public:
    MappedArray() = default;
    explicit MappedArray(const std::filesystem::path& path) : file_(path) {
        header_ = detail::checked_header(file_, path.string(), npy_descr<T>);
    }
    std::span<const T> values() const {
        if (header_.elements() == 0 || file_.bytes().empty()) return {};
        auto first = reinterpret_cast<const T*>(file_.bytes().data() + header_.data_offset);
        return {first, usize(header_.elements())};
    }
    const std::vector<std::int64_t>& shape() const { return header_.shape; }

private:
    MappedFile file_;
    NpyHeader header_{.descr = {}, .shape = {0}};
};

/// An array that is written from its beginning, of a length that shows at its end.
template <class T>
class NpyWriter {
public:
    explicit NpyWriter(const std::filesystem::path& path) : file_(path) {
        file_.write(std::string(detail::usual_head_bytes, ' '));
    }
    void add(T value) {
        buffer_.push_back(value);
        if (buffer_.size() == buffered) flush();
    }
    void add(std::span<const T> values) {
        flush();
        file_.write(std::as_bytes(values));
        count_ += static_cast<std::int64_t>(values.size());
    }
    std::int64_t count() const { return count_ + static_cast<std::int64_t>(buffer_.size()); }
    /// The shape's product is count().
    void close(std::vector<std::int64_t> shape) {
        flush();
        file_.rewrite_beginning(detail::usual_npy_head(npy_descr<T>, shape));
        file_.close();
    }

private:
    static constexpr std::size_t buffered = std::size_t{1} << 16;
    void flush() {
        if (buffer_.empty()) return;
        file_.write(std::as_bytes(std::span(std::as_const(buffer_))));
        count_ += static_cast<std::int64_t>(buffer_.size());
        buffer_.clear();
    }

    OutputFile file_;
    std::vector<T> buffer_;
    std::int64_t count_ = 0;  ///< in the file
};

/// Writes `values`, row-major, with the given shape (its product is the number of values).
template <class T>
void write_npy(const std::filesystem::path& path, std::span<const T> values, std::vector<std::int64_t> shape) {
    detail::write_npy_bytes(path, npy_descr<T>, std::as_bytes(values), shape);
}

/// A float32 or float64 array of one or two dimensions; one dimension reads as a single row.
HostMatrix read_matrix_npy(const std::filesystem::path& path);
void write_matrix_npy(const std::filesystem::path& path, const HostMatrix& matrix, DType type = DType::f64);

/// An .npy file of any number type, wherever its bytes are (a member of an .npz, for one).
class NpyArray {
public:
    NpyArray(std::vector<std::byte> file, std::string where);
    /// Elements without a header in front of them.
    NpyArray(NpyHeader header, std::vector<std::byte> elements, std::string where);
    const NpyHeader& header() const { return header_; }
    const std::vector<std::int64_t>& shape() const { return header_.shape; }
    /// The elements as T in row-major order. Throws DataError for a value that does not fit, or is not a number.
    template <class T>
    std::vector<T> as() const;
    /// The one text that it holds (types S and U), if all its characters are ASCII. Throws DataError otherwise.
    std::string text() const;

private:
    std::vector<std::byte> file_;
    std::string where_;
    NpyHeader header_;
};

}  // namespace gnnbench
