// Volumes and memory worked out by hand from the rules of docs/volumes.md and the schemes' READMEs, on three graphs
// small enough to count on, three ranks. What a scheme states and what it does may come from one piece of code; what
// stands here comes from neither. A scheme that wastes bytes and states the waste is found here alone.
#include <catch2/catch.hpp>

#include "contract/hand_counted.hpp"
#include "contract/not_here.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;
using namespace gnnbench::contract::three_ranks;

namespace {

constexpr int P = 3;
constexpr std::int64_t n_i = 3, n = 9;  // vertices of a part, of the graph; part i owns 3i, 3i + 1, 3i + 2

using Blocks = std::int64_t[P][P];

/// For blocks (i, j) of Â, i ≠ j, counted by hand: distinct nonzero columns and rows, and the most nonzeros that k
/// columns hold with bns-gcn's k at rate 0.7.
struct Counted {
    graphs::NamedGraph graph;
    Blocks columns, rows;
    Blocks sampled;            ///< k = max(1, ⌊0.7 b⌋) of b = columns
    Blocks dropped;            ///< ⌊0.7 b⌋
    Blocks one;                ///< 1 where b > 0
    std::int64_t nonzeros[P];  ///< by rank: Σ over blocks of the most nonzeros in `sampled` columns
    std::int64_t in_one[P];    ///< the same of one column in each block
};

std::vector<Counted> counted() {
    return {
        // v + 1 aggregates from v: each part needs the last row of the part before it.
        {graphs::directed_cycle(9),
         {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}},
         {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}},
         {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}},
         {},
         {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}},
         {1, 1, 1},
         {1, 1, 1}},
        // Vertex 0 aggregates from all others: part 0 needs three rows of each; ⌊0.7·3⌋ = 2, one nonzero in each.
        {graphs::directed_star(9),
         {{0, 3, 3}, {0, 0, 0}, {0, 0, 0}},
         {{0, 1, 1}, {0, 0, 0}, {0, 0, 0}},
         {{0, 2, 2}, {0, 0, 0}, {0, 0, 0}},
         {{0, 2, 2}, {0, 0, 0}, {0, 0, 0}},
         {{0, 1, 1}, {0, 0, 0}, {0, 0, 0}},
         {4, 0, 0},
         {2, 0, 0}},
        // Rows 1 and 2 need 3, 4 (4 twice) and 8; row 3 needs 0, 1, 2; row 5 needs 7; rows 6 and 8 need 3, 5 (3 twice).
        // ⌊0.7·2⌋ = 1, ⌊0.7·3⌋ = 2, and 1 of 1. Column 4 and column 3 have two nonzeros, the others one.
        {graphs::from_entries(
             "uneven", n,
             {{1, 3}, {1, 4}, {2, 4}, {2, 8}, {3, 0}, {3, 1}, {3, 2}, {5, 7}, {6, 3}, {8, 3}, {8, 5}}),
         {{0, 2, 1}, {3, 0, 1}, {0, 2, 0}},
         {{0, 2, 1}, {1, 0, 1}, {0, 2, 0}},
         {{0, 1, 1}, {2, 0, 1}, {0, 1, 0}},
         {{0, 1, 0}, {2, 0, 0}, {0, 1, 0}},
         {{0, 1, 1}, {1, 0, 1}, {0, 1, 0}},
         {2 + 1, 2 + 1, 2},
         {2 + 1, 1 + 1, 2}},
    };
}

/// Sums over the blocks of a rank's line: what it receives (row i) and what it sends (column i).
struct Line {
    std::int64_t received = 0, sent = 0, messages_in = 0, messages_out = 0;
    Line(const Blocks& blocks, int i) {
        for (int j = 0; j < P; ++j) {
            received += blocks[i][j];
            sent += blocks[j][i];
            messages_in += blocks[i][j] > 0;
            messages_out += blocks[j][i] > 0;
        }
    }
};

