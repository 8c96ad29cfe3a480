#pragma once
#include <filesystem>

#include <data/manifest.hpp>
#include <data/npy.hpp>
#include <data/raw_dataset.hpp>
#include <data/store_tiles.hpp>

namespace gnnbench {

/// A dataset on disk: a folder of .npy arrays and a manifest.json, memory-mapped. See README.md.
class Store {
public:
    /// Validates manifest, types, shapes and sizes; throws DataError. Of the arrays it only reads the row
    /// pointers' ends, so that it is fast on large graphs. For ranks, which check the blocks that they read
    /// (check_blocks); all others go through open_checked (checked_store.hpp).
    static Store open(const std::filesystem::path& folder);

    /// Valid as long as the store lives. Throws SpecError where there is no such split.
    DatasetView view(int split = 0) const;
    const Manifest& manifest() const { return manifest_; }
    const std::filesystem::path& path() const { return path_; }

    /// Reads everything: throws DataError naming array, vertex and column of the first invalid value,
    /// or where the content is not what the manifest's digest says, flags, transpose or tiles are not those of the rows,
    /// or blocks not those of the checksums.
    void check() const;

private:
    void check_flags() const;
    void check_columns() const;
    void check_checksums() const;

    std::filesystem::path path_;
    Manifest manifest_;
    MappedArray<std::int64_t> indptr_;
    MappedArray<std::int32_t> indices_;
    MappedArray<float> weights_;
    struct {
        MappedArray<std::int64_t> indptr;
        MappedArray<std::int32_t> indices;
        MappedArray<float> weights;
    } transpose_;
    StoreTiles tiles_;
    MappedArray<double> row_sums_, column_sums_;
    MappedArray<float> features_;
    MappedArray<std::int32_t> labels_;
    MappedArray<std::uint8_t> label_matrix_;
    MappedArray<Split> masks_;
};

/// Writes a store, complete or not at all: into a hidden folder beside `folder`, which is then renamed.
/// Replaces an existing store. Throws DataError if the data is invalid (see check_content),
/// EnvironmentError if writing fails.
Manifest write_store(const std::filesystem::path& folder, const RawDataset& data);

}  // namespace gnnbench
