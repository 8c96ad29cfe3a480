#pragma once
#include <gnnbench/backend.hpp>
#include <gnnbench/matrix.hpp>

namespace gnnbench {

/// Σ_k s_k² + p_k² of each element of a product, p_k = a_ik b_kj its terms and s_k their partial sums: what its
/// roundings are of, in squares (perturbed_backend.hpp). On up to `threads` threads.
HostMatrix squares_of_spmm(const Csr& a, const HostMatrix& b, int threads);
HostMatrix squares_of_gemm(Transpose ta, const HostMatrix& a, Transpose tb, const HostMatrix& b, int threads);

}  // namespace gnnbench