/// What all row-parallel schemes hold of 4 → 5 → 2, 3 vertices a rank, beside their products' buffers and kept
/// aggregates. Elements: X 3·4; outputs 3·5 and 3·max(5, 2); the shared product 3·5; weights and gradients 2·(25 + 12).
/// Bytes: label, split and id of each vertex 3·(4 + 1 + 8); the loss 8; counts of correct vertices 6·8.
constexpr std::int64_t row_parallel_bytes = 8 * (12 + 15 + 15 + 15 + 74) + 39 + 8 + 48;

/// What bns-gcn moves of each boundary: all rows; a sample at rate 0.7; that, but for boundaries of one row, which are
/// dropped; nothing, as all are dropped at rate 0.3.
enum class Moved : std::uint8_t { whole, sampled, dropped, nothing };

const Blocks& rows_moved(const Counted& g, Moved what) {
    static constexpr Blocks none = {};
    switch (what) {
        case Moved::whole:
            return g.columns;
        case Moved::sampled:
            return g.sampled;
        case Moved::dropped:
            return g.dropped;
        case Moved::nothing:
            break;
    }
    return none;
}

/// Of a dropped boundary, which evaluation needs, the buffers hold ⌈b/64⌉ = 1 row.
const Blocks& rows_with_room(const Counted& g, Moved what) {
    if (what == Moved::whole) return g.columns;
    return what == Moved::nothing ? g.one : g.sampled;
}

/// bns-gcn: ÂH is kept in both layers, so products are 4 and 5 wide forward, and 5 wide backward above layer 0.
Wanted bns_gcn(const Counted& g, Moved what, int rank) {
    const bool sampled = what != Moved::whole;
    const Line whole(g.columns, rank), moved(rows_moved(g, what), rank), room(rows_with_room(g, what), rank);
    Wanted w;
    put(w.volume, CommOp::all_to_all, Content::payload,
        {8 * ((4 + 5) * moved.sent + 5 * moved.received), 8 * ((4 + 5) * moved.received + 5 * moved.sent),
         2 * moved.messages_out + moved.messages_in});
    if (sampled)  // ids of the rows wanted, four bytes each, to their owners
        put(w.volume, CommOp::all_to_all, Content::metadata,
            {4 * moved.received, 4 * moved.sent, moved.messages_in});
    put(w.volume, CommOp::all_reduce, Content::payload, two_gradients(rank));
    put(w.volume, CommOp::all_reduce, Content::metadata, loss_scalar(rank));
    // Kept aggregates 3·4 and 3·5; buffers of the rows received and sent, 5 wide; ids of the whole boundary.
    w.bytes = row_parallel_bytes + 8 * (12 + 15) + 8 * 5 * (room.received + room.sent) + 4 * whole.sent;
    if (sampled)  // ids of both sides' samples; the sample's columns as rows and as columns
        w.bytes += 4 * (moved.received + moved.sent) + 8 * (n_i + 1) + 8 * (room.received + 1) +
                   2 * (what == Moved::nothing ? g.in_one : g.nonzeros)[rank] * (4 + 8);
    return w;
}

/// sa-1d and demirci-p2p: ÂH forward, 4 and 5 wide; backward 5 and 2 wide, rows of G gathered for Âᵀ's blocks, whose
/// nonzero columns are Â's nonzero rows, or partial sums returned.
Wanted sparsity_aware(const Counted& g, CommOp op, bool returns, int rank) {
    const Line forward(g.columns, rank), rows(g.rows, rank);
    const std::int64_t back_received = returns ? forward.sent : rows.sent,
                       back_sent = returns ? forward.received : rows.received,
                       back_messages = returns ? forward.messages_in : rows.messages_in;
    Wanted w;
    put(w.volume, op, Content::payload,
        {8 * ((4 + 5) * forward.sent + (5 + 2) * back_sent),
         8 * ((4 + 5) * forward.received + (5 + 2) * back_received),
         2 * forward.messages_out + 2 * back_messages});
    put(w.volume, CommOp::all_reduce, Content::payload, two_gradients(rank));
    put(w.volume, CommOp::all_reduce, Content::metadata, loss_scalar(rank));
    // Send and receive buffers 5 wide and the list of sent rows; gathering has the same of its own.
    w.bytes = row_parallel_bytes + 8 * 5 * (forward.received + forward.sent) + 4 * forward.sent;
    if (!returns) w.bytes += 8 * 5 * (back_received + back_sent) + 4 * back_sent;
    return w;
}

