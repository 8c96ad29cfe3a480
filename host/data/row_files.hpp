#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include <data/content.hpp>
#include <data/npy.hpp>

namespace gnnbench {

/// Where the arrays of a matrix' rows are in a store.
struct RowFileNames {
    const char *indptr, *indices, *weights, *sums;
};
inline constexpr RowFileNames row_file_names{"indptr.npy", "indices.npy", "weights.npy", "row_sums.npy"};
inline constexpr RowFileNames column_file_names{"transpose_indptr.npy", "transpose_indices.npy",
                                                "transpose_weights.npy", "column_sums.npy"};

/// Writes the rows of a square matrix entry by entry, in ascending order of (row, column), as a store has them.
class RowFiles {
public:
    RowFiles(std::filesystem::path folder, const RowFileNames& names, std::int64_t rows, bool weighted);
    void add(std::int32_t row, std::int32_t column, float weight);
    /// After the last entry. Matrices without entries have no weights.
    void close();
    std::int64_t entries() const { return indices_.count(); }
    /// Files that are not to be kept.
    static void remove(const std::filesystem::path& folder, const RowFileNames& names);

private:
    void begin_row(std::int64_t row);

    std::filesystem::path folder_;
    RowFileNames names_;
    std::int64_t rows_, begun_ = -1;  ///< the last row that was begun
    double sum_ = 0;                  ///< of its weights
    NpyWriter<std::int64_t> indptr_;
    NpyWriter<std::int32_t> indices_;
    std::optional<NpyWriter<float>> weights_;
    std::optional<NpyWriter<double>> sums_;
};

/// Whether the matrix whose rows and columns are written there equals its transpose. Reads the files a piece at a time.
Symmetry compare_row_files(const std::filesystem::path& folder, bool weighted);

/// take(d) for each row that is written there, in order: its number of entries but for that of the diagonal. Reads the files
/// a piece at a time.
void each_row_degree(const std::filesystem::path& folder, const std::function<void(std::int64_t)>& take);

/// An .npy file's elements from its beginning to its end, a piece at a time: take(bytes).
void each_npy_piece(const std::filesystem::path& file,
                    const std::function<void(std::span<const std::byte>)>& take);

}  // namespace gnnbench
