#include <gnnbench/transpose.hpp>

#include <algorithm>
#include <numeric>

#include <gnnbench/usize.hpp>

namespace gnnbench {

RowArrays transpose_of(const CompressedRows& rows) {
    RowArrays t;
    t.indptr.assign(std::max<std::size_t>(rows.indptr.size(), 1), 0);
    for (const std::int32_t j : rows.indices) ++t.indptr[usize(j) + 1];
    std::partial_sum(t.indptr.begin(), t.indptr.end(), t.indptr.begin());
    t.indices.resize(rows.indices.size());
    t.weights.resize(rows.weights.size());
    std::vector<std::int64_t> next(t.indptr.begin(), t.indptr.end() - 1);
    for (std::size_t v = 0; v + 1 < rows.indptr.size(); ++v)
        for (auto e = usize(rows.indptr[v]); e < usize(rows.indptr[v + 1]); ++e) {
            const auto at = usize(next[usize(rows.indices[e])]++);
            t.indices[at] = static_cast<std::int32_t>(v);
            if (!rows.weights.empty()) t.weights[at] = rows.weights[e];
        }
    return t;
}

WithTranspose::WithTranspose(const GraphView& graph) : view_(graph) {
    if (!graph.columns().indptr.empty()) return;
    own_ = transpose_of(graph.rows());
    view_.transpose = own_.view();
}

}  // namespace gnnbench
