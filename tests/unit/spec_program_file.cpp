#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/simulation/simulation.hpp>

#include "spec/machine_file.hpp"
#include "spec/program_file.hpp"

namespace gnnbench {
namespace {

TEST_CASE("every program that comes with gnnbench can be read, and each number has a source") {
    CHECK(program_names() == std::vector<std::string>{"bns-gcn", "mg-gcn", "plexus", "pytorch", "sa"});
    for (const std::string& name : program_names()) {
        const ProgramFile p = load_program(name);
        CHECK(p.program.name == name);
        CHECK_FALSE(p.schemes.empty());
        CHECK_FALSE(p.quantities.empty());
        for (const simulation::Quantity& q : p.quantities) CHECK(q.source.size() > 4);
    }
    CHECK(released_program("bns-gcn") == "bns-gcn");
    CHECK(released_program("plexus-3d") == "plexus");
    CHECK(released_program("sa-1d") == "sa");
    CHECK(released_program("cagnet-2d") == "pytorch");
    CHECK(released_program("gossip-gcn").empty());
}

TEST_CASE("a machine is simulated as the algorithm, or as a program") {
    CHECK(SimulatedChoice("perlmutter").program.empty());
    CHECK(SimulatedChoice("perlmutter as released").machine == "perlmutter");
    CHECK(SimulatedChoice("perlmutter as bns-gcn").text() == "perlmutter as bns-gcn");
    const simulation::Machine plain = SimulatedChoice("perlmutter").load("bns-gcn"),
                              as_released = SimulatedChoice("perlmutter as released").load("bns-gcn");
    CHECK(plain.program.name.empty());
    CHECK(plain.device.launch_s == Approx(5e-6));
    CHECK(as_released.program.name == "bns-gcn");
    CHECK(as_released.name == "perlmutter as released");
    CHECK(as_released.device.launch_s == Approx(10e-6));
    CHECK(as_released.program.message_bandwidth == Approx(2e9));
    CHECK(as_released.program.blocking);
    CHECK(SimulatedChoice("dgx-a100 as released").load("mg-gcn").program.one_host);
    CHECK(SimulatedChoice("dgx-a100 as released").load("mg-gcn").device.launch_s == Approx(5e-6));
    CHECK(SimulatedChoice("perlmutter").digest() == load_machine("perlmutter").digest.substr(0, 16));
    CHECK(SimulatedChoice("perlmutter as released").digest() != SimulatedChoice("perlmutter as bns-gcn").digest());
    CHECK_THROWS_WITH(SimulatedChoice("perlmutter as released").load("gossip-gcn"),
                      Catch::Contains("released program of gossip-gcn") && Catch::Contains("is not known"));
    CHECK_THROWS_WITH(SimulatedChoice("perlmutter as bns").digest(),
                      Catch::Contains("there is no program 'bns'") && Catch::Contains("allowed: bns-gcn"));
}

TEST_CASE("what is wrong with a program file is said with its place") {
    const auto says = [](const std::string& text, const std::string& message) {
        INFO(text);
        CHECK_THROWS_WITH(read_program(text, "mine.yaml"),
                          Catch::StartsWith("mine.yaml") && Catch::Contains(message));
    };
    const std::string named = "name: mine\nabout: ours\n";
    CHECK(read_program(named, "mine.yaml").program.name == "mine");
    says("- 1\n", "expected a program: a mapping with name");
    says("about: ours\n", "name: expected text");
    says(named + "operator_us: 10\n", "operator_us: expected {value: a number, source: where it is from}");
    says(named + "blocking: {value: 2, source: x}\n", "blocking: expected an integer in [0, 1]; found 2");
    says(named + "message_gbs: {value: 0, source: x}\n", "message_gbs: expected a number in");
    says(named + "operators_us: {value: 1, source: x}\n", "operators_us: is unknown; ");
    says(named + "schemes: bns-gcn\n", "schemes: expected a list of schemes");
}

/// Seconds of an exchange of one message in each direction of 100 bytes between two ranks on different nodes.
double exchange_s(const simulation::Program& program) {
    simulation::Machine m;
    m.name = "round";
    m.nodes = 2;
    m.devices_per_node = 1;
    m.device.memory_bandwidth = 1e6;
    m.device.host_link_bandwidth = 20;
    m.device.launch_s = 0.125;
    m.links.link_bandwidth = 10;
    m.links.among = {{2, 1}};
    m.links.nics = 1;
    m.links.nic_bandwidth = 10;
    m.links.network_hop_s = 2;
    m.program = program;
    double seconds = 0;
    simulation::Simulation simulation(m, simulation::NetworkModel::links, 2);
    simulation.run([&](const ProcessGroup& world) {
        simulation::SimulatedRank& me = simulation::rank_of(world);
        const auto transport = me.connect(world);
        const Message other{1 - world.rank(), nullptr, 100};
        transport->exchange(std::span(&other, 1), std::span(&other, 1));
        me.synchronize(StreamRole::communication);
        seconds = me.host_s();
    });
    return seconds;
}

TEST_CASE("a program's exchange takes its operators, its transport and its copies") {
    CHECK(exchange_s({}) == Approx(0.125 + 2 + 10));
    CHECK(exchange_s({.message_bandwidth = 4}) == Approx(0.125 + 2 + 25));
    CHECK(exchange_s({.message_bandwidth = 40}) == Approx(0.125 + 2 + 10));  // never faster than the network
    CHECK(exchange_s({.host_copies = true}) == Approx(0.125 + 2 + 10 + 5));
    // Two operators before it and three after, which a host that does not wait does meanwhile.
    const simulation::Program operators{.send_operators = 2, .receive_operators = 3};
    CHECK(exchange_s(operators) == Approx(3 * 0.125 + 2 + 10));
    CHECK(exchange_s({.send_operators = 2, .receive_operators = 3, .blocking = true}) ==
          Approx(3 * 0.125 + 2 + 10 + 3 * 0.125));
    CHECK(exchange_s({.message_s = 1, .blocking = true}) == Approx(1 + 0.125 + 2 + 10 + 1));
}

TEST_CASE("what a program does once an epoch is for each peer") {
    simulation::Machine m = load_machine("perlmutter");
    m.device.launch_s = 1;
    m.program = {.peer_operators = 2, .peer_messages = 1, .message_s = 0.5};
    std::vector<double> seconds(4);
    simulation::Simulation simulation(m, simulation::NetworkModel::links, 4);
    simulation.run([&](const ProcessGroup& world) {
        simulation::SimulatedRank& me = simulation::rank_of(world);
        me.clock().begin();
        seconds[static_cast<std::size_t>(world.rank())] = me.host_s();
    });
    for (const double s : seconds) CHECK(s == Approx(3 * (2 + 2 * 0.5)));
}

}  // namespace
}  // namespace gnnbench