/// cagnet-1d: every rank broadcasts its rows, ÂH forward and ÂᵀG backward: 4, 5 forward and 5, 2 backward. So nothing
/// depends on the graph: a rank receives the 6 rows of the others, and sends its 3 to 2 of them.
Wanted cagnet_1d(bool outer_product, bool shared, int rank) {
    Wanted w;
    const std::int64_t widths = outer_product ? 4 + 5 : 4 + 5 + 5 + 2, products = outer_product ? 2 : 4;
    put(w.volume, CommOp::broadcast, Content::payload, {8 * 6 * widths, 8 * 6 * widths, P * products});
    // Partial sums of Âᵀ G: 9 rows, of which 3 are the rank's own.
    if (outer_product)
        put(w.volume, CommOp::reduce_scatter, Content::payload, {8 * 6 * (5 + 2), 8 * 6 * (5 + 2), 2});
    put(w.volume, CommOp::all_reduce, Content::payload, two_gradients(rank));
    put(w.volume, CommOp::all_reduce, Content::metadata, loss_scalar(rank));
    // X 3·4 and parameters 74; bytes of vertices, loss and counts.
    w.bytes = 8 * (12 + 74) + 39 + 8 + 48;
    // By layer: H', dH', the product and received rows. 5, 5, 5 and 5 columns of 3 rows; then 2, 2, 5 and 5. Forward
    // alone receives where sums are reduced, 4 and 5 wide; those are 9·5 and 9·2.
    if (!shared)
        w.bytes += 8 * 3 * (5 + 5 + 5 + 2 + 2 + 5) + 8 * 3 * (outer_product ? 4 + 5 : 5 + 5) +
                   (outer_product ? 8 * 9 * (5 + 2) : 0);
    // Once for both layers: outputs 3·5 and 3·max(5, 2), the product 3·5, received rows 3·5, sums 9·5.
    else
        w.bytes += 8 * 3 * (5 + 5 + 5 + 5) + (outer_product ? 8 * 9 * 5 : 0);
    return w;
}

/// mg-gcn, exact: layer 0 keeps T = ÂX, 4 wide, and has no product backward; layer 1 transforms first, 2 wide both
/// ways.
Wanted mg_gcn(bool overlap, int rank) {
    Wanted w;
    put(w.volume, CommOp::broadcast, Content::payload, {8 * 6 * (4 + 2 + 2), 8 * 6 * (4 + 2 + 2), P * 3});
    put(w.volume, CommOp::all_reduce, Content::payload, two_gradients(rank));
    put(w.volume, CommOp::all_reduce, Content::metadata, loss_scalar(rank));
    // X 3·4; outputs 3·5 and 3·5; the shared product 3·2; T 3·4; parameters 74; BC1 and BC2 3·4 each.
    w.bytes = 8 * (12 + 15 + 15 + 6 + 12 + 74 + (overlap ? 2 : 1) * 12) + 39 + 8 + 48;
    return w;
}

/// sa-1d, demirci-p2p and bns-gcn: rows of Â's blocks forward, and again where a sum is made by rows backward; those of
/// Âᵀ's blocks gathered, or sums returned to the rows' owners.
Wanted attends_aware(const Counted& g, Attending a, CommOp op, bool returns, int rank) {
    const Line there(g.columns, rank), rows(g.rows, rank);
    const std::int64_t forth = a.forward() + a.again(returns), products = a.again(returns) > 0 ? 2 : 1,
                       back = returns ? a.returned() : a.gathered(),
                       back_received = returns ? there.sent : rows.sent,
                       back_sent = returns ? there.received : rows.received,
                       back_messages = returns ? there.messages_in : rows.messages_in;
    Wanted w;
    put(w.volume, op, Content::payload,
        {8 * (forth * there.sent + back * back_sent), 8 * (forth * there.received + back * back_received),
         2 * products * there.messages_out + 2 * back_messages});
    put(w.volume, CommOp::all_reduce, Content::payload, gradients(a, rank));
    put(w.volume, CommOp::all_reduce, Content::metadata, loss_scalar(rank));
    w.bytes = a.bytes(n_i, returns) + 8 * a.widest(returns) * (there.received + there.sent) + 4 * there.sent;
    if (returns)
        w.bytes += 8 * a.room() * there.received;
    else
        w.bytes += 8 * a.widest(false) * (back_received + back_sent) + 4 * back_sent;
    return w;
}

