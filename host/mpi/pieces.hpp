#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

/// The most bytes that one MPI call moves, of a gather or scatter those of all ranks together; what is larger is cut.
/// MPI's counts are int, and Open MPI 4 adds up those of a collective in int, so half of what fits is the limit. All
/// ranks have the same. The environment's GNNBENCH_MPI_PIECE_BYTES lowers it, for tests: at least 8.
inline std::int64_t mpi_piece_bytes() {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    const char* const set = std::getenv("GNNBENCH_MPI_PIECE_BYTES");
    if (!set) return most;
    const std::string_view text = set;
    std::int64_t bytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error != std::errc() || end != text.data() + text.size() || bytes < 8 || bytes > most)
        throw EnvironmentError("GNNBENCH_MPI_PIECE_BYTES is \"" + std::string(text) + "\"; allowed: 8 to " +
                               std::to_string(most));
    return bytes;
}

/// Calls call(first, count) for consecutive pieces of {0 … elements − 1}, each of at most `piece_bytes`.
void for_mpi_pieces(std::int64_t elements, std::int64_t element_bytes, std::int64_t piece_bytes, auto&& call) {
    const std::int64_t piece = std::max<std::int64_t>(1, piece_bytes / element_bytes);
    for (std::int64_t first = 0; first < elements; first += piece)
        call(first, static_cast<int>(std::min(piece, elements - first)));
}

}  // namespace gnnbench
