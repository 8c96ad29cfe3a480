#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <gnnbench/backend.hpp>

namespace gnnbench::bns {

/// Some columns of a sparse matrix M [n × m], chosen anew every epoch, and their transpose: what a sampled boundary is
/// multiplied by. The host keeps Mᵀ; the device has space for a choice.
class SampledColumns {
public:
    /// `boundaries`: M, the columns of all boundaries side by side. A choice has at most `columns` columns with `nonzeros`
    /// nonzeros in all.
    SampledColumns(std::int64_t rows, const Csr& boundaries, std::int64_t columns, std::int64_t nonzeros,
                   Backend& backend);

    /// Takes `columns` of M, ascending, column c times scales[c], in place of the last choice. `transposed`: for
    /// backward(), too.
    void choose(std::span<const std::int32_t> columns, std::span<const double> scales, bool transposed);

    CsrView forward() const {
        return {.indptr = forward_.indptr.data(),
                .indices = forward_.indices.data(),
                .values = forward_.values.view().data,
                .rows = rows_,
                .cols = chosen_,
                .nonzeros = by_rows_.nonzeros(),
                .row_vertices = row_vertices_.data(),
                .col_vertices = chosen_vertices_.data()};
    }
    CsrView backward() const {
        return {.indptr = backward_.indptr.data(),
                .indices = backward_.indices.data(),
                .values = backward_.values.view().data,
                .rows = chosen_,
                .cols = rows_,
                .nonzeros = by_columns_.nonzeros(),
                .row_vertices = chosen_vertices_.data(),
                .col_vertices = row_vertices_.data()};
    }

private:
    struct OnDevice {
        Array<std::int64_t> indptr;
        Array<std::int32_t> indices;
        Matrix values;  ///< [1 × nonzeros]
    };
    OnDevice allocate(std::int64_t rows, std::int64_t nonzeros);
    void upload(const Csr& a, OnDevice& to);

    Backend& backend_;
    std::int64_t rows_, chosen_ = 0;
    Csr by_column_;             ///< Mᵀ
    Csr by_rows_, by_columns_;  ///< the choice, before it is uploaded
    OnDevice forward_, backward_;
    Array<std::int64_t> row_vertices_, chosen_vertices_;  ///< original ids, where M has them
    std::vector<std::int64_t> choice_;                    ///< chosen_vertices_, before they are uploaded
};

}  // namespace gnnbench::bns
