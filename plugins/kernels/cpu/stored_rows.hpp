#pragma once
#include <algorithm>

#include <gnnbench/matrix.hpp>

#include "memory.hpp"
#include "spmm.hpp"
#include "threads.hpp"

namespace gnnbench::cpu {

/// A copy of a matrix in compressed rows, values as T.
template <class T>
struct StoredRows {
    HostArray<std::int64_t> indptr;
    HostArray<std::int32_t> indices;
    HostArray<T> values;
    FlatCsr<T> csr;

    StoredRows(const Csr& a, int threads)
        : indptr(a.indptr.size()), indices(a.indices.size()), values(a.values.size()) {
        std::copy(a.indptr.begin(), a.indptr.end(), indptr.data());
        parallel_ranges(threads, a.nonzeros(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
            std::copy(a.indices.begin() + begin, a.indices.begin() + end, indices.data() + begin);
            std::transform(a.values.begin() + begin, a.values.begin() + end, values.data() + begin,
                           [](double v) { return static_cast<T>(v); });
        });
        csr = {{indptr.data(), indices.data(), a.rows, a.cols}, values.data()};
    }
};

}  // namespace gnnbench::cpu
