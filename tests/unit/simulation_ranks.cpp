#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <vector>

#include <gnnbench/error.hpp>
#include <gnnbench/simulation/simulation.hpp>

#include "simulation/network.hpp"
#include "simulation/sharing.hpp"

// Numbers here are worked out by hand from a machine whose numbers are round.
namespace gnnbench::simulation {
namespace {

/// Two nodes of four devices. A memory of 100 bytes a second; one link of 10 to each device; two network cards of 5.
Machine round_numbers() {
    Machine m;
    m.name = "round";
    m.nodes = 2;
    m.devices_per_node = 4;
    m.device.memory_bandwidth = 100;
    m.links.link_bandwidth = 10;
    m.links.among = {{2, 1}};
    m.links.nics = 2;
    m.links.nic_bandwidth = 5;
    m.links.base_s = 1;
    m.links.hop_s = 0.5;
    m.links.network_hop_s = 2;
    m.links.message_s = 0.25;
    return m;
}

struct Ends final : Happening {
    explicit Ends(Timeline& of) : timeline(of) {}
    void happens(std::uint64_t tag) override { at[tag] = timeline.now_s(); }
    Timeline& timeline;
    std::map<std::uint64_t, double> at;
};

void run_all(Timeline& t) {
    while (t.step()) {
    }
}

TEST_CASE("activities beside each other slow down by what they ask for in all") {
    Timeline t;
    Ends ends(t);
    Sharing sharing(t, 2);
    const Demand all{0, 1}, sixth{0, 1. / 6};
    // Both run at 6/7: the transfer's 3 s take 3.5 s, when 3 s of the kernel's 6 are done; it ends after 3 more.
    sharing.start(6, {&all, 1}, ends, 1);
    sharing.start(3, {&sixth, 1}, ends, 2);
    run_all(t);
    CHECK(ends.at[2] == Approx(3.5));
    CHECK(ends.at[1] == Approx(6.5));
}

TEST_CASE("an activity is as slow as its scarcest resource, and others do not feel the rest") {
    Timeline t;
    Ends ends(t);
    Sharing sharing(t, 2);
    const Demand both[] = {{0, 1}, {1, 0.5}}, first{0, 1}, second{1, 0.5};
    sharing.start(4, both, ends, 1);
    sharing.start(2, {&first, 1}, ends, 2);   // resource 0: 2, so both run at 1/2
    sharing.start(3, {&second, 1}, ends, 3);  // resource 1: 1, nobody slows down
    run_all(t);
    CHECK(ends.at[3] == Approx(3));
    CHECK(ends.at[2] == Approx(4));
    CHECK(ends.at[1] == Approx(6));  // 2 of its 4 s were done after 4 s
}

TEST_CASE("collectives cost what rings carry") {
    const Machine m = round_numbers();
    const Placement inside = placement_of(m, std::vector{0, 1, 2, 3});
    CHECK(inside.nodes == 1);
    const auto cost = [&](Collective c, const Placement& p, NetworkModel model = NetworkModel::links) {
        return cost_of(c, Wait::at_once, 400, p, m, model);
    };
    // 3/4 of 400 bytes over a link of 10, after 1 s and 3 hops.
    CHECK(cost(Collective::all_gather, inside).transfer_s == Approx(30));
    CHECK(cost(Collective::all_gather, inside).latency_s == Approx(2.5));
    CHECK(cost(Collective::broadcast, inside).transfer_s == Approx(40));
    // Twice as much in a ring, which is less than a tree's 2 · 400 bytes.
    CHECK(cost(Collective::all_reduce, inside).transfer_s == Approx(60));
    // A small one takes a tree: 1 + 2 · 3 hops inside a node is a ring's, too; over 8 ranks of 2 nodes a tree's is
    // 1 + 2 (3 · 0.5 + 2), a ring's 1 + 2 (6 · 0.5 + 2).
    const Placement all = placement_of(m, std::vector{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(cost_of(Collective::all_reduce, Wait::at_once, 1, all, m, NetworkModel::links).latency_s == Approx(8));
    // Both network cards carry the rings of a group with four devices on each node, one those of a group with one.
    CHECK(cost(Collective::all_gather, all).transfer_s == Approx(35));
    const Placement apart = placement_of(m, std::vector{0, 4});
    CHECK(cost(Collective::all_gather, apart).transfer_s == Approx(40));
    CHECK(cost(Collective::all_gather, apart).network_rate == Approx(5));
    // The closed formula divides the node's 10 among the four groups that such a grid has.
    CHECK(cost(Collective::all_gather, apart, NetworkModel::ring).transfer_s == Approx(80));
    CHECK(cost(Collective::all_gather, apart, NetworkModel::ring).latency_s == 0);
}

TEST_CASE("what was measured of two devices stands for links within a node") {
    Machine m = round_numbers();
    m.links.measured["all_reduce"] = {{{100, 3}, {400, 6}}};
    const auto cost = [&](Collective c, Wait wait, const std::vector<int>& ranks) {
        const CollectiveCost of = cost_of(c, wait, 400, placement_of(m, ranks), m, NetworkModel::links);
        return of.latency_s + of.transfer_s;
    };
    CHECK(cost(Collective::all_reduce, Wait::at_once, {0, 1}) == Approx(6));
    CHECK(cost(Collective::all_reduce, Wait::at_once, {0, 1, 2, 3}) == Approx(12));  // a tree of pairs
    // The non-blocking form, others and other nodes have the links: 1 s, two hops, 400 bytes at 10 a second.
    CHECK(cost(Collective::all_reduce, Wait::later, {0, 1}) == Approx(1 + 2 * 0.5 + 40));
    CHECK(cost(Collective::broadcast, Wait::at_once, {0, 1}) == Approx(1 + 0.5 + 40));
    CHECK(cost(Collective::all_reduce, Wait::at_once, {0, 4}) > 40);
}

/// What each rank's clock shows after `body`.
std::vector<double> times_after(int ranks, const std::function<void(const ProcessGroup&, SimulatedRank&)>& body,
                                const Machine& machine = round_numbers()) {
    std::vector<double> times(static_cast<std::size_t>(ranks));
    Simulation simulation(machine, NetworkModel::links, ranks);
    simulation.run([&](const ProcessGroup& world) {
        SimulatedRank& me = rank_of(world);
        body(world, me);
        me.synchronize(StreamRole::compute);
        me.synchronize(StreamRole::communication);
        times[static_cast<std::size_t>(world.rank())] = me.host_s();
    });
    return times;
}

TEST_CASE("streams run in order, beside each other, and wait for events") {
    const auto times = times_after(1, [](const ProcessGroup&, SimulatedRank& me) {
        me.enqueue(StreamRole::compute, {3, 0});
        const Event three = me.record(StreamRole::compute);
        me.enqueue(StreamRole::compute, {4, 0});
        me.wait(StreamRole::communication, three);
        me.enqueue(StreamRole::communication, {1, 0});
        CHECK_FALSE(three.ready());
        me.synchronize(StreamRole::communication);
        CHECK(three.ready());
        CHECK(me.host_s() == Approx(4));
    });
    CHECK(times[0] == Approx(7));
}

TEST_CASE("the host issues work no earlier than its own clock says") {
    const auto times = times_after(1, [](const ProcessGroup&, SimulatedRank& me) {
        me.enqueue(StreamRole::compute, {1, 0});
        me.host_works(5);
        me.enqueue(StreamRole::compute, {1, 0});
    });
    CHECK(times[0] == Approx(6));
}

TEST_CASE("a collective begins when its last rank has come, and is over for all at once") {
    const auto times = times_after(4, [](const ProcessGroup& world, SimulatedRank& me) {
        const auto transport = me.connect(world);
        me.enqueue(StreamRole::communication, {static_cast<double>(world.rank()), 0});
        transport->broadcast(nullptr, 400, 0, Wait::later);
    });
    // The last comes after 3 s; 1 s and 3 hops; 40 s.
    for (const double t : times) CHECK(t == Approx(3 + 2.5 + 40));
}

TEST_CASE("a transfer and a kernel share their device's memory") {
    const auto beside_a_broadcast = [](int ranks, double begins_s, const std::vector<double>& slowdown) {
        const auto kernel_s = [&](int rank) {
            return begins_s + (22 - begins_s) * slowdown[static_cast<std::size_t>(rank)];
        };
        const auto times = times_after(ranks, [&](const ProcessGroup& world, SimulatedRank& me) {
            const auto transport = me.connect(world);
            transport->broadcast(nullptr, 400, 0, Wait::later);
            me.enqueue(StreamRole::compute, {22, 1});
            me.synchronize(StreamRole::compute);
            // What is left of the kernel when the transfer begins is slowed down.
            CHECK(me.host_s() == Approx(kernel_s(world.rank())));
        });
        // The transfer did as much meanwhile as the slowest kernel; the rest of its 40 s it is alone.
        CHECK(times[0] == Approx(kernel_s(1) + 40 - (22 - begins_s)));
    };
    // 10 bytes a second of a memory of 100, which ranks inside a ring write and read again to pass on.
    beside_a_broadcast(4, 2.5, {1.1, 1.2, 1.2, 1.1});
    beside_a_broadcast(2, 1.5, {1.1, 1.1});
}

TEST_CASE("NCCL's chunks take a memory's time beside a kernel, too") {
    const auto slowdown = [](int capability) {
        Machine m = round_numbers();
        m.links.nccl_capability = capability;
        std::vector<double> of(4);
        times_after(
            4,
            [&](const ProcessGroup& world, SimulatedRank& me) {
                const auto transport = me.connect(world);
                transport->broadcast(nullptr, 4000, 1, Wait::later);  // 400 s, from the second rank
                me.enqueue(StreamRole::compute, {100, 1});
                me.synchronize(StreamRole::compute);
                of[static_cast<std::size_t>(world.rank())] = me.host_s() / 100;
            },
            m);
        return of;
    };
    const auto check = [](const std::vector<double>& of, const std::vector<double>& expected) {
        for (std::size_t i = 0; i < of.size(); ++i) CHECK(of[i] == Approx(expected[i]).epsilon(1e-4));
    };
    check(slowdown(80), {1.1, 1.3, 1.3, 1.3});  // chunks with the sender: the last has none
    check(slowdown(70), {1.3, 1.1, 1.3, 1.3});  // with the receiver: the root has none
}

TEST_CASE("a device with one stream moves its messages between kernels") {
    Machine m = round_numbers();
    m.device.streams = 1;
    m.links.measured["exchange"] = {{{50, 3}}};
    const auto times = times_after(
        2,
        [](const ProcessGroup& world, SimulatedRank& me) {
            const auto transport = me.connect(world);
            const int other = 1 - world.rank();
            const Message two[] = {{other, nullptr, 40}, {other, nullptr, 60}};
            me.enqueue(StreamRole::compute, {2, 0});
            transport->exchange(two, two);  // as two of 50 bytes each
            me.enqueue(StreamRole::compute, {4, 0});
            transport->broadcast(nullptr, 100, 0, Wait::later);
        },
        m);
    for (const double t : times) CHECK(t == Approx(2 + 6 + 4 + 1 + 0.5 + 10));
}

TEST_CASE("rows are read where they lie on a machine that was measured so") {
    Machine m = round_numbers();
    const auto seconds = [&](const Machine& machine, auto&& use) {
        double s = -1;
        Simulation(machine, NetworkModel::links, 2).run([&](const ProcessGroup& world) {
            const auto transport = rank_of(world).connect(world);
            use(*transport);
            rank_of(world).synchronize(StreamRole::communication);
            s = rank_of(world).host_s();
        });
        return s;
    };
    CHECK(seconds(m, [](Transport& t) { CHECK_FALSE(t.reads_rows()); }) == 0);
    m.links.measured["read_rows"] = {{{80, 3}}};
    m.links.measured["add_rows"] = {{{80, 5}}};
    const std::vector<std::int32_t> rows(10);
    char memory[160];
    const MatrixView all{memory, 20, 2, 2, DType::f32}, some{memory, 10, 2, 2, DType::f32};
    // 10 rows of 8 bytes.
    CHECK(seconds(m, [&](Transport& t) {
              CHECK(t.reads_rows());
              const RowSet sent{1 - t.rank(), rows}, taken{1 - t.rank(), rows, some};
              CHECK(t.read_rows(all, std::span(&sent, 1), std::span(&taken, 1)).size() == 2);
          }) == Approx(3));
    CHECK(seconds(m, [&](Transport& t) {
              const Message sent{1 - t.rank(), memory, 80};
              const RowSet added{1 - t.rank(), rows};
              t.add_rows(all, std::span(&sent, 1), std::span(&added, 1));
          }) == Approx(5));
}

TEST_CASE("rings of groups that leave a node at the same time share its network cards") {
    const auto times = times_after(8, [](const ProcessGroup& world, SimulatedRank& me) {
        const auto transport = me.connect(world.split(world.rank() % 4, world.rank()));
        std::int64_t half[] = {200, 200};
        transport->all_gather(nullptr, half, Wait::later);
    });
    // Four pairs, one rank of each on either node: each asks for half of a node's cards, so each runs at 1/2.
    for (const double t : times) CHECK(t == Approx(1 + 2 + 2 * 40));
}

TEST_CASE("messages travel when both sides have come, over the busier port") {
    const auto times = times_after(3, [](const ProcessGroup& world, SimulatedRank& me) {
        const auto transport = me.connect(world);
        const int rank = world.rank();
        // 1 and 2 send 100 bytes each to 0, which comes at 4 s.
        if (rank == 0) {
            me.enqueue(StreamRole::communication, {4, 0});
            const Message in[] = {{1, nullptr, 100}, {2, nullptr, 100}};
            const std::vector<Event> arrivals = transport->exchange_each({}, in);
            me.enqueue(StreamRole::compute, {5, 0});  // when it is over, the arrival's time is known, and later
            me.wait(StreamRole::compute, arrivals[0]);
            me.enqueue(StreamRole::compute, {1, 0});
        } else {
            const Message out[] = {{0, nullptr, 100}};
            transport->exchange(out, {});
        }
    });
    CHECK(times[1] == Approx(10.25));                            // its own port: it waits for no receiver
    CHECK(times[0] == Approx(4 + 1 + 0.5 + 20 + 2 * 0.25 + 1));  // and the kernel after it
}

TEST_CASE("control messages carry their content, and clocks meet in them") {
    const auto times = times_after(6, [](const ProcessGroup& world, SimulatedRank& me) {
        const int rank = world.rank();
        me.host_works(5 - rank);
        CHECK(world.sum({1, static_cast<double>(rank)}) == std::vector<double>{6, 15});
        CHECK(me.host_s() == 5);
        CHECK(world.maximum({static_cast<double>(-rank)})[0] == 0);
        const auto all = world.all_gather(std::string(static_cast<std::size_t>(rank), 'x'));
        REQUIRE(all.size() == 6);
        CHECK(all[4] == "xxxx");
        CHECK(world.gather("a", 2).size() == (rank == 2 ? 6 : 0));
        int value = rank == 3 ? 42 : 0;
        world.broadcast(&value, sizeof value, 3);
        CHECK(value == 42);
        const ProcessGroup part = world.split(rank % 2, -rank);
        CHECK(part.size() == 3);
        CHECK(part.rank() == 2 - rank / 2);
        CHECK(part.sum({static_cast<double>(rank)})[0] == (rank % 2 == 0 ? 6 : 9));
        CHECK(world.split_by_host().size() == (rank < 4 ? 4 : 2));
    });
    CHECK(times == std::vector<double>(6, 5));
}

TEST_CASE("ranks that wait for each other for ever are told apart") {
    Simulation simulation(round_numbers(), NetworkModel::links, 4);
    try {
        simulation.run([](const ProcessGroup& world) {
            const ProcessGroup part = world.split(world.rank() == 3 ? 1 : 0, 0);
            if (world.rank() != 1) part.barrier();
        });
        FAIL("nobody noticed");
    } catch (const LogicError& e) {
        const std::string text = e.what();
        CHECK_THAT(text, Catch::Contains("rank 0 waits in barrier for 1"));
        CHECK_THAT(text, !Catch::Contains("rank 3"));
    }
}

TEST_CASE("a device that waits for ever is told") {
    Simulation simulation(round_numbers(), NetworkModel::links, 2);
    try {
        simulation.run([](const ProcessGroup& world) {
            const auto transport = rank_of(world).connect(world);
            if (world.rank() == 0) transport->broadcast(nullptr, 8, 1, Wait::later);
            rank_of(world).synchronize(StreamRole::communication);
        });
        FAIL("nobody noticed");
    } catch (const LogicError& e) {
        CHECK_THAT(e.what(), Catch::Contains("rank 0") && Catch::Contains("broadcast 0 of 8 bytes from rank 1") &&
                                 Catch::Contains("1 of which have come"));
    }
}

TEST_CASE("what one rank throws ends all, and their objects") {
    int alive = 0;
    struct Counted {
        explicit Counted(int& n) : count(n) { ++count; }
        ~Counted() { --count; }
        int& count;
    };
    Simulation simulation(round_numbers(), NetworkModel::links, 8);
    CHECK_THROWS_WITH(simulation.run([&](const ProcessGroup& world) {
        const Counted mine(alive);
        if (world.rank() == 5) throw DataError("rank 5 has had enough");
        world.barrier();
    }),
                      "rank 5 has had enough");
    CHECK(alive == 0);
}

TEST_CASE("calls of a group that do not match are told") {
    Simulation simulation(round_numbers(), NetworkModel::links, 2);
    CHECK_THROWS_WITH(simulation.run([&](const ProcessGroup& world) {
        const auto transport = rank_of(world).connect(world);
        if (world.rank() == 0)
            transport->broadcast(nullptr, 8, 0, Wait::later);
        else
            transport->all_reduce(nullptr, 2, DType::f32, ReduceOp::sum, Wait::later);
        rank_of(world).synchronize(StreamRole::communication);
    }),
                      Catch::Contains("all-reduce of 8 bytes") && Catch::Contains("broadcast 0 of 8 bytes"));
}

TEST_CASE("a machine has to have the devices") {
    CHECK_THROWS_WITH(Simulation(round_numbers(), NetworkModel::links, 9),
                      "machine round has 8 devices; 9 ranks need one each");
}

TEST_CASE("exceptions in flight are each rank's own") {
    times_after(4, [](const ProcessGroup& world, SimulatedRank&) {
        try {
            throw DataError(std::to_string(world.rank()));
        } catch (const DataError& e) {
            world.barrier();  // others throw and catch meanwhile
            CHECK(std::uncaught_exceptions() == 0);
            try {
                throw;
            } catch (const DataError& again) {
                CHECK(again.what() == std::to_string(world.rank()));
            }
        }
    });
}

}  // namespace
}  // namespace gnnbench::simulation
