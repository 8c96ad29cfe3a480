#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include <data/text_input.hpp>

namespace gnnbench {

/// Comma-separated values without a header, compressed or not: every row has the same number of fields. Blank lines are
/// passed over; quotes around a field are not part of it.
class CsvReader {
public:
    /// `columns` 0: as many as the first row has, at most `most_columns`.
    explicit CsvReader(const std::filesystem::path& path, std::size_t columns = 0)
        : reader_(path), columns_(columns) {}
    /// The next row; valid until the next call. False at the end.
    bool next(std::vector<std::string_view>& fields);

    std::size_t columns() const { return columns_; }  ///< 0 before the first row
    std::int64_t rows() const { return rows_; }       ///< read so far
    const LineReader& at() const { return reader_; }

    static constexpr std::size_t most_columns = 1'000'000;

private:
    LineReader reader_;
    std::size_t columns_;
    std::int64_t rows_ = 0;
};

}  // namespace gnnbench
