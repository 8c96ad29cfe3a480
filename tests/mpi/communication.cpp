// Both forms of every operation of a communicator: data, counted volume and spans.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <tuple>

#include <catch2/catch.hpp>

#include <gnnbench/communicator.hpp>
#include <gnnbench/training/process_grid.hpp>

#include "plugin/loader.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;

namespace {

/// GNNBENCH_TEST_TRANSPORT=shared: the ranks read each other's memory.
int local_ranks(const ProcessGroup& group) {
    const char* const asked = std::getenv("GNNBENCH_TEST_TRANSPORT");
    return asked && std::string(asked) == "shared" ? group.size() : 1;
}

struct Bench {
    ProcessGroup group = mpi_world();
    std::unique_ptr<Backend> backend =
        PluginCatalog().kernel("reference")->create({.dtype = DType::f64, .local_ranks = local_ranks(group)});
    VolumeCounter counter;
    Communicator world{backend->connect(group), *backend, counter};

    Matrix matrix(std::int64_t rows, std::int64_t cols, const std::function<double(std::int64_t)>& element) {
        std::vector<double> values;
        for (std::int64_t i = 0; i < rows * cols; ++i) values.push_back(element(i));
        Matrix m = backend->matrix(rows, cols);
        backend->upload(std::span<const double>(values), m);
        return m;
    }
    std::vector<double> values(ConstMatrixView m) { return backend->download(m).values; }
};

/// What one form of an operation leaves in a matrix of this rank.
using Run = std::function<std::vector<double>(Bench&, bool now)>;

struct Operation {
    CommOp op;
    Run run;
};

/// Large enough for every algorithm that an MPI library chooses by size, with a tail that divides by nothing.
constexpr std::int64_t rows = 4099, cols = 3;

void finish(Bench& b, bool now, const std::function<void()>& at_once, const std::function<Event()>& start) {
    if (now) return at_once();
    const Event e = start();
    b.backend->wait(StreamRole::compute, e);
}

std::vector<Operation> operations() {
    const auto mine = [](Bench& b, std::int64_t i) {
        return static_cast<double>((i % 97 + 1) * (b.world.rank() + 1));
    };
    const auto dense = [mine](Bench& b) {
        return b.matrix(rows, cols, [&](std::int64_t i) { return mine(b, i); });
    };
    return {
        {CommOp::broadcast,
         [=](Bench& b, bool now) {
             const Matrix m = dense(b);
             const int root = b.world.size() - 1;
             finish(b, now, [&] { b.world.broadcast_now(m, root); }, [&] { return b.world.broadcast(m, root); });
             return b.values(m);
         }},
        {CommOp::reduce,
         [=](Bench& b, bool now) {
             const Matrix m = dense(b);
             finish(b, now, [&] { b.world.reduce_now(m, 0); }, [&] { return b.world.reduce(m, 0); });
             return b.values(m);
         }},
        {CommOp::all_reduce,
         [=](Bench& b, bool now) {
             const Matrix m = dense(b);
             finish(
                 b, now, [&] { b.world.all_reduce_now(m, ReduceOp::maximum); },
                 [&] { return b.world.all_reduce(m, ReduceOp::maximum); });
             finish(b, now, [&] { b.world.all_reduce_now(m); }, [&] { return b.world.all_reduce(m); });
             return b.values(m);
         }},
        {CommOp::all_gather,
         [=](Bench& b, bool now) {
             const Matrix m = dense(b);
             const auto counts = block_sizes(rows, b.world.size());
             finish(
                 b, now, [&] { b.world.all_gather_now(m, counts); },
                 [&] { return b.world.all_gather(m, counts); });
             return b.values(m);
         }},
        {CommOp::reduce_scatter,
         [=](Bench& b, bool now) {
             const Matrix m = dense(b);
             const auto counts = block_sizes(rows, b.world.size());
             const Matrix own = b.backend->matrix(counts[static_cast<std::size_t>(b.world.rank())], cols);
             finish(
                 b, now, [&] { b.world.reduce_scatter_now(m, own, counts); },
                 [&] { return b.world.reduce_scatter(m, own, counts); });
             return b.values(own);
         }},
        {CommOp::point_to_point,
         [=](Bench& b, bool now) {
             const Matrix m = dense(b), from_left = dense(b);
             const int ranks = b.world.size(), rank = b.world.rank();
             if (ranks == 1) return b.values(m);
             const RowMessage out[] = {{(rank + 1) % ranks, m}}, in[] = {{(rank + ranks - 1) % ranks, from_left}};
             finish(b, now, [&] { b.world.exchange_now(out, in); }, [&] { return b.world.exchange(out, in); });
             return b.values(from_left);
         }},
        {CommOp::all_to_all,
         [=](Bench& b, bool now) {
             const Matrix m = dense(b), arrived = dense(b);
             std::vector<RowMessage> out, in;
             for (int peer = 0; peer < b.world.size(); ++peer) {
                 const std::int64_t first = block_begin(rows, b.world.size(), peer),
                                    count = peer == b.world.rank() ? 0 : rows / b.world.size();
                 out.push_back({peer, m.view().rows_from(first, count)});
                 in.push_back({peer, arrived.view().rows_from(first, count)});
             }
             finish(b, now, [&] { b.world.all_to_all_now(out, in); }, [&] { return b.world.all_to_all(out, in); });
             return b.values(arrived);
         }},
    };
}

/// The spans of one form, without their times.
std::vector<std::tuple<Phase, std::string, std::int64_t, std::int32_t>> spans(const Trace& trace) {
    std::vector<std::tuple<Phase, std::string, std::int64_t, std::int32_t>> out;
    for (const Span& s : trace.spans()) {
        CHECK(s.end_s >= s.begin_s);
        if (s.phase == Phase::comm || s.phase == Phase::wait)
            out.emplace_back(s.phase, s.operation, s.bytes, s.group_size);
    }
    return out;
}

}  // namespace

