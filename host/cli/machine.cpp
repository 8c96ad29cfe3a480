#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include "calibrate/calibrate.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/ranges.hpp"
#include "cli/written.hpp"
#include "launch/machine.hpp"
#include "spec/machine_file.hpp"
#include "spec/program_file.hpp"

namespace gnnbench {

namespace {

using nlohmann::json;
using simulation::Machine;

/// A number's unit, by the end of its key ("links.nic_gbs", "links.groups.1 at 8").
std::string unit_of(std::string key) {
    key = key.substr(0, key.find(" at "));
    if (key.starts_with("links.groups.")) key = "_gbs";
    const std::pair<const char*, const char*> units[] = {
        {"_gbs", "10⁹ bytes/s"}, {"_gb", "10⁹ bytes"},     {"_mb", "10⁶ bytes"}, {"_tflops", "10¹² flop/s"},
        {"_gops", "10⁹/s"},      {"_efficiency", "share"}, {"_us", "µs"},        {"_ns", "ns"},
        {"_ps", "ps"},           {"_bytes", "bytes"}};
    for (const auto& [end, unit] : units)
        if (key.ends_with(end)) return unit;
    return key.starts_with("thesis_spmm.") ? "ms" : "";
}

int list_machines(bool as_json) {
    json list = json::array();
    TextColumns columns({"machine", "devices", "device", "about"});
    for (const std::string& name : machine_names()) {
        const Machine m = load_machine(name);
        list.push_back(
            {{"name", m.name}, {"devices", m.devices()}, {"device", m.device.name}, {"about", m.summary}});
        columns.add({m.name, fmt::format("{} x {}", m.nodes, m.devices_per_node), m.device.name, m.summary});
    }
    if (as_json)
        print_json(std::cout, list);
    else
        std::cout << columns.text();
    return exit_ok;
}

int show_machine(const std::string& given, bool as_json, bool as_file) {
    if (as_file) {
        std::cout << machine_text(given);
        return exit_ok;
    }
    const Machine m = load_machine(given);
    if (as_json) {
        json numbers = json::array();
        for (const simulation::Quantity& q : m.quantities)
            numbers.push_back(
                {{"key", q.key}, {"value", q.value}, {"unit", unit_of(q.key)}, {"source", q.source}});
        print_json(std::cout, {{"name", m.name},
                               {"about", m.summary},
                               {"device", m.device.name},
                               {"digest", m.digest},
                               {"numbers", std::move(numbers)}});
        return exit_ok;
    }
    std::cout << m.name << ": " << m.summary << "\ndevice " << m.device.name << "\n\n";
    TextColumns columns({"number", "value", "unit", "source"});
    for (const simulation::Quantity& q : m.quantities)
        columns.add({q.key, fmt::format("{:g}", q.value), unit_of(q.key), q.source});
    std::cout << columns.text();
    return exit_ok;
}

void add_machine_list(CLI::App& machine, Action& action) {
    CLI::App* command = machine.add_subcommand("list", "List the machines that come with gnnbench");
    auto as_json = std::make_shared<bool>(false);
    command->add_flag("--json", *as_json, "As JSON");
    command->callback([&action, as_json] { action = [as_json] { return list_machines(*as_json); }; });
}

void add_machine_show(CLI::App& machine, Action& action) {
    CLI::App* command = machine.add_subcommand("show", "Show a machine's numbers, and where each is from");
    auto name = std::make_shared<std::string>();
    auto as_json = std::make_shared<bool>(false), as_file = std::make_shared<bool>(false);
    command->add_option("name", *name, "As `gnnbench machine list` shows it, or a machine file")
        ->required()
        ->type_name("MACHINE");
    CLI::Option* json_flag = command->add_flag("--json", *as_json, "As JSON");
    command->add_flag("--file", *as_file, "The file itself, to start another one from")->excludes(json_flag);
    command->callback([&action, name, as_json, as_file] {
        action = [name, as_json, as_file] { return show_machine(*name, *as_json, *as_file); };
    });
}

int list_programs(bool as_json) {
    json list = json::array();
    TextColumns columns({"program", "schemes", "number", "value", "unit", "source"});
    for (const std::string& name : program_names()) {
        const ProgramFile p = load_program(name);
        json numbers = json::array();
        columns.add({name, fmt::format("{}", fmt::join(p.schemes, " ")), "", "", "", p.about});
        for (const simulation::Quantity& q : p.quantities) {
            columns.add({"", "", q.key, fmt::format("{:g}", q.value), unit_of(q.key), q.source});
            numbers.push_back(
                {{"key", q.key}, {"value", q.value}, {"unit", unit_of(q.key)}, {"source", q.source}});
        }
        list.push_back(
            {{"name", name}, {"about", p.about}, {"schemes", p.schemes}, {"numbers", std::move(numbers)}});
    }
    if (as_json)
        print_json(std::cout, list);
    else
        std::cout << columns.text();
    return exit_ok;
}

void add_machine_programs(CLI::App& machine, Action& action) {
    CLI::App* command = machine.add_subcommand(
        "programs",
        "List what released programs do beside their algorithms (kernel: simulated, machine: MACHINE as NAME)");
    auto as_json = std::make_shared<bool>(false);
    command->add_flag("--json", *as_json, "As JSON");
    command->callback([&action, as_json] { action = [as_json] { return list_programs(*as_json); }; });
}

int calibrate(const std::string& output, const std::string& name, int threads) {
    if (!output.empty() && !output.ends_with(".yaml"))
        throw SpecError(
            "--output: a machine file's name ends in .yaml, by which experiments tell it from a "
            "machine's name; found '" +
            output + "'");
    const std::string text = calibrated_machine(name, threads, usable_cores(), samples_of_ranks);
    read_machine(text, output.empty() ? "calibrated" : output);
    write_output(output, text);
    return exit_ok;
}

void add_machine_calibrate(CLI::App& machine, Action& action) {
    CLI::App* command =
        machine.add_subcommand("calibrate", "Measure this machine, for about a minute, and write its file");
    auto output = std::make_shared<std::string>(), name = std::make_shared<std::string>("mine");
    auto threads = std::make_shared<int>(1);
    command->add_option("--output", *output, "The file to write (default: stdout)")->type_name("FILE.yaml");
    command->add_option("--name", *name, "What tables call the machine (default: mine)")->type_name("NAME");
    command->add_option("--threads", *threads, "Cores of a device (default: 1)")->check(between(1, 1024));
    command->callback([&action, output, name, threads] {
        action = [output, name, threads] { return calibrate(*output, *name, *threads); };
    });
}

}  // namespace

void add_machine(CLI::App& app, const GlobalOptions&, Action& action) {
    CLI::App* machine = app.add_subcommand("machine", "Machines to simulate (kernel: simulated)");
    machine->require_subcommand(1);
    add_machine_list(*machine, action);
    add_machine_show(*machine, action);
    add_machine_programs(*machine, action);
    add_machine_calibrate(*machine, action);
}

}  // namespace gnnbench
