#pragma once
#include <memory>

#include <gnnbench/kernel.hpp>

#include "cpu_kernel.hpp"
#include "spmm.hpp"

namespace gnnbench::cpu {

/// A prepared matrix that multiplies itself.
class CpuPrepared : public PreparedMatrix {
public:
    virtual void multiply(const DenseSide& d, int threads, Workspace& workspace) const = 0;
};

std::unique_ptr<CpuPrepared> prepare_matrix(const Csr& a, FormatChoice choice, int threads);

}  // namespace gnnbench::cpu
