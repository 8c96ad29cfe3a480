#pragma once
#include <vector>

#include "partitioned.hpp"

namespace gnnbench::hypergraph {

/// What is lowered once connectivity−1 has been.
enum class Sending {
    max_volume,  ///< the most vertices' features that one part sends: max over parts p of Σ (λ(e) − 1), e owned by p
    messages,  ///< the pairs of parts (p, q) of which p sends to q, nets owned by p that q meets; in each product
};

struct SendingLimits {
    Weight part_weight;         ///< what a part may weigh
    double more_volume = 0.05;  ///< by which share connectivity−1 may rise
};

/// How many parts `messages` takes: a count is kept for each pair.
inline constexpr PartId most_parts_for_messages = 8192;

/// Moves vertices at the parts' boundaries so that the objective falls, by greedy passes over a smooth stand-in for
/// it (sending.cpp): the volume-balanced refinement that S. Acer, O. Selvitopi and C. Aykanat, "Improving performance
/// of sparse matrix dense matrix multiplication on large-scale parallel systems", Parallel Computing 59 (2016), aim
/// at. The partition is of separate_product_nets(), whose nets weigh 1 and have their `column`. Afterwards the objective is not higher,
/// connectivity−1 is within the limit, and no part is heavier than the limit or than it was. Deterministic.
/// `messages` takes at most most_parts_for_messages parts.
void lower_sending(Partitioned& partition, Sending objective, const SendingLimits& limits);

/// Σ (λ(e) − 1) over the nets that each part owns: length parts.
std::vector<std::int64_t> volume_sent(const Partitioned& partition);

/// Pairs of parts (p, q), p ≠ q, of which p owns a net that q meets: of nets of columns and of rows apart.
std::int64_t message_count(const Partitioned& partition);

}  // namespace gnnbench::hypergraph