/// cagnet-1d and mg-gcn by rows: a rank receives the 6 rows of the others in each product. By outer products, the forward
/// pass' rows again, and of partial sums of 9 rows its own 3.
Wanted attends_by_broadcast(Attending a, bool outer_product, std::int64_t received, int rank) {
    const std::int64_t widths = a.forward() + a.again(outer_product) + (outer_product ? 0 : a.gathered()),
                       products = 2 + (a.again(outer_product) > 0 ? 2 : 0) + (outer_product ? 0 : 2);
    Wanted w;
    put(w.volume, CommOp::broadcast, Content::payload, {8 * 6 * widths, 8 * 6 * widths, P * products});
    if (outer_product)
        put(w.volume, CommOp::reduce_scatter, Content::payload, {8 * 6 * a.returned(), 8 * 6 * a.returned(), 2});
    put(w.volume, CommOp::all_reduce, Content::payload, gradients(a, rank));
    put(w.volume, CommOp::all_reduce, Content::metadata, loss_scalar(rank));
    // Once for both layers: so many blocks of 3 received rows; sums 9·6, and room for those of a block.
    w.bytes = a.bytes(n_i, outer_product) + received * 8 * 3 * a.widest(outer_product);
    if (outer_product) w.bytes += 8 * (9 * 6 + 3 * a.room());
    return w;
}

/// plexus-3d with its sparse all-reduce, 6 → 5 → 3 without biases, grid 1 × 3 × 1. Roles (o, i, d): layer 0 (X, Y, Z)
/// of 1, 3, 1 ranks; layer 1 (Z, X, Y) of 1, 1, 3. So layer 1's rank r has rows 3r … 3r + 2 of Â, and all columns.
Wanted plexus(const Counted& g, int rank) {
    const Line x(g.columns, rank);  // u = received, v = sent
    Wanted w;
    // Q of layer 0, 9 × 5 over 3 owners: receives and sends 2·15. dW of layer 1, 15 over 3: 2·5.
    put(w.volume, CommOp::reduce_scatter, Content::payload, {8 * 40, 8 * 40, 2});
    // W of layer 1, forward and backward: 2·5 each; dQ of layer 0: 2·15.
    put(w.volume, CommOp::all_gather, Content::payload, {8 * 50, 8 * 50, 3});
    // F of layer 1, 5 wide, to who needs it; dF the other way.
    const std::int64_t rows = 8 * 5 * (x.received + x.sent);
    put(w.volume, CommOp::all_to_all, Content::payload, {rows, rows, x.messages_out + x.messages_in});
    put(w.volume, CommOp::all_reduce, Content::metadata, loss_scalar(rank));
    // F 9·2; W and dW 2·(2·5 + 5); H, Q of layer 0 9·2 + 9·5, of layer 1 3·5 + 3·3; gathered W and dW 2·15; loss 2·3;
    // the compact F and its dF 5·(3 + u) each, packed rows 5·v with their list; 13 bytes a vertex of the last layer.
    w.bytes = 8 * (18 + 30 + 18 + 45 + 15 + 9 + 30 + 6 + 2 * 5 * (3 + x.received) + 5 * x.sent) + 4 * x.sent +
              3 * 13 + 8;
    return w;
}

