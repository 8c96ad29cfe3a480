// The transport through memory that the ranks of a host share: what only it can get wrong.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include <gnnbench/communicator.hpp>
#include <gnnbench/shared_host_memory.hpp>

#include "contract/not_here.hpp"
#include "mpi/check.hpp"
#include "plugin/loader.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;

namespace {

struct Ranks {
    ProcessGroup group = mpi_world();
    std::unique_ptr<Backend> backend =
        PluginCatalog().kernel("reference")->create({.dtype = DType::f32, .local_ranks = group.size()});
    std::unique_ptr<Transport> transport = backend->connect(group);
    int rank = group.rank(), size = group.size();

    void wait(const Event& e) { backend->wait(StreamRole::compute, e); }
    Matrix filled(std::int64_t rows, std::int64_t cols, double value) {
        Matrix m = backend->matrix(rows, cols);
        backend->fill(m, value);
        return m;
    }
    /// A little late, by turns.
    void dawdle(int turn) const {
        if ((turn + rank) % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
};

std::span<const float> values(ConstMatrixView m) {
    return {static_cast<const float*>(m.data), static_cast<std::size_t>(m.rows * m.cols)};
}

/// The first element that is not `expected`, with its place; empty if there is none.
std::string differs(std::span<const float> found, float expected) {
    for (std::size_t i = 0; i < found.size(); ++i)
        if (found[i] != expected)
            return "element " + std::to_string(i) + " is " + std::to_string(found[i]) + ", expected " +
                   std::to_string(expected);
    return {};
}

constexpr std::int64_t rows = 5003, cols = 16;

}  // namespace

TEST_CASE("ranks of one host share memory, and say so") {
    Ranks r;
    CHECK(r.backend->notes() == (r.size == 1 ? "" : "transport: shared memory"));
    CHECK(r.transport->reads_rows() == (r.size > 1));
}

TEST_CASE("a complete operation's memory may change at once: nobody reads or writes it any more") {
    Ranks r;
    const Matrix m = r.backend->matrix(rows, cols), sum = r.backend->matrix(rows, cols);
    const Matrix all = r.backend->matrix(rows * r.size, cols), mine = r.backend->matrix(rows, cols);
    const std::vector<std::int64_t> bytes(static_cast<std::size_t>(r.size), rows * cols * 4),
        counts(static_cast<std::size_t>(r.size), rows * cols);
    const double every = r.size * (r.size + 1) / 2.0;
    for (int turn = 0; turn < 60; ++turn) {
        const Wait form = turn % 2 ? Wait::later : Wait::at_once;
        const int root = turn % r.size;
        r.backend->fill(m, r.rank == root ? turn : -1);
        r.backend->fill(sum, turn + r.rank + 1);
        for (int k = 0; k < r.size; ++k)
            r.backend->fill(all.view().rows_from(k * rows, rows), k == r.rank ? turn + k : -2);
        std::vector<Event> events;
        events.push_back(r.transport->broadcast(m.view().data, rows * cols * 4, root, form));
        r.dawdle(turn);
        events.push_back(r.transport->all_reduce(sum.view().data, rows * cols, DType::f32, ReduceOp::sum, form));
        events.push_back(r.transport->all_gather(all.view().data, bytes, form));
        if (turn % 4 == 1) std::ranges::reverse(events);
        for (const Event& e : events) r.wait(e);
        CHECK(differs(values(m), static_cast<float>(turn)) == "");
        CHECK(differs(values(sum), static_cast<float>(r.size * turn + every)) == "");
        for (int k = 0; k < r.size; ++k)
            CHECK(differs(values(all.view().rows_from(k * rows, rows)), static_cast<float>(turn + k)) == "");
        for (int k = 0; k < r.size; ++k)
            r.backend->fill(all.view().rows_from(k * rows, rows), (k + 1) * (r.rank + 1));
        r.wait(r.transport->reduce_scatter(all.view().data, mine.view().data, counts, DType::f32, form));
        CHECK(differs(values(mine), static_cast<float>((r.rank + 1) * every)) == "");
        r.backend->fill(m, r.rank + 1);
        r.wait(r.transport->reduce(m.view().data, rows * cols, DType::f32, ReduceOp::sum, root, form));
        CHECK(differs(values(m), static_cast<float>(r.rank == root ? every : r.rank + 1)) == "");
    }
}

TEST_CASE("what is sent may change as soon as its sender's wait is over, not before it is read") {
    Ranks r;
    constexpr std::int64_t many = 100'000;  // 6 MB: the copy takes longer than a late sender's next store
    const Matrix m = r.backend->matrix(many, cols), in = r.backend->matrix(many, cols);
    const int right = (r.rank + 1) % r.size, left = (r.rank + r.size - 1) % r.size;
    for (int turn = 0; turn < 12; ++turn) {
        r.backend->fill(m, r.rank + turn);
        const Message send{right, m.view().data, many * cols * 4}, receive{left, in.view().data, many * cols * 4};
        // Sends and receives are waited for by themselves: a rank's own copying must not delay its next store.
        const Event sent = r.transport->exchange({&send, 1}, {});
        const Event received = r.transport->exchange({}, {&receive, 1});
        r.dawdle(turn);
        r.wait(sent);
        r.backend->fill(m, -1);
        r.wait(received);
        CHECK(differs(values(in), static_cast<float>(left + turn)) == "");
    }
    const Matrix b = r.backend->matrix(many, cols);
    for (int turn = 0; turn < 12; ++turn) {
        r.backend->fill(b, r.rank == 0 ? turn : -1);
        r.wait(r.transport->broadcast(b.view().data, many * cols * 4, 0, Wait::later));
        if (r.rank == 0)
            r.backend->fill(b, -2);
        else
            CHECK(differs(values(b), static_cast<float>(turn)) == "");
    }
}

TEST_CASE("sums are added in the order of ranks, the same on all") {
    Ranks r;
    const auto term = [](int rank, std::int64_t i) {
        return static_cast<float>(std::pow(-1.0, rank) * 1e7 / (rank + 1) + 0.3 * static_cast<double>(i % 89));
    };
    Matrix m = r.backend->matrix(rows, 1);
    for (std::int64_t i = 0; i < rows; ++i) static_cast<float*>(m.view().data)[i] = term(r.rank, i);
    r.wait(r.transport->all_reduce(m.view().data, rows, DType::f32, ReduceOp::sum, Wait::at_once));
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        float sum = term(0, i);
        for (int k = 1; k < r.size; ++k) sum += term(k, i);
        wrong += values(m)[static_cast<std::size_t>(i)] != sum;
    }
    CHECK(wrong == 0);
}

TEST_CASE("more messages under way than a channel has slots, waited for in any order") {
    Ranks r;
    const int right = (r.rank + 1) % r.size, left = (r.rank + r.size - 1) % r.size;
    constexpr int many = 50;
    std::vector<Matrix> out, in;
    std::vector<Event> events;
    for (int i = 0; i < many; ++i) {
        out.push_back(r.filled(7, i + 1, 1000 * r.rank + i));
        in.push_back(r.filled(7, i + 1, -1));
        const Message send{right, out.back().view().data, 7 * (i + 1) * 4},
            receive{left, in.back().view().data, 7 * (i + 1) * 4};
        events.push_back(r.transport->exchange({&send, 1}, {&receive, 1}));
    }
    r.transport->barrier();  // with all of them under way
    for (int i = many; i-- > 0;) r.wait(events[static_cast<std::size_t>(i)]);
    for (int i = 0; i < many; ++i)
        CHECK(differs(values(in[static_cast<std::size_t>(i)]), static_cast<float>(1000 * left + i)) == "");
}

TEST_CASE("data that is not in shared memory arrives as well") {
    Ranks r;
    std::vector<float> sum(rows, static_cast<float>(r.rank + 1)), message(rows, static_cast<float>(r.rank)),
        received(rows), whole(rows, r.rank == 0 ? 5.F : 0.F), rooted(rows, static_cast<float>(r.rank + 1));
    const float every = static_cast<float>(r.size * (r.size + 1)) / 2;
    r.wait(r.transport->all_reduce(sum.data(), rows, DType::f32, ReduceOp::sum, Wait::later));
    CHECK(differs(sum, every) == "");
    r.wait(r.transport->reduce(rooted.data(), rows, DType::f32, ReduceOp::sum, 0, Wait::at_once));
    CHECK(differs(rooted, r.rank == 0 ? every : static_cast<float>(r.rank + 1)) == "");
    r.wait(r.transport->broadcast(whole.data(), rows * 4, 0, Wait::later));
    CHECK(differs(whole, 5) == "");
    const int right = (r.rank + 1) % r.size, left = (r.rank + r.size - 1) % r.size;
    const Message send{right, message.data(), rows * 4}, receive{left, received.data(), rows * 4};
    r.wait(r.transport->exchange({&send, 1}, {&receive, 1}));
    CHECK(differs(received, static_cast<float>(left)) == "");
}

TEST_CASE("rows are read where they lie, strided or outside of shared memory, and counted as messages") {
    Ranks r;
    if (!r.transport->reads_rows()) return contract::not_here("this transport reads no rows");
    VolumeCounter counter;
    Communicator world(r.backend->connect(r.group), *r.backend, counter);
    const Matrix wide = r.backend->matrix(rows, 2 * cols);
    std::vector<float> elsewhere(static_cast<std::size_t>(rows * 2 * cols));
    for (std::int64_t i = 0; i < rows * 2 * cols; ++i)
        static_cast<float*>(wide.view().data)[i] = elsewhere[static_cast<std::size_t>(i)] =
            static_cast<float>(r.rank * 1'000'000 + i % 999'983);
    // Rank j reads rows j + 3k of every other rank, from column `cols` on.
    std::vector<std::vector<std::int32_t>> lists;
    for (int j = 0; j < r.size; ++j) {
        lists.emplace_back();
        for (std::int32_t row = j; row < rows; row += 3) lists.back().push_back(row);
    }
    std::vector<Matrix> places;
    std::vector<RowSet> sends, receives;
    std::int64_t sent = 0;
    for (int j = 0; j < r.size; ++j) {
        const auto& mine = lists[static_cast<std::size_t>(r.rank)];
        places.push_back(r.backend->matrix(std::ssize(mine), cols));
        if (j == r.rank) continue;
        sends.push_back({j, lists[static_cast<std::size_t>(j)]});
        sent += sends.back().rows.count * cols * 4;
        receives.push_back({j, mine, places.back()});
    }
    for (void* const data : {wide.view().data, static_cast<void*>(elsewhere.data())}) {
        for (const CommOp op : {CommOp::all_to_all, CommOp::point_to_point}) {
            for (const Matrix& p : places)
                if (p.rows() > 0) r.backend->fill(p, -1);
            const ConstMatrixView from{static_cast<float*>(data) + cols, rows, cols, 2 * cols, DType::f32};
            const std::vector<Event> events = world.read_rows(op, from, sends, receives);
            CHECK(events.size() == (op == CommOp::all_to_all ? 1 : receives.size() + 1));
            for (const Event& e : events)
                if (!e.happened_at_once()) r.wait(e);
            std::int64_t wrong = 0;
            for (const RowSet& s : receives)
                for (std::int64_t i = 0; i < s.to.rows; ++i)
                    for (std::int64_t c = 0; c < cols; ++c) {
                        const std::int64_t at = s.rows.at[i] * 2 * cols + cols + c;
                        wrong += static_cast<const float*>(s.to.data)[i * cols + c] !=
                                 static_cast<float>(s.peer * 1'000'000 + at % 999'983);
                    }
            CHECK(wrong == 0);
            const Volume counted = counter.take();
            REQUIRE(counted.size() == 1);
            CHECK(counted.begin()->first.operation == op);
            CHECK(counted.begin()->second.sent_bytes == sent);
            CHECK(counted.begin()->second.messages == r.size - 1);
        }
    }
}

TEST_CASE("returned rows are added where they lie, in the order of ranks") {
    Ranks r;
    if (!r.transport->reads_rows()) return contract::not_here("this transport reads no rows");
    // Every other rank returns a sum for every third row from `rank` on; terms whose sum depends on their order.
    const auto term = [](int from, std::int64_t row) {
        return static_cast<float>((from % 2 ? -1e7 : 1e7) / (from + 1) + static_cast<double>(row));
    };
    std::vector<std::int32_t> list;
    for (std::int32_t row = 0; row < rows; row += 3) list.push_back(row);
    const Matrix to = r.filled(rows, cols, 0.1), partial = r.backend->matrix(std::ssize(list), cols);
    for (int turn = 0; turn < 5; ++turn) {
        r.backend->fill(to, 0.1);
        for (std::int64_t i = 0; i < partial.rows() * cols; ++i)
            static_cast<float*>(partial.view().data)[i] = term(r.rank, list[static_cast<std::size_t>(i / cols)]);
        std::vector<Message> sends;
        std::vector<RowSet> receives;
        for (int j = 0; j < r.size; ++j) {
            if (j == r.rank) continue;
            sends.push_back({j, partial.view().data, partial.rows() * cols * 4});
            receives.push_back({j, list});
        }
        const Event added = r.transport->add_rows(to, sends, receives);
        r.dawdle(turn);
        r.wait(added);
        r.backend->fill(partial, -7);  // nobody reads it any more
        std::int64_t wrong = 0;
        for (std::int64_t row = 0; row < rows; ++row) {
            float sum = 0.1F;
            for (int j = 0; j < r.size; ++j)
                if (j != r.rank && row % 3 == 0) sum += term(j, row);
            for (std::int64_t c = 0; c < cols; ++c)
                wrong += values(to)[static_cast<std::size_t>(row * cols + c)] != sum;
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("groups and messages do not mix: what is late in one holds up no other") {
    Ranks r;
    const auto half = r.transport->split(r.rank % 2, r.rank);
    const Matrix a = r.filled(rows, cols, 1), b = r.filled(rows, cols, 1), c = r.filled(3, cols, r.rank);
    const Event of_all =
        r.transport->all_reduce(a.view().data, rows * cols, DType::f32, ReduceOp::sum, Wait::later);
    const Event of_half = half->all_reduce(b.view().data, rows * cols, DType::f32, ReduceOp::sum, Wait::later);
    half->barrier();
    // Some ranks wait for one first, some for the other.
    r.wait(r.rank % 3 ? of_all : of_half);
    r.wait(r.rank % 3 ? of_half : of_all);
    CHECK(differs(values(a), static_cast<float>(r.size)) == "");
    CHECK(differs(values(b), static_cast<float>(half->size())) == "");
}

TEST_CASE("a rank that waits here lets MPI go on, for whoever waits in MPI") {
    Ranks r;
    if (r.size == 1) return contract::not_here("one rank has no other");
    MPI_Comm comm = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(*static_cast<MPI_Comm*>(r.group.native()), &comm), "MPI_Comm_dup");
    const Matrix m = r.filled(rows, cols, r.rank == 0 ? 8 : 0);
    // The others start first, and so read nothing before they wait.
    if (r.rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const Event e = r.transport->broadcast(m.view().data, rows * cols * 4, 0, Wait::later);
    // A synchronous send ends once rank 0, which waits for the others to read, has answered.
    std::vector<int> received(static_cast<std::size_t>(r.size), -1);
    std::vector<MPI_Request> requests(static_cast<std::size_t>(r.size), MPI_REQUEST_NULL);
    if (r.rank == 0) {
        for (int k = 1; k < r.size; ++k)
            MPI_Irecv(&received[static_cast<std::size_t>(k)], 1, MPI_INT, k, 0, comm,
                      &requests[static_cast<std::size_t>(k)]);
        r.wait(e);
        MPI_Waitall(r.size, requests.data(), MPI_STATUSES_IGNORE);
        for (int k = 1; k < r.size; ++k) CHECK(received[static_cast<std::size_t>(k)] == k);
    } else {
        MPI_Ssend(&r.rank, 1, MPI_INT, 0, 0, comm);
        r.wait(e);
    }
    CHECK(differs(values(m), 8) == "");
    MPI_Comm_free(&comm);
}

TEST_CASE("a rank that asks whether an event is ready lets MPI go on, for whoever waits in MPI") {
    Ranks r;
    if (r.size == 1) return contract::not_here("one rank has no other");
    MPI_Comm comm = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(*static_cast<MPI_Comm*>(r.group.native()), &comm), "MPI_Comm_dup");
    std::vector<double> sums(1 << 16, 1);  // in several steps, each of which every rank takes inside MPI
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm, &request);
    const Matrix m = r.filled(rows, cols, r.rank);
    const Message message{1 - r.rank, m.view().data, rows * cols * 4};
    if (r.rank == 0) {
        const Event e = r.transport->exchange({}, {&message, 1});
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!e.ready() && std::chrono::steady_clock::now() < end) {
        }
        CHECK(e.ready());
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        r.wait(e);
        CHECK(differs(values(m), 1) == "");
    } else {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (r.rank == 1) r.wait(r.transport->exchange({&message, 1}, {}));
    }
    CHECK(sums.front() == r.size);
    MPI_Comm_free(&comm);
}

TEST_CASE("a message of another size than is received is an error on the rank that receives it") {
    Ranks r;
    if (r.size != 2) return contract::not_here("of two ranks");
    const Matrix m = r.filled(2, cols, 1);
    const Message message{1 - r.rank, m.view().data, r.rank == 0 ? 8 : 16};
    if (r.rank == 1)
        CHECK_THROWS_WITH(r.transport->exchange({}, {&message, 1}).state()->wait_on_host(),
                          Catch::Contains("a rank sends 8 bytes where 16 are received"));
    else
        CHECK_NOTHROW(r.transport->exchange({&message, 1}, {}));
    r.group.barrier();
}

TEST_CASE("shared memory is given again once it is free, aligned, and refused where there is no more") {
    const auto memory = SharedHostMemory::make(2);
    REQUIRE(memory);
    std::vector<void*> blocks;
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, std::size_t{9} << 20, std::size_t{64}}) {
        blocks.push_back(memory->allocate(bytes));
        REQUIRE(blocks.back());
        CHECK(memory->holds(blocks.back()));
        std::memset(blocks.back(), 1, bytes);
        const std::size_t alignment = bytes >= 4 << 20 ? 2 << 20 : 64;
        CHECK(reinterpret_cast<std::uintptr_t>(blocks.back()) % alignment == 0);
    }
    CHECK_FALSE(memory->holds(&memory));
    CHECK_FALSE(memory->allocate(std::size_t{1} << 50));
    for (const std::size_t i : {1, 3, 0, 2}) memory->free(blocks[i]);
    CHECK(memory->allocate(1) == blocks[0]);  // the runs are one again
    CHECK(memory->allocate(9 << 20) == blocks[2]);
}
