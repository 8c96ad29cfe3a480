#include "prepared.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <gnnbench/usize.hpp>

namespace gnnbench::cuda {

const char* name_of(Product p) {
    switch (p) {
        case Product::rows:
            return "rows";
        case Product::balanced:
            return "balanced";
        case Product::panels:
            return "panels";
        case Product::library_1:
            return "cusparse-alg1";
        case Product::library_2:
            return "cusparse-alg2";
        case Product::library_3:
            return "cusparse-alg3";
    }
    return "";
}

namespace {
/// Of an address, in bytes; wider loads than 16 bytes do not exist.
std::size_t alignment_of(const void* p) {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    return std::min<std::uintptr_t>(address & (~address + 1), 16);
}
}  // namespace

PlanKey::PlanKey(Product product, ConstMatrixView b, MatrixView c)
    : how(product),
      width(c.cols),
      ldb(b.ld),
      ldc(c.ld),
      b_alignment(alignment_of(b.data)),
      c_alignment(alignment_of(c.data)) {}

Product CudaMatrix::product(std::int64_t width) const {
    const auto distance = [&](std::int64_t w) {
        return std::abs(std::log(static_cast<double>(w) / static_cast<double>(width)));
    };
    Product best = usual;
    double nearest = std::numeric_limits<double>::infinity();
    for (const auto& [w, p] : tried)
        if (distance(w) < nearest) {
            nearest = distance(w);
            best = p;
        }
    return best;
}

CsrView CudaMatrix::attended() const {
    require(!only_used, "attention goes over all rows of a matrix (KernelSetting::heads)");
    return {.indptr = indptr.data(),
            .indices = indices.data(),
            .values = values.view().data,
            .rows = rows,
            .cols = cols,
            .nonzeros = nonzeros,
            .row_vertices = row_vertices.data(),
            .col_vertices = col_vertices.data()};
}

LibraryCsr CudaMatrix::for_library(DType dtype) const {
    return {rows, cols, nonzeros, narrow_indptr.data(), indices.data(), values.view().data, dtype};
}

std::unique_ptr<CudaMatrix> upload_matrix(const Csr& a, Backend& backend, UploadFor what) {
    auto m = std::make_unique<CudaMatrix>();
    m->rows = a.rows;
    m->cols = a.cols;
    m->nonzeros = a.nonzeros();
    m->only_used = what.only_used && rows_mostly_empty(a.indptr);
    const UsedRows used = m->only_used ? used_rows(a.indptr) : UsedRows();
    const std::vector<std::int64_t>& indptr = m->only_used ? used.indptr : a.indptr;
    m->indptr = backend.upload(std::span<const std::int64_t>(indptr));
    if (!used.row_at.empty()) m->row_at = backend.upload(std::span<const std::int32_t>(used.row_at));
    m->indices = backend.upload(std::span<const std::int32_t>(a.indices));
    m->values = backend.matrix(1, a.nonzeros());
    backend.upload(std::span<const double>(a.values), m->values);
    const auto upload_ids = [&](const std::vector<GlobalId>& vertices) {
        std::vector<std::int64_t> ids;
        for (const GlobalId v : vertices) ids.push_back(value(v));
        return ids.empty() ? Array<std::int64_t>() : backend.upload(std::span<const std::int64_t>(ids));
    };
    m->row_vertices = upload_ids(a.row_vertices);
    m->col_vertices = upload_ids(a.col_vertices);
    const RowLengths lengths = row_lengths(indptr);
    if (a.nonzeros() > 0 && (what.always_items || lengths.uneven())) {
        const WorkPlan plan = plan_work(indptr, lengths.split_after(), used.row_at);
        m->items = backend.upload(std::span<const WorkItem>(plan.items));
        if (!plan.split.empty()) m->split = backend.upload(std::span<const SplitRow>(plan.split));
        m->slots = plan.slots;
        m->usual = Product::balanced;
    }
    if (what.library && !m->only_used && a.nonzeros() > 0 &&
        a.nonzeros() < std::numeric_limits<std::int32_t>::max()) {
        const std::vector<std::int32_t> narrow(a.indptr.begin(), a.indptr.end());
        m->narrow_indptr = backend.upload(std::span<const std::int32_t>(narrow));
    }
    return m;
}

Csr transpose_of(const Csr& a) {
    Csr t;
    t.rows = a.cols;
    t.cols = a.rows;
    t.indptr.assign(usize(t.rows) + 1, 0);
    for (const std::int32_t column : a.indices) ++t.indptr[usize(column) + 1];
    std::partial_sum(t.indptr.begin(), t.indptr.end(), t.indptr.begin());
    std::vector<std::int64_t> next(t.indptr.begin(), t.indptr.end() - 1);
    t.indices.resize(a.indices.size());
    t.values.resize(a.values.size());
    for (std::int64_t row = 0; row < a.rows; ++row)
        for (auto p = usize(a.indptr[usize(row)]); p < usize(a.indptr[usize(row) + 1]); ++p) {
            const auto to = usize(next[usize(a.indices[p])]++);
            t.indices[to] = static_cast<std::int32_t>(row);
            t.values[to] = a.values[p];
        }
    return t;
}

bool is_symmetric(const Csr& a, const Csr& t) {
    return a.rows == a.cols && a.indptr == t.indptr && a.indices == t.indices && a.values == t.values;
}

}  // namespace gnnbench::cuda
