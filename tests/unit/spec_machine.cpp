#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "spec/machine_file.hpp"

namespace gnnbench {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

TEST_CASE("every machine that comes with gnnbench can be read, and each number has a source") {
    CHECK(machine_names() == std::vector<std::string>{"dgx-a100", "dgx-v100", "epyc-2-cores", "frontier",
                                                      "perlmutter", "sulis", "xeon-8268"});
    for (const std::string& name : machine_names()) {
        INFO(name);
        const simulation::Machine m = load_machine(name);
        CHECK(m.name == name);
        CHECK(m.devices() >= 2);
        CHECK(m.quantities.size() >= 26);
        for (const simulation::Quantity& q : m.quantities) CHECK(q.source.size() > 4);
    }
}

TEST_CASE("a machine file's numbers are in bytes and seconds") {
    const simulation::Machine m = load_machine("perlmutter");
    CHECK(m.devices() == 6144);
    CHECK(m.node_of(3) == 0);
    CHECK(m.node_of(4) == 1);
    CHECK(m.device.memory_bytes == Approx(42.95e9));
    CHECK(m.device.memory_bandwidth == 1555e9);
    CHECK(m.device.launch_s == Approx(5e-6));
    REQUIRE(m.links.among.size() == 3);
    CHECK(m.links.among[1].devices == 3);
    CHECK(m.links.among[1].links == 8);
    CHECK(m.thesis.constant == Approx(7.8e-7));
    CHECK(m.thesis.backward < 0);
}

TEST_CASE("numbers by size are in bytes and seconds, ascending") {
    const std::string text =
        replaced(machine_text("dgx-a100"), "links:\n",
                 "links:\n  all_reduce_later_us: {at: {1e6: 97, 64: 0.5}, source: measured}\n");
    const simulation::Machine m = read_machine(text, "a.yaml");
    const simulation::Curve& c = m.links.measured.at("all_reduce_later");
    REQUIRE(c.points.size() == 2);
    CHECK(c.points[0].bytes == 64);
    CHECK(c.points[0].value == Approx(0.5e-6));
    CHECK(c.points[1].bytes == 1e6);
    CHECK(m.links.measured.size() == 1);
    CHECK(m.device.stream.empty());
    CHECK(m.device.streams == 2);
    CHECK(m.quantities.size() == load_machine("dgx-a100").quantities.size() + 2);
}

TEST_CASE("another content of a machine file has another digest") {
    const std::string text = machine_text("dgx-a100");
    const auto first = read_machine(text, "a.yaml"),
               second = read_machine(replaced(text, "2039", "2040"), "a.yaml");
    CHECK(first.digest.size() == 32);
    CHECK(first.digest != second.digest);
}

TEST_CASE("what is wrong with a machine file is said with its place") {
    const std::string text = machine_text("dgx-a100");
    const auto says = [&](const std::string& from, const std::string& to, const std::string& message) {
        INFO(from << " -> " << to);
        CHECK_THROWS_WITH(read_machine(replaced(text, from, to), "mine.yaml"),
                          Catch::StartsWith("mine.yaml:") && Catch::Contains(message));
    };
    says("  nics: {", "  nisc: {", "links.nisc: is unknown; allowed:");
    says("  nics: {", "  nisc: {", "links.nics: is missing: network cards of a node");
    says("  nics: {", "  mpi: {value: 1, source: x}\n  nics: {", "links.mpi: stands beside nccl_capability");
    says("{value: 19.5, source: \"NVIDIA A100 data sheet\"}", "19.5",
         "device.float32_tflops: expected {value: a number, source: where it is from}; found");
    says("{value: 0.9, source", "{value: 1.1, source", "device.stream_efficiency: expected a number in");
    says("processors: {value: 108", "processors: {value: 108.5", "device.processors: expected an integer in");
    says("name: A100-SXM4-80GB", "title: A100-SXM4-80GB", "device.name: expected text");
    const std::string curve = "links:\n  reduce_us: ";
    says("links:\n", curve + "{at: {}, source: x}\n", "links.reduce_us: expected {at: {bytes: a number, …}");
    says("links:\n", curve + "{at: {64: 1}}\n", "links.reduce_us: expected {at: {bytes: a number, …}");
    says("links:\n", curve + "{at: {64: 0}, source: x}\n",
         "links.reduce_us: expected bytes: a number, both above 0");
    says("links:\n", curve + "{at: {-64: 1}, source: x}\n",
         "links.reduce_us: expected bytes: a number, both above 0");
    const std::string pairs = "links:\n  pairs: ", groups = "links:\n  groups: ";
    says("links:\n", pairs + "{0-1: 2}\n", "links.pairs: expected {at: {device-device: a number, …}");
    says("links:\n", pairs + "{at: {0-8: 2}, source: x}\n", "links.pairs: expected two devices of a node");
    says("links:\n", pairs + "{at: {1-0: 2}, source: x}\n", "links.pairs: expected two devices of a node");
    says("links:\n", pairs + "{at: {0-1: 1.5}, source: x}\n", "links.pairs: expected two devices of a node");
    says("links:\n", pairs + "{at: {01: 1}, source: x}\n", "links.pairs: expected two devices of a node");
    says("links:\n", groups + "{}\n", "links.groups: expected what groups carry");
    says("links:\n", groups + "{1: 76}\n", "links.groups.1: expected {at: {ranks: a number, …}");
    says("links:\n", groups + "{x: {at: {2: 76}, source: x}}\n", "links.groups.x: expected the distance");
    says("links:\n", groups + "{1: {at: {1: 76}, source: x}}\n", "links.groups.1: expected ranks of a group");
    says("links:\n", groups + "{2: {at: {2: 76}, source: x}}\n", "links.groups: begins with groups of 2 ranks");
    const std::string nic = "nic_gbs: {value: 25";
    says(nic, "nic_gbs: {value: 400", "400 Gb/s would be 50. If it is meant, add to it: checked: true");
    says(nic, "nic_gbs: {checked: 1, value: 400",
         "links.nic_gbs.checked: expected true or false; found the integer 1");
    for (const char* yes : {"true", "True"})
        CHECK(
            read_machine(replaced(text, nic, fmt::format("nic_gbs: {{checked: {}, value: 400", yes)), "mine.yaml")
                .links.nic_bandwidth == 400e9);
    says(nic, "nic_gbs: {checked: False, value: 400", "400 Gb/s would be 50");
    CHECK_THROWS_WITH(load_machine("dgx-a101"), Catch::Contains("did you mean 'dgx-a100'"));
    CHECK_THROWS_WITH(load_machine("no/such.yaml"), Catch::Contains("expected a machine file at"));
}

TEST_CASE("schemas/machine.schema.json is what machine files are checked against") {
    const std::string path = std::string(GNNBENCH_SOURCE_DIR) + "/schemas/machine.schema.json";
    const std::string expected = machine_schema().dump(2) + "\n";
    if (std::getenv("GNNBENCH_REWRITE")) std::ofstream(path) << expected;
    std::ifstream in(path);
    const std::string found((std::istreambuf_iterator<char>(in)), {});
    CHECK(found == expected);
}

}  // namespace
}  // namespace gnnbench