std::vector<Subject<Counted>> subjects() {
    ModelVariant plain{.name = "6-5-3", .widths = {6, 5, 3}};
    plain.model.bias = false;
    const auto sparse = [](CommOp op, bool returns) {
        return [=](const Counted& g, int r) { return sparsity_aware(g, op, returns, r); };
    };
    const auto broadcasts = [](bool outer_product, bool shared) {
        return [=](const Counted&, int r) { return cagnet_1d(outer_product, shared, r); };
    };
    const auto boundaries = [](Moved what) {
        return [=](const Counted& g, int r) { return bns_gcn(g, what, r); };
    };
    std::vector<Subject<Counted>> all = {
        {"bns-gcn", {}, two_layers(), boundaries(Moved::whole)},
        {"bns-gcn", {{"small_boundaries", "drop"}}, two_layers(), boundaries(Moved::whole)},
        {"bns-gcn", {{"rate", "0.7"}}, two_layers(), boundaries(Moved::sampled)},
        {"bns-gcn", {{"rate", "0.7"}, {"small_boundaries", "drop"}}, two_layers(), boundaries(Moved::dropped)},
        {"bns-gcn", {{"rate", "0.3"}, {"small_boundaries", "drop"}}, two_layers(), boundaries(Moved::nothing)},
        {"sa-1d", {{"backward", "gather"}}, two_layers(), sparse(CommOp::all_to_all, false)},
        {"sa-1d", {{"backward", "return"}}, two_layers(), sparse(CommOp::all_to_all, true)},
        {"demirci-p2p", {}, two_layers(), sparse(CommOp::point_to_point, false)},
        {"cagnet-1d", {}, two_layers(), broadcasts(false, false)},
        {"cagnet-1d", {{"buffers", "shared"}}, two_layers(), broadcasts(false, true)},
        {"cagnet-1d", {{"backward", "outer_product"}}, two_layers(), broadcasts(true, false)},
        {"cagnet-1d",
         {{"backward", "outer_product"}, {"buffers", "shared"}},
         two_layers(),
         broadcasts(true, true)},
        // One replica is no replication: each is its 1D scheme.
        {"cagnet-1.5d", {{"replication", "1"}}, two_layers(), broadcasts(false, false)},
        {"sa-1.5d", {{"replication", "1"}}, two_layers(), sparse(CommOp::all_to_all, false)},
        {"mg-gcn", {}, two_layers(), [](const Counted&, int r) { return mg_gcn(true, r); }},
        {"mg-gcn", {{"overlap", "false"}}, two_layers(), [](const Counted&, int r) { return mg_gcn(false, r); }},
        {"plexus-3d",
         {{"grid", "given"},
          {"x", "1"},
          {"y", "3"},
          {"z", "1"},
          {"permutation", "none"},
          {"sparse_all_reduce", "true"}},
         plain,
         plexus},
    };
    for (const bool dynamic : {false, true}) {
        const ModelVariant v = Attending{dynamic}.model();
        const auto aware = [=](CommOp op, bool returns) {
            return [=](const Counted& g, int r) { return attends_aware(g, {dynamic}, op, returns, r); };
        };
        const auto broadcast = [=](bool outer_product, int received) {
            return
                [=](const Counted&, int r) { return attends_by_broadcast({dynamic}, outer_product, received, r); };
        };
        all.push_back({"sa-1d", {{"backward", "gather"}}, v, aware(CommOp::all_to_all, false)});
        all.push_back({"sa-1d", {{"backward", "return"}}, v, aware(CommOp::all_to_all, true)});
        all.push_back({"demirci-p2p", {}, v, aware(CommOp::point_to_point, false)});
        all.push_back({"bns-gcn", {}, v, aware(CommOp::all_to_all, true)});
        all.push_back({"cagnet-1d", {{"buffers", "shared"}}, v, broadcast(false, 1)});
        all.push_back(
            {"cagnet-1d", {{"backward", "outer_product"}, {"buffers", "shared"}}, v, broadcast(true, 1)});
        all.push_back({"mg-gcn", {}, v, broadcast(false, 2)});
        all.push_back({"mg-gcn", {{"overlap", "false"}}, v, broadcast(false, 1)});
    }
    return all;
}

std::vector<Part> three_parts() { return {0, 0, 0, 1, 1, 1, 2, 2, 2}; }

}  // namespace

TEST_CASE("stated and counted volumes, stated and held memory are those counted by hand") {
    if (mpi_world().size() != P) return not_here("counted by hand for another number of ranks");
    check_by_hand(subjects(), counted(), three_parts());
}

TEST_CASE("a scheme that wastes bytes and states the waste is found by the hand-counted numbers") {
    if (mpi_world().size() != P) return not_here("counted by hand for another number of ranks");
    check_waste_is_found(subjects(), counted().back(), three_parts());
}
