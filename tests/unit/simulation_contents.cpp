#include <catch2/catch.hpp>

#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <gnnbench/simulation/simulation.hpp>
#include <gnnbench/usize.hpp>

// When memory has contents, transfers and kernels change them at the virtual time at which they are over.
namespace gnnbench::simulation {
namespace {

/// One node of four devices, whose messages and collectives carry 10 bytes a second and have no latency.
Machine ten_bytes_a_second() {
    Machine m;
    m.name = "ten bytes a second";
    m.devices_per_node = 4;
    m.device.memory_bandwidth = 1e9;
    m.links.link_bandwidth = 10;
    m.links.among = {{2, 1}};
    m.links.nics = 1;
    m.links.nic_bandwidth = 10;
    return m;
}

using Body = std::function<void(int rank, SimulatedRank& me, Transport& transport)>;

void simulate(int ranks, const Body& body, const Machine& machine = ten_bytes_a_second()) {
    Simulation(machine, NetworkModel::links, ranks).run([&](const ProcessGroup& world) {
        const auto transport = rank_of(world).connect(world, Contents::values);
        body(world.rank(), rank_of(world), *transport);
        world.barrier();
        for (const StreamRole role : {StreamRole::compute, StreamRole::communication})
            rank_of(world).synchronize(role);
        rank_of(world).catch_up();
        world.barrier();
    });
}

std::int64_t bytes_of(const std::vector<float>& v) { return std::ssize(v) * std::int64_t{sizeof(float)}; }

TEST_CASE("a kernel changes memory when it is over, and the host that waits for it sees that") {
    std::string order;
    simulate(1, [&](int, SimulatedRank& me, Transport&) {
        me.enqueue(StreamRole::compute, {3, 0}, [&] { order += "slow "; });
        me.enqueue(StreamRole::communication, {2, 0}, [&] { order += "quick "; });
        me.act(StreamRole::compute, [&] { order += "act "; });
        me.enqueue(StreamRole::compute, {1, 0}, [&] { order += "next "; });
        CHECK(order.empty());
        me.synchronize(StreamRole::compute);
        me.catch_up();
        CHECK(order == "quick slow act next ");
    });
}

TEST_CASE("memory is kept until all streams have done what they were given") {
    const auto held = std::make_shared<int>();
    simulate(1, [&](int, SimulatedRank& me, Transport&) {
        me.enqueue(StreamRole::compute, {1, 0});
        me.enqueue(StreamRole::background, {9, 0}, [&] { CHECK(held.use_count() > 1); });
        me.keep(std::make_shared<std::shared_ptr<int>>(held));
        me.synchronize(StreamRole::compute);
        me.catch_up();
        CHECK(held.use_count() == 2);
        me.synchronize(StreamRole::background);
        me.catch_up();
        CHECK(held.use_count() == 1);
    });
}

TEST_CASE("a broadcast reads and writes when it is over") {
    std::vector<std::vector<float>> data{{1, 2}, {0, 0}, {0, 0}};
    float before = -1, after = -1;
    simulate(3, [&](int rank, SimulatedRank& me, Transport& transport) {
        std::vector<float>& mine = data[usize(rank)];
        transport.broadcast(mine.data(), bytes_of(mine), 0, Wait::later);  // 8 bytes: 0.8 s at least
        if (rank == 0) me.enqueue(StreamRole::compute, {0.1, 0}, [&] { mine[1] = 5; });
        if (rank != 2) return;
        me.enqueue(StreamRole::compute, {0.2, 0}, [&] { before = mine[1]; });
        me.enqueue(StreamRole::compute, {50, 0}, [&] { after = mine[1]; });
    });
    CHECK(before == 0);
    CHECK(after == 5);  // its root changed it without waiting
}

TEST_CASE("collectives bring what they promise") {
    // Rank r has r + 1, 10 (r + 1), 100 (r + 1).
    const auto own = [](int rank) {
        const auto x = static_cast<float>(rank + 1);
        return std::vector<float>{x, 10 * x, 100 * x};
    };
    using Call = std::function<void(int rank, Transport&, std::vector<float>& data)>;
    const auto after = [&](const Call& call) {
        std::vector<std::vector<float>> data;
        for (int r = 0; r < 3; ++r) data.push_back(own(r));
        simulate(3, [&](int rank, SimulatedRank&, Transport& t) { call(rank, t, data[usize(rank)]); });
        return data;
    };
    using All = std::vector<std::vector<float>>;
    CHECK(after([](int, Transport& t, std::vector<float>& d) {
              t.all_reduce(d.data(), 3, DType::f32, ReduceOp::sum, Wait::later);
          }) == All{{6, 60, 600}, {6, 60, 600}, {6, 60, 600}});
    CHECK(after([](int, Transport& t, std::vector<float>& d) {
              t.all_reduce(d.data(), 3, DType::f32, ReduceOp::maximum, Wait::at_once);
          }) == All{{3, 30, 300}, {3, 30, 300}, {3, 30, 300}});
    CHECK(after([](int, Transport& t, std::vector<float>& d) {
              t.reduce(d.data(), 2, DType::f32, ReduceOp::sum, 1, Wait::later);
          }) == All{{1, 10, 100}, {6, 60, 200}, {3, 30, 300}});
    CHECK(after([](int, Transport& t, std::vector<float>& d) {
              const std::int64_t bytes[] = {4, 0, 8};
              t.all_gather(d.data(), bytes, Wait::later);
          }) == All{{1, 30, 300}, {1, 30, 300}, {1, 30, 300}});
    std::vector<std::vector<float>> blocks(3);
    after([&](int rank, Transport& t, std::vector<float>& d) {
        const std::int64_t counts[] = {2, 1, 0};
        blocks[usize(rank)].resize(usize(counts[rank]));
        t.reduce_scatter(d.data(), blocks[usize(rank)].data(), counts, DType::f32, Wait::later);
    });
    CHECK(blocks == All{{6, 60}, {600}, {}});
}

TEST_CASE("sums add up in the order of ranks, whoever comes first") {
    std::vector<float> sums(4);
    for (const int late : {0, 1, 2, 3}) {
        std::vector<float> data{1e8F, 1, -1e8F, 1};
        simulate(4, [&](int rank, SimulatedRank& me, Transport& t) {
            if (rank == late) me.enqueue(StreamRole::communication, {7, 0});
            t.all_reduce(&data[usize(rank)], 1, DType::f32, ReduceOp::sum, Wait::later);
        });
        sums[usize(late)] = data[0];
    }
    CHECK(sums == std::vector<float>(4, ((1e8F + 1) - 1e8F) + 1));
}

TEST_CASE("a message carries what its sender has until its part is over, and arrives in its own time") {
    float sent = 1, received = 0, early = -1, in_time = -1;
    simulate(2, [&](int rank, SimulatedRank& me, Transport& t) {
        if (rank == 0) {
            const Message out{1, &sent, 4};  // 0.4 s
            const Event done = t.exchange(std::span(&out, 1), {});
            me.enqueue(StreamRole::compute, {0.1, 0}, [&] { sent = 2; });  // without waiting: seen
            me.wait(StreamRole::compute, done);
            me.enqueue(StreamRole::compute, {0.1, 0}, [&] { sent = 3; });
            return;
        }
        const Message in{0, &received, 4};
        me.enqueue(StreamRole::communication, {9, 0});  // comes late
        const auto events = t.exchange_each({}, std::span(&in, 1));
        me.enqueue(StreamRole::compute, {9.2, 0}, [&] { early = received; });  // without waiting: too early
        me.wait(StreamRole::compute, events[0]);
        me.synchronize(StreamRole::compute);
        me.catch_up();
        in_time = received;
        CHECK(me.host_s() == Approx(9.4));
    });
    CHECK(early == 0);
    CHECK(in_time == 2);
    CHECK(sent == 3);
}

TEST_CASE("rows that are read or added are the listed ones") {
    Machine m = ten_bytes_a_second();
    m.links.measured["read_rows"] = m.links.measured["add_rows"] = {{{8, 1}}};
    constexpr std::int64_t rows = 4, columns = 2;
    std::array<std::vector<double>, 2> all, got;
    simulate(
        2,
        [&](int rank, SimulatedRank& me, Transport& t) {
            std::vector<double>& mine = all[usize(rank)];
            mine.resize(rows * columns);
            std::iota(mine.begin(), mine.end(), 100. * rank);
            got[usize(rank)].assign(4, -1);
            const MatrixView whole{mine.data(), rows, columns, columns, DType::f64},
                some{got[usize(rank)].data(), 2, columns, columns, DType::f64};
            std::vector<std::int32_t> listed{3, 1};  // need not outlive the call
            const RowSet sends{1 - rank, listed}, receives{1 - rank, listed, some};
            const auto events = t.read_rows(whole, std::span(&sends, 1), std::span(&receives, 1));
            listed.assign(2, 0);
            for (const Event& e : events) me.wait(StreamRole::compute, e);
            me.synchronize(StreamRole::compute);
            const Message returned{1 - rank, some.data, 2 * columns * 8};
            const std::vector<std::int32_t> added{0, 2};
            const RowSet from{1 - rank, added};
            t.add_rows(whole, std::span(&returned, 1), std::span(&from, 1));
        },
        m);
    CHECK(got[0] == std::vector<double>{106, 107, 102, 103});
    CHECK(got[1] == std::vector<double>{6, 7, 2, 3});
    CHECK(all[0] == std::vector<double>{0 + 6, 1 + 7, 2, 3, 4 + 2, 5 + 3, 6, 7});
    CHECK(all[1] == std::vector<double>{100 + 106, 101 + 107, 102, 103, 104 + 102, 105 + 103, 106, 107});
}

TEST_CASE("what a kernel throws ends the simulation") {
    CHECK_THROWS_WITH(simulate(2,
                               [](int rank, SimulatedRank& me, Transport&) {
                                   if (rank == 1)
                                       me.enqueue(StreamRole::compute, {1, 0},
                                                  [] { throw std::runtime_error("a kernel's mistake"); });
                                   me.synchronize(StreamRole::compute);
                               }),
                      "a kernel's mistake");
}

}  // namespace
}  // namespace gnnbench::simulation