TEST_CASE("an operation waited for at once gives the same data, volume and spans as one started and waited for") {
    for (const bool separate : {false, true}) {
        Bench b;
        b.world.separate_wait(separate);
        for (const Operation& o : operations()) {
            INFO(comm_op_names[static_cast<std::size_t>(o.op)] << ", rank " << b.world.rank());
            b.backend->trace().begin_epoch();
            const std::vector<double> started = o.run(b, false);
            b.backend->trace().end_epoch();
            const auto started_spans = spans(b.backend->trace());
            const Volume started_volume = b.counter.take();
            b.backend->trace().begin_epoch();
            const std::vector<double> waited = o.run(b, true);
            b.backend->trace().end_epoch();  // throws if a span is open
            // Whole numbers: no order of summing makes a difference.
            CHECK(std::equal(started.begin(), started.end(), waited.begin(), waited.end()));
            CHECK(spans(b.backend->trace()) == started_spans);
            CHECK(difference(started_volume, b.counter.take()) == "");
        }
    }
}

TEST_CASE("sums waited for at once are the sums") {
    Bench b;
    const int ranks = b.world.size(), rank = b.world.rank();
    const double all = ranks * (ranks + 1) / 2.0;
    const Matrix m = b.matrix(rows, cols, [&](std::int64_t i) { return static_cast<double>(i * (rank + 1)); });
    b.world.all_reduce_now(m);
    const std::vector<double> sums = b.values(m);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        if (sums[i] == static_cast<double>(i) * all) continue;
        FAIL("element " << i << ": " << sums[i] << ", wanted " << static_cast<double>(i) * all);
    }
    const Array<double> scalar = b.backend->upload(std::span<const double>(std::array{rank + 1.0}));
    b.world.all_reduce_scalars_now(scalar.data(), 1);
    CHECK(*scalar.data() == all);
}

