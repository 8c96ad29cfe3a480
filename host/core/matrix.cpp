#include <gnnbench/matrix.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gnnbench {

std::uint64_t hash_of_pattern(const Csr& a) {
    const std::uint64_t rows = XXH3_64bits(a.indptr.data(), a.indptr.size() * sizeof a.indptr[0]);
    return XXH3_64bits_withSeed(a.indices.data(), a.indices.size() * sizeof a.indices[0], rows);
}

}  // namespace gnnbench
