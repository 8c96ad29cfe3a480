#include "sampled_columns.hpp"

#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::bns {

SampledColumns::SampledColumns(std::int64_t rows, const Csr& boundaries, std::int64_t columns,
                               std::int64_t nonzeros, Backend& backend)
    : backend_(backend), rows_(rows), by_column_(transposed(boundaries)) {
    forward_ = allocate(rows_, nonzeros);
    backward_ = allocate(columns, nonzeros);
    if (boundaries.row_vertices.empty()) return;
    std::vector<std::int64_t> ids;
    for (const GlobalId v : boundaries.row_vertices) ids.push_back(value(v));
    row_vertices_ = backend.upload(std::span<const std::int64_t>(ids));
    chosen_vertices_ = backend.upload(std::span<const std::int64_t>(std::vector<std::int64_t>(usize(columns))));
}

SampledColumns::OnDevice SampledColumns::allocate(std::int64_t rows, std::int64_t nonzeros) {
    const std::vector<std::int64_t> indptr(usize(rows) + 1);
    const std::vector<std::int32_t> indices(usize(nonzeros));
    return {backend_.upload(std::span<const std::int64_t>(indptr)),
            backend_.upload(std::span<const std::int32_t>(indices)), backend_.matrix(1, nonzeros)};
}

void SampledColumns::choose(std::span<const std::int32_t> columns, std::span<const double> scales,
                            bool transposed) {
    chosen_ = std::ssize(columns);
    Csr &rows = by_rows_, &cols = by_columns_;
    cols.indptr.assign(1, 0);
    cols.indices.clear();
    cols.values.clear();
    rows.indptr.assign(usize(rows_) + 1, 0);
    for (std::size_t k = 0; k < columns.size(); ++k) {
        const auto c = usize(columns[k]);
        for (auto e = usize(by_column_.indptr[c]); e < usize(by_column_.indptr[c + 1]); ++e) {
            cols.indices.push_back(by_column_.indices[e]);
            cols.values.push_back(by_column_.values[e] * scales[k]);
            ++rows.indptr[usize(by_column_.indices[e]) + 1];
        }
        cols.indptr.push_back(cols.nonzeros());
    }
    for (std::size_t r = 1; r < rows.indptr.size(); ++r) rows.indptr[r] += rows.indptr[r - 1];
    rows.indices.resize(cols.indices.size());
    rows.values.resize(cols.values.size());
    // Columns come in ascending order, so each row's do. While it fills, indptr[r] is the next free place of row r.
    for (std::size_t k = 0; k < columns.size(); ++k)
        for (auto e = usize(cols.indptr[k]); e < usize(cols.indptr[k + 1]); ++e) {
            const auto place = usize(rows.indptr[usize(cols.indices[e])]++);
            rows.indices[place] = static_cast<std::int32_t>(k);
            rows.values[place] = cols.values[e];
        }
    for (std::size_t r = rows.indptr.size() - 1; r > 0; --r) rows.indptr[r] = rows.indptr[r - 1];
    rows.indptr[0] = 0;
    upload(rows, forward_);
    if (transposed) upload(cols, backward_);
    if (chosen_vertices_.size() == 0) return;
    choice_.clear();
    for (const std::int32_t c : columns) choice_.push_back(value(by_column_.row_vertices[usize(c)]));
    backend_.upload_bytes(choice_.data(), chosen_vertices_.data(), choice_.size() * sizeof(std::int64_t));
}

void SampledColumns::upload(const Csr& a, OnDevice& to) {
    require(a.nonzeros() <= to.indices.size(), "a choice of columns has more nonzeros than there is space for");
    backend_.upload_bytes(a.indptr.data(), to.indptr.data(), a.indptr.size() * sizeof(std::int64_t));
    backend_.upload_bytes(a.indices.data(), to.indices.data(), a.indices.size() * sizeof(std::int32_t));
    backend_.upload(std::span<const double>(a.values), to.values.view().cols_from(0, a.nonzeros()));
}

}  // namespace gnnbench::bns
