// Volumes and memory worked out by hand for the 1.5D schemes, and for one device. The rules are CAGNET's section
// IV-B, the sparsity-aware paper's section 4.2 and the counting rules of docs/volumes.md.
//
// Four ranks, c = 2 replicas: P/c = 2 parts, and P/c² = 1 stage for each replica, its own number. Rank 2i + k is (i,
// k):
//
//   rank     part  stage  of the stage's rows it is  nonempty block off the diagonal that it multiplies
//   0 (0,0)  0     0      the owner                  none
//   1 (0,1)  0     1      a receiver                 Â_01
//   2 (1,0)  1     0      a receiver                 Â_10
//   3 (1,1)  1     1      the owner                  none
//
// Part 0 has 5 vertices, part 1 has 4. Model 4 → 5 → 2, aggregation first: products are 4 and 5 wide forward, 5 and 2
// wide backward, 16 columns in all. Sums over two ranks of x elements receive x and send x.
#include <catch2/catch.hpp>

#include "contract/hand_counted.hpp"
#include "contract/not_here.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

constexpr std::int64_t columns = 4 + 5 + 5 + 2, parameters = 25 + 12;

/// Distinct nonzero columns and rows of Â_01 [5 × 4] and Â_10 [4 × 5], counted by hand.
struct Halved {
    graphs::NamedGraph graph;
    std::int64_t columns01, rows01, columns10, rows10;
};

std::vector<Halved> halved() {
    return {
        // v + 1 aggregates from v: row 0 needs 8, row 5 needs 4.
        {graphs::directed_cycle(9), 1, 1, 1, 1},
        // Row 0 needs all others.
        {graphs::directed_star(9), 4, 1, 0, 0},
        // Above: row 1 needs 5 and 6, row 2 needs 5 and 8. Below: rows 6, 7 and 8 need 3, row 8 needs 0 as well.
        // The rest lies in the diagonal blocks, and is not communicated.
        {graphs::from_entries(
             "lopsided", 9,
             {{0, 1}, {1, 5}, {1, 6}, {2, 5}, {2, 8}, {3, 2}, {6, 3}, {6, 7}, {7, 3}, {8, 0}, {8, 3}}),
         3, 2, 2, 3},
    };
}

std::vector<Part> two_parts() { return {0, 0, 0, 0, 0, 1, 1, 1, 1}; }

std::int64_t rows_of(int rank) { return rank < 2 ? 5 : 4; }
bool owns_stage(int rank) { return rank == 0 || rank == 3; }

/// Sums over the two replicas after each product, n_i rows; gradients and the loss over the two parts.
void put_sums(Volume& v, int rank) {
    const std::int64_t bytes = 8 * (rows_of(rank) * columns + parameters);
    put(v, CommOp::all_reduce, Content::payload, {bytes, bytes, 4 + 2});
    put(v, CommOp::all_reduce, Content::metadata, {8, 8, 1});
}

/// The owner of a stage's rows, 5 of stage 0 and 4 of stage 1, broadcasts them to the other rank of its column.
Wanted cagnet(bool shared, int rank) {
    const std::int64_t own = rows_of(rank), stage = rank == 0 || rank == 2 ? 5 : 4;
    const bool sends = owns_stage(rank);
    Wanted w;
    put(w.volume, CommOp::broadcast, Content::payload,
        {sends ? 8 * stage * columns : 0, sends ? 0 : 8 * stage * columns, 4});
    put_sums(w.volume, rank);
    // X 4; by layer H', dH', the product: 5, 5, 5 and 2, 2, 5; received rows of the larger part, 5·5 in each layer.
    // Shared: outputs 5 and max(5, 2), one product 5, received rows once. Weights and gradients.
    const std::int64_t elements = shared ? own * (4 + 5 + 5 + 5) + 5 * 5 : own * (4 + 15 + 9) + 2 * 5 * 5;
    w.bytes = 8 * (elements + 2 * parameters) + own * vertex_bytes + scalar_bytes;
    return w;
}

/// Forward a receiver gets the rows of its block's nonzero columns; backward it multiplies the transpose of the other
/// block, and gets the rows of that one's nonzero rows.
Wanted sparsity_aware(const Halved& g, int rank) {
    const bool of_part_0 = rank == 0 || rank == 2;  // whose rows travel in this rank's column: those of its stage
    // Rows of part 0 go from rank 0 to rank 2: forward for Â_10, backward for (Â_01)ᵀ. Rows of part 1 from 3 to 1.
    const std::int64_t forward = of_part_0 ? g.columns10 : g.columns01, backward = of_part_0 ? g.rows01 : g.rows10;
    const std::int64_t bytes = 8 * (forward * (4 + 5) + backward * (5 + 2));
    const bool sends = owns_stage(rank);
    Wanted w;
    put(w.volume, CommOp::all_to_all, Content::payload,
        {sends ? bytes : 0, sends ? 0 : bytes, sends ? 2 * (forward > 0) + 2 * (backward > 0) : 0});
    put_sums(w.volume, rank);
    // X 4; outputs 5 and 5; one product 5. Each direction's rows 5 wide, to pack or to receive, and the list of those
    // sent.
    const std::int64_t own = rows_of(rank);
    w.bytes = 8 * (own * (4 + 5 + 5 + 5) + 5 * (forward + backward) + 2 * parameters) +
              (sends ? 4 * (forward + backward) : 0) + own * vertex_bytes + scalar_bytes;
    return w;
}

