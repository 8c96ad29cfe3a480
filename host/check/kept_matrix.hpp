#pragma once
#include <memory>

#include <gnnbench/backend.hpp>

namespace gnnbench {

/// A matrix that a back end under test prepared, and the matrix that it was prepared from.
struct KeptMatrix final : PreparedMatrix {
    std::unique_ptr<PreparedMatrix> prepared;
    Csr csr, transpose;  ///< the latter where its products are wanted
};

}  // namespace gnnbench
