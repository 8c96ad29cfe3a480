#pragma once
#include <cstdint>

#include <gnnbench/matrix.hpp>

/// Matrices [rows × cols] to multiply by, the same everywhere: columns in no order, values of a quarter.
namespace gnnbench {

/// Rows of so many nonzeros.
Csr uniform(std::int64_t rows, std::int64_t cols, std::int64_t of_row);
/// From none to twice the mean, each as often.
Csr of_many_lengths(std::int64_t rows, std::int64_t cols, std::int64_t mean);

}  // namespace gnnbench