/// Attention: of each row that replicas share, under the largest score of all, H numbers, they add up Z and P, 2w, and Σ
/// and Σλ', 2H, forward, and [dh, dr] backward; of GATv2 Z, w, and Σ, H, then [dt, v], 2w, and u, w.
void put_sums(Volume& v, Attending a, int rank) {
    const std::int64_t forward = a.dynamic ? (2 + 6 + 2) + (2 + 4 + 2) : (2 + 12 + 4) + (2 + 8 + 4),
                       backward = a.dynamic ? 12 + 8 + 6 + 4 : 8 + 6,
                       bytes = 8 * (rows_of(rank) * (forward + backward) + a.parameters());
    put(v, CommOp::all_reduce, Content::payload, {bytes, bytes, 2 * (3 + (a.dynamic ? 2 : 1)) + 2});
    put(v, CommOp::all_reduce, Content::metadata, {8, 8, 1});
}

Wanted cagnet_attends(Attending a, int rank) {
    const std::int64_t stage = rank == 0 || rank == 2 ? 5 : 4,
                       bytes = 8 * stage * (a.forward() + a.gathered() + a.again(false));
    const bool sends = owns_stage(rank);
    Wanted w;
    put(w.volume, CommOp::broadcast, Content::payload, {sends ? bytes : 0, sends ? 0 : bytes, a.dynamic ? 6 : 4});
    put_sums(w.volume, a, rank);
    w.bytes = a.bytes(rows_of(rank), false) + 8 * 5 * a.widest(false);  // received rows of the larger part
    return w;
}

Wanted sparsity_aware_attends(const Halved& g, Attending a, int rank) {
    const bool of_part_0 = rank == 0 || rank == 2, sends = owns_stage(rank);
    const std::int64_t forward = of_part_0 ? g.columns10 : g.columns01, backward = of_part_0 ? g.rows01 : g.rows10,
                       bytes = 8 * (forward * (a.forward() + a.again(false)) + backward * a.gathered()),
                       messages = (a.dynamic ? 4 : 2) * (forward > 0) + 2 * (backward > 0);
    Wanted w;
    put(w.volume, CommOp::all_to_all, Content::payload,
        {sends ? bytes : 0, sends ? 0 : bytes, sends ? messages : 0});
    put_sums(w.volume, a, rank);
    w.bytes = a.bytes(rows_of(rank), false) + 8 * a.widest(false) * (forward + backward) +
              (sends ? 4 * (forward + backward) : 0);
    return w;
}

std::vector<Subject<Halved>> replicated() {
    const auto by_broadcast = [](bool shared) {
        return [=](const Halved&, int rank) { return cagnet(shared, rank); };
    };
    std::vector<Subject<Halved>> all = {
        {"cagnet-1.5d", {}, two_layers(), by_broadcast(false)},
        {"cagnet-1.5d", {{"buffers", "shared"}}, two_layers(), by_broadcast(true)},
        {"sa-1.5d", {}, two_layers(), sparsity_aware},
    };
    for (const Attending a : {Attending{false}, Attending{true}}) {
        all.push_back({"cagnet-1.5d", {{"buffers", "shared"}}, a.model(), [=](const Halved&, int rank) {
                           return cagnet_attends(a, rank);
                       }});
        all.push_back({"sa-1.5d", {}, a.model(), [=](const Halved& g, int rank) {
                           return sparsity_aware_attends(g, a, rank);
                       }});
    }
    return all;
}

/// One device: nothing is communicated, and the graph does not matter. `elements`: of a vertex.
auto alone(std::int64_t elements, std::int64_t all_parameters) {
    return [=](const Halved&, int) {
        return Wanted{{}, 8 * (9 * elements + 2 * all_parameters) + 9 * vertex_bytes + scalar_bytes};
    };
}

std::vector<Subject<Halved>> serial() {
    // 4 → 5 → 2. Layer 0, 2·5 > 4: ÂX first, and kept, 4. Layer 1, 5 ≥ 2: HW first, 2 in the shared product. X 4;
    // outputs 5 and max(5, 2). 12 → 5 → 3. Layer 0, 2·5 ≤ 12: XW first, 5 in the shared product, nothing kept. X 12;
    // outputs 5 and max(5, 3). Trained features, 4 → 5 → 2: layer 0 has a dX, so widening it keeps ÂX and multiplies
    // Âᵀ(GWᵀ), 4 in the shared product; dX 4 in addition.
    const ModelVariant narrowing{.name = "12-5-3", .widths = {12, 5, 3}};
    return {
        {"serial", {}, two_layers(), alone(4 + 5 + 5 + 2 + 4, parameters)},
        {"serial", {}, narrowing, alone(12 + 5 + 5 + 5, 12 * 5 + 5 + 5 * 3 + 3)},
        {"serial", {{"trainable_features", "true"}}, two_layers(), alone(4 + 5 + 5 + 4 + 4 + 4, parameters)},
    };
}

}  // namespace

TEST_CASE("1.5D: volumes and memory are those counted by hand") {
    if (mpi_world().size() != 4) return not_here("counted by hand for 4 ranks");
    check_by_hand(replicated(), halved(), two_parts());
}

TEST_CASE("1.5D: a waste that is stated is found by the hand-counted numbers") {
    if (mpi_world().size() != 4) return not_here("counted by hand for 4 ranks");
    check_waste_is_found(replicated(), halved().back(), two_parts());
}

TEST_CASE("one device: nothing is communicated, and memory is that counted by hand") {
    if (mpi_world().size() != 1) return not_here("of one device");
    check_by_hand(serial(), halved(), std::vector<Part>(9));
}

TEST_CASE("one device: a buffer that is not needed, though stated, is found") {
    if (mpi_world().size() != 1) return not_here("of one device");
    check_waste_is_found(serial(), halved().back(), std::vector<Part>(9));
}