TEST_CASE("texts and sums of a group, in rank order") {
    const ProcessGroup group = mpi_world();
    const auto text_of = [](int rank) {
        return std::string(static_cast<std::size_t>(rank == 1 ? 0 : 300 + 7 * rank),
                           static_cast<char>('a' + rank)) +
               "|";
    };
    std::vector<std::string> expected;
    for (int r = 0; r < group.size(); ++r) expected.push_back(text_of(r));
    const int root = group.size() - 1;
    CHECK(group.all_gather(text_of(group.rank())) == expected);
    CHECK(group.gather(text_of(group.rank()), root) ==
          (group.rank() == root ? expected : std::vector<std::string>()));
    CHECK(group.all_gather("") == std::vector<std::string>(expected.size()));

    std::vector<double> values;
    for (int i = 0; i < 333; ++i) values.push_back(i * (group.rank() + 1.0));
    const double all = group.size() * (group.size() + 1) / 2.0;
    const std::vector<double> sums = group.sum(values), largest = group.maximum(values);
    for (int i = 0; i < 333; ++i) {
        CHECK(sums[static_cast<std::size_t>(i)] == i * all);
        CHECK(largest[static_cast<std::size_t>(i)] == i * static_cast<double>(group.size()));
    }
}

TEST_CASE("a blocking operation finishes while started ones of the same and of other groups are under way") {
    Bench b;
    Communicator half = b.world.split(b.world.rank() % 2, b.world.rank());
    const auto ones = [&] { return b.matrix(rows, cols, [](std::int64_t) { return 1.0; }); };
    const Matrix of_world = ones(), of_half = ones(), first = ones(), second = ones();
    const Event world_started = b.world.all_reduce(of_world), half_started = half.all_reduce(of_half);
    half.all_reduce_now(first);
    b.world.all_reduce_now(second);
    b.backend->wait(StreamRole::compute, half_started);
    b.backend->wait(StreamRole::compute, world_started);
    CHECK(b.values(of_world) == b.values(second));
    CHECK(b.values(of_half) == b.values(first));
    CHECK(b.values(first)[0] == half.size());
    CHECK(b.values(second)[0] == b.world.size());
}

TEST_CASE("messages are taken in the order that is given, and the order taken is recorded") {
    Bench b;
    const int ranks = b.world.size(), rank = b.world.rank();
    const Matrix mine = b.matrix(rows, cols, [&](std::int64_t) { return rank; });
    std::vector<Matrix> theirs;
    std::vector<RowMessage> sends, receives;
    for (int peer = 0; peer < ranks; ++peer) {
        if (peer == rank) continue;
        theirs.push_back(b.backend->matrix(rows, cols));
        sends.push_back({peer, mine});
        receives.push_back({peer, theirs.back()});
    }
    const auto take_all = [&] {
        std::vector<Event> arrivals = b.world.exchange_each(sends, receives);
        const Event sent = arrivals.back();
        arrivals.pop_back();
        std::vector<bool> done(arrivals.size());
        for (std::size_t k = 0; k < arrivals.size(); ++k)
            done[b.backend->wait_any(StreamRole::compute, arrivals, done)] = true;
        CHECK(std::ranges::count(done, false) == 0);
        b.backend->wait(StreamRole::compute, sent);
    };
    take_all();
    CHECK(b.backend->waits().empty());  // nobody asked
    std::vector<std::size_t> order;
    for (std::size_t i = receives.size(); i > 0; --i) order.push_back(i - 1);
    for (int turn = 0; turn < 3; ++turn) {
        b.backend->order_waits(order);
        take_all();
        CHECK(b.backend->waits() == order);
        for (std::size_t i = 0; i < theirs.size(); ++i) CHECK(b.values(theirs[i])[0] == receives[i].peer);
        std::ranges::rotate(order, order.begin() + (order.empty() ? 0 : 1));
    }
}
