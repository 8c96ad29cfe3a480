#include "prepared.hpp"

#include <algorithm>

#include "memory.hpp"
#include "threads.hpp"

namespace gnnbench::cpu {
namespace {

class RowsMatrix final : public CpuPrepared {
public:
    RowsMatrix(const Csr& a, int threads)
        : indptr_(a.indptr.size()), indices_(a.indices.size()), values_(a.values.size()) {
        std::copy(a.indptr.begin(), a.indptr.end(), indptr_.data());
        parallel_ranges(threads, a.nonzeros(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
            std::copy(a.indices.begin() + begin, a.indices.begin() + end, indices_.data() + begin);
            std::transform(a.values.begin() + begin, a.values.begin() + end, values_.data() + begin,
                           [](double v) { return static_cast<float>(v); });
        });
        csr_ = {indptr_.data(), indices_.data(), values_.data(), a.rows, a.cols};
        format = "csr";
    }

    void multiply(const DenseSide& d, int threads) const override { spmm_by_rows(csr_, d, threads); }

private:
    HostArray<std::int64_t> indptr_;
    HostArray<std::int32_t> indices_;
    HostArray<float> values_;
    FlatCsr csr_;
};

}  // namespace

std::unique_ptr<CpuPrepared> prepare_matrix(const Csr& a, FormatChoice, int threads) {
    return std::make_unique<RowsMatrix>(a, threads);
}

}  // namespace gnnbench::cpu
