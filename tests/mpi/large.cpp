// Operations beyond 2^31 bytes and elements, for real: some 14 GiB on two ranks. Not among the tests of CI.
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <gnnbench/transport.hpp>

#include "mpi/mpi.hpp"

using namespace gnnbench;

namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

/// A number that tells positions and ranks apart.
std::uint64_t word(std::int64_t i, int rank) {
    return static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(rank);
}

std::int64_t wrong_words(const std::vector<std::uint64_t>& data, std::int64_t first, std::int64_t count,
                         int rank) {
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < count; ++i)
        wrong += data[static_cast<std::size_t>(first + i)] != word(first + i, rank);
    return wrong;
}

void fill(std::vector<std::uint64_t>& data, std::int64_t first, std::int64_t count, int rank) {
    for (std::int64_t i = 0; i < count; ++i) data[static_cast<std::size_t>(first + i)] = word(first + i, rank);
}

struct Ranks {
    ProcessGroup group = mpi_world();
    std::unique_ptr<Transport> transport = make_mpi_transport(group);
    int rank = transport->rank(), ranks = transport->size();
};

}  // namespace

TEST_CASE("large: a broadcast of more than 2^31 bytes") {
    Ranks r;
    const std::int64_t words = (2 * gib + 4096) / 8;
    std::vector<std::uint64_t> data(static_cast<std::size_t>(words));
    if (r.rank == 0) fill(data, 0, words, 0);
    r.transport->broadcast(data.data(), 8 * words, 0, Wait::at_once);
    CHECK(wrong_words(data, 0, words, 0) == 0);
}

TEST_CASE("large: an all-gather of equal blocks of 2 GiB") {
    Ranks r;
    const std::int64_t words = 2 * gib / 8;
    std::vector<std::uint64_t> data(static_cast<std::size_t>(words * r.ranks));
    fill(data, words * r.rank, words, r.rank);
    const std::vector<std::int64_t> counts(static_cast<std::size_t>(r.ranks), 8 * words);
    r.transport->all_gather(data.data(), counts, Wait::at_once);
    for (int from = 0; from < r.ranks; ++from) CHECK(wrong_words(data, words * from, words, from) == 0);
}

TEST_CASE("large: a message, and sums and a reduce-scatter, of more than 2^31 bytes") {
    Ranks r;
    const std::int64_t elements = (2 * gib + 4096) / 4;
    std::vector<float> data(static_cast<std::size_t>(elements));
    const auto value = [](std::int64_t i, int rank) {
        return static_cast<float>(i % 1021 + 1) * static_cast<float>(rank + 1);
    };
    const auto set = [&] {
        for (std::int64_t i = 0; i < elements; ++i) data[static_cast<std::size_t>(i)] = value(i, r.rank);
    };
    const auto all_ranks = static_cast<float>(r.ranks * (r.ranks + 1)) / 2;
    std::int64_t wrong = 0;
    set();
    r.transport->all_reduce(data.data(), elements, DType::f32, ReduceOp::sum, Wait::at_once);
    for (std::int64_t i = 0; i < elements; ++i)
        wrong += data[static_cast<std::size_t>(i)] != value(i, 0) * all_ranks;
    CHECK(wrong == 0);

    set();
    std::vector<std::int64_t> counts(static_cast<std::size_t>(r.ranks), elements / r.ranks);
    counts.back() = elements - counts.front() * (r.ranks - 1);
    const std::int64_t first = counts.front() * r.rank, own = counts[static_cast<std::size_t>(r.rank)];
    std::vector<float> mine(static_cast<std::size_t>(own));
    r.transport->reduce_scatter(data.data(), mine.data(), counts, DType::f32, Wait::at_once);
    for (std::int64_t i = 0; i < own; ++i)
        wrong += mine[static_cast<std::size_t>(i)] != value(first + i, 0) * all_ranks;
    CHECK(wrong == 0);
    if (r.ranks < 2) return;

    mine.assign(data.size(), 0);
    set();
    const int next = (r.rank + 1) % r.ranks, previous = (r.rank + r.ranks - 1) % r.ranks;
    const Message out{next, data.data(), 4 * elements}, in{previous, mine.data(), 4 * elements};
    const Event arrived = r.transport->exchange({&out, 1}, {&in, 1});
    arrived.state()->wait_on_host();
    for (std::int64_t i = 0; i < elements; ++i) wrong += mine[static_cast<std::size_t>(i)] != value(i, previous);
    CHECK(wrong == 0);
}
