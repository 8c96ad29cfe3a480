// The same of a vertex cut, whose entries lie on three ranks.
#include <catch2/catch.hpp>

#include "contract/hand_counted.hpp"
#include "contract/not_here.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;
using namespace gnnbench::contract::three_ranks;

namespace {

constexpr int P = 3;
constexpr std::int64_t roots = 2;  // of each rank: rank i has those of vertices 2i and 2i + 1

std::vector<Part> part_of() { return {0, 0, 1, 1, 2, 2}; }

/// An entry of a row, and the rank that has it. Rank 1 has a copy of 0, whose entry in column 2 is there, and of 5, which is
/// both; rank 2 one of 1, and of 2 as a column alone, with nothing to sum up; rank 0 one of 2.
struct Cut {
    graphs::NamedGraph graph =
        graphs::from_entries("cut", 6, {{0, 1}, {0, 2}, {1, 4}, {2, 0}, {3, 5}, {4, 2}, {5, 3}});
    static std::vector<Part> part_of_entry() { return {0, 1, 2, 0, 1, 2, 1}; }
};

/// Of ranks 0, 1 and 2: copies that they have of others' roots, and ranks with those roots; copies that others have of theirs, 0
/// of rank 1 and 1 of rank 2; 2 of ranks 0 and 2; 5 of rank 1.
constexpr std::int64_t copies[P] = {1, 2, 2}, owners[P] = {1, 2, 2};
constexpr std::int64_t lent[P] = {2, 2, 1}, borrowers[P] = {2, 2, 1};

/// Rows that go to their roots, and come back: columns of all layers and directions, and how many of those there are.
Traffic exchanged(std::int64_t to_roots, std::int64_t to_copies, std::int64_t times, int i) {
    return {8 * (to_roots * copies[i] + to_copies * lent[i]), 8 * (to_roots * lent[i] + to_copies * copies[i]),
            times * (owners[i] + borrowers[i])};
}

/// ÂH forward, 4 and 5 wide, and the rows of G Wᵀ backward above layer 0, 5 wide.
Wanted convolves(bool exchanges, int rank) {
    const std::int64_t n = roots + copies[rank];
    Wanted w;
    if (exchanges) put(w.volume, CommOp::all_to_all, Content::payload, exchanged(4 + 5 + 5, 4 + 5 + 5, 3, rank));
    put(w.volume, CommOp::all_reduce, Content::payload, two_gradients(rank));
    put(w.volume, CommOp::all_reduce, Content::metadata, loss_scalar(rank));
    // X 4; outputs 5 and max(5, 2); the shared product 5; kept aggregates 4 and 5; parameters. Lent rows and their list, and where
    // gradients are summed all rows, 5 wide.
    w.bytes = 8 * (n * (4 + 5 + 5 + 5 + 4 + 5) + 74 + 5 * lent[rank] + (exchanges ? 5 * n : 0)) + 4 * lent[rank] +
              n * vertex_bytes + scalar_bytes;
    return w;
}

/// Heads 2, w = 6 and then 4: sums 2w + 3H = 18 and 14 to roots, of GATv2 w + 2H = 10 and 8; w + H = 8 and 6 back. Backward the
/// layers' outputs, 6 and 2.
Wanted attends(Attending a, bool exchanges, int rank) {
    const std::int64_t n = roots + copies[rank], widest = a.dynamic ? 10 : 18;
    Wanted w;
    if (exchanges)
        put(w.volume, CommOp::all_to_all, Content::payload,
            exchanged((a.dynamic ? 10 + 8 : 18 + 14) + 6 + 2, 8 + 6 + 6 + 2, 4, rank));
    put(w.volume, CommOp::all_reduce, Content::payload, gradients(a, rank));
    put(w.volume, CommOp::all_reduce, Content::metadata, loss_scalar(rank));
    // Lent rows with their list and all rows, as wide as sums, whatever is exchanged: evaluation merges. And 2H for each root.
    w.bytes = a.bytes(n, false) + 8 * (widest * (n + lent[rank]) + 4 * roots) + 4 * lent[rank];
    return w;
}

std::vector<Subject<Cut>> subjects() {
    std::vector<Subject<Cut>> all;
    for (const bool exchanges : {true, false}) {
        const std::map<std::string, std::string> algorithm = {{"algorithm", exchanges ? "cd-0" : "0c"}};
        all.push_back(
            {"distgnn", algorithm, two_layers(), [=](const Cut&, int r) { return convolves(exchanges, r); }});
        for (const bool dynamic : {false, true})
            all.push_back({"distgnn", algorithm, Attending{dynamic}.model(),
                           [=](const Cut&, int r) { return attends({dynamic}, exchanges, r); }});
    }
    return all;
}

}  // namespace

TEST_CASE(
    "under a vertex cut, too, stated and counted volumes, stated and held memory are those counted by hand") {
    if (mpi_world().size() != P) return not_here("counted by hand for another number of ranks");
    check_by_hand(subjects(), {Cut()}, part_of(), Cut::part_of_entry());
}

TEST_CASE("a scheme that wastes bytes under a vertex cut is found by the hand-counted numbers") {
    if (mpi_world().size() != P) return not_here("counted by hand for another number of ranks");
    check_waste_is_found(subjects(), Cut(), part_of(), Cut::part_of_entry());
}
