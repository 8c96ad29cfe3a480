#include <data/row_files.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t piece_bytes = 1 << 20;  // a multiple of every element's size

/// The elements of an .npy file that NpyWriter wrote, piece by piece.
class NpyPieces {
public:
    explicit NpyPieces(const fs::path& file)
        : file_(file), in_(file, std::ios::binary), buffer_(usize(std::min(size_of(file), piece_bytes))) {
        in_.seekg(detail::usual_head_bytes);
        if (!in_) fail();
    }
    /// Empty at the end.
    std::span<const std::byte> next() {
        in_.read(reinterpret_cast<char*>(buffer_.data()), static_cast<std::streamsize>(buffer_.size()));
        if (in_.bad()) fail();
        return std::span(buffer_).first(usize(in_.gcount()));
    }

private:
    /// More than its elements take: its head is not read.
    static std::uintmax_t size_of(const fs::path& file) {
        std::error_code unreadable;  // as reading it will show
        return fs::file_size(file, unreadable);
    }
    [[noreturn]] void fail() const {
        throw EnvironmentError(fmt::format("cannot read {}, which was just written", file_.string()));
    }

    fs::path file_;
    std::ifstream in_;
    std::vector<std::byte> buffer_;
};

/// The same, one by one.
template <class T>
class NpyElements {
public:
    explicit NpyElements(const fs::path& file) : pieces_(file) {}
    /// Nothing at the end.
    std::optional<T> next() {
        if (piece_.empty()) piece_ = pieces_.next();
        if (piece_.empty()) return std::nullopt;
        T value;
        std::memcpy(&value, piece_.data(), sizeof value);
        piece_ = piece_.subspan(sizeof value);
        return value;
    }

private:
    NpyPieces pieces_;
    std::span<const std::byte> piece_;
};

/// Calls same(a, b) on pieces of two files of the same size until one is false.
template <class Same>
bool same_files(const fs::path& a, const fs::path& b, Same same) {
    NpyPieces left(a), right(b);
    for (;;) {
        const auto l = left.next(), r = right.next();
        if (l.size() != r.size()) return false;
        if (l.empty()) return true;
        if (!same(l, r)) return false;
    }
}

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
    return std::memcmp(a.data(), b.data(), a.size()) == 0;
}

/// As numbers, of which 0 and -0 are the same.
bool same_floats(std::span<const std::byte> a, std::span<const std::byte> b) {
    for (std::size_t i = 0; i < a.size(); i += sizeof(float)) {
        float x, y;
        std::memcpy(&x, a.data() + i, sizeof x);
        std::memcpy(&y, b.data() + i, sizeof y);
        if (x != y) return false;
    }
    return true;
}

}  // namespace

RowFiles::RowFiles(fs::path folder, const RowFileNames& names, std::int64_t rows, bool weighted)
    : folder_(std::move(folder)),
      names_(names),
      rows_(rows),
      indptr_(folder_ / names.indptr),
      indices_(folder_ / names.indices) {
    if (!weighted) return;
    weights_.emplace(folder_ / names.weights);
    sums_.emplace(folder_ / names.sums);
}

void RowFiles::begin_row(std::int64_t row) {
    while (begun_ < row) {
        if (begun_ >= 0 && sums_) sums_->add(std::exchange(sum_, 0.0));
        ++begun_;
        indptr_.add(indices_.count());
    }
}

void RowFiles::add(std::int32_t row, std::int32_t column, float weight) {
    begin_row(row);
    indices_.add(column);
    if (!weights_) return;
    weights_->add(weight);
    sum_ += double{weight};
}

void RowFiles::close() {
    begin_row(rows_);  // the one past the last: where that ends
    indptr_.close({rows_ + 1});
    const bool none = entries() == 0;
    indices_.close({indices_.count()});
    if (!weights_) return;
    weights_->close({weights_->count()});
    sums_->close({rows_});
    if (none) {
        fs::remove(folder_ / names_.weights);
        fs::remove(folder_ / names_.sums);
    }
}

void RowFiles::remove(const fs::path& folder, const RowFileNames& names) {
    for (const char* name : {names.indptr, names.indices, names.weights, names.sums}) fs::remove(folder / name);
}

Symmetry compare_row_files(const fs::path& folder, bool weighted) {
    const RowFileNames &r = row_file_names, &c = column_file_names;
    Symmetry found;
    found.pattern = same_files(folder / r.indptr, folder / c.indptr, same_bytes) &&
                    same_files(folder / r.indices, folder / c.indices, same_bytes);
    found.weights =
        found.pattern && (!weighted || same_files(folder / r.weights, folder / c.weights, same_floats));
    return found;
}

void each_row_degree(const fs::path& folder, const std::function<void(std::int64_t)>& take) {
    NpyElements<std::int64_t> starts(folder / row_file_names.indptr);
    NpyElements<std::int32_t> columns(folder / row_file_names.indices);
    std::int64_t begin = starts.next().value_or(0);
    std::int32_t row = 0;
    for (auto end = starts.next(); end; end = starts.next(), ++row) {
        std::int64_t degree = *end - begin;
        for (; begin < *end; ++begin) degree -= columns.next() == row ? 1 : 0;
        take(degree);
    }
}

void each_npy_piece(const fs::path& file, const std::function<void(std::span<const std::byte>)>& take) {
    NpyPieces pieces(file);
    for (auto piece = pieces.next(); !piece.empty(); piece = pieces.next()) take(piece);
}

}  // namespace gnnbench
