#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace gnnbench {

/// The number of elements of an array whose extents come from a file or a user: their checked product. Code that
/// allocates by such numbers takes the size from here, so that no product overflows and no file requests more than
/// the machine has. Throws DataError if an extent is negative or the product does not fit 63 bits, EnvironmentError
/// if elements of `element_bytes` each need more than this machine's memory. `where` begins the message: a file, and
/// what the array is.
std::size_t array_elements(const std::string& where, std::initializer_list<std::int64_t> extents,
                           std::size_t element_bytes);

/// Bytes of this machine's memory.
std::uint64_t machine_memory_bytes();

}  // namespace gnnbench
