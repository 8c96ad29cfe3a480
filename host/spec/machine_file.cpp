#include "spec/machine_file.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <gnnbench/usize.hpp>

#include "spec/findings.hpp"
#include "spec/text_file.hpp"
#include "spec/yaml.hpp"

namespace gnnbench {
namespace {

using SimulatedMachine = simulation::Machine;
using Kind = YamlNode::Kind;

struct EmbeddedMachine {
    const char *name, *text;
};
constexpr EmbeddedMachine embedded_machines[] = {
#include "embedded_machines.inc"
};

/// A number of a machine file: {value: …, source: …}.
struct MachineField {
    const char *section, *key;
    double scale;  ///< of its unit
    bool whole, required;
    double minimum, maximum;
    const char* help;
    void (*set)(SimulatedMachine&, double);
};

constexpr double giga = 1e9, mega = 1e6, tera = 1e12, micro = 1e-6, nano = 1e-9, unlimited = 1e18;

const MachineField machine_fields[] = {
    {"", "nodes", 1, true, true, 1, 1e6, "nodes",
     [](SimulatedMachine& m, double v) { m.nodes = static_cast<int>(v); }},
    {"", "devices_per_node", 1, true, true, 1, 1024, "devices of a node; each is a rank's",
     [](SimulatedMachine& m, double v) { m.devices_per_node = static_cast<int>(v); }},
    {"device", "memory_gb", giga, false, true, 0, unlimited, "memory, in units of 10⁹ bytes",
     [](SimulatedMachine& m, double v) { m.device.memory_bytes = v; }},
    {"device", "reserved_gb", giga, false, true, 0, unlimited, "of it, what the runtime and its libraries keep",
     [](SimulatedMachine& m, double v) { m.device.reserved_bytes = v; }},
    {"device", "memory_bandwidth_gbs", giga, false, true, 1e-3, unlimited, "peak, in 10⁹ bytes a second",
     [](SimulatedMachine& m, double v) { m.device.memory_bandwidth = v; }},
    {"device", "cache_mb", mega, false, true, 0, unlimited, "last-level cache, in 10⁶ bytes",
     [](SimulatedMachine& m, double v) { m.device.cache_bytes = v; }},
    {"device", "cache_bandwidth_gbs", giga, false, true, 1e-3, unlimited, "peak of that cache",
     [](SimulatedMachine& m, double v) { m.device.cache_bandwidth = v; }},
    {"device", "float32_tflops", tera, false, true, 1e-6, unlimited,
     "peak of dense float32 products, without TF32",
     [](SimulatedMachine& m, double v) { m.device.float32_rate = v; }},
    {"device", "float64_tflops", tera, false, true, 1e-6, unlimited, "the same of float64, without tensor cores",
     [](SimulatedMachine& m, double v) { m.device.float64_rate = v; }},
    {"device", "processors", 1, true, true, 1, 1e6, "streaming multiprocessors, compute units or cores",
     [](SimulatedMachine& m, double v) { m.device.processors = static_cast<int>(v); }},
    {"device", "host_link_gbs", giga, false, true, 1e-3, unlimited, "between host and device, in one direction",
     [](SimulatedMachine& m, double v) { m.device.host_link_bandwidth = v; }},
    {"device", "launch_us", micro, false, true, 0, unlimited, "time of the host for each kernel",
     [](SimulatedMachine& m, double v) { m.device.launch_s = v; }},
    {"device", "least_kernel_us", micro, false, true, 0, unlimited, "time of the device for an empty kernel",
     [](SimulatedMachine& m, double v) { m.device.least_kernel_s = v; }},
    {"device", "stream_efficiency", 1, false, true, 1e-6, 1, "share of the memory's peak of element-wise kernels",
     [](SimulatedMachine& m, double v) { m.device.stream_efficiency = v; }},
    {"device", "gather_efficiency", 1, false, true, 1e-6, 1, "the same of reading rows in no order",
     [](SimulatedMachine& m, double v) { m.device.gather_efficiency = v; }},
    {"device", "cached_gather_efficiency", 1, false, true, 1e-6, 1,
     "share of the cache's peak of reading rows in no order",
     [](SimulatedMachine& m, double v) { m.device.cached_gather_efficiency = v; }},
    {"device", "gemm_efficiency", 1, false, true, 1e-6, 1, "share of the peak rate of large dense products",
     [](SimulatedMachine& m, double v) { m.device.gemm_efficiency = v; }},
    {"device", "line_bytes", 1, false, false, 0, unlimited,
     "rows in no order are read in whole lines of so many bytes",
     [](SimulatedMachine& m, double v) { m.device.line_bytes = v; }},
    {"device", "gemm_tile", 1, true, false, 1, 4096, "columns that a dense product computes together",
     [](SimulatedMachine& m, double v) { m.device.gemm_tile = static_cast<int>(v); }},
    {"device", "gemm_part_tile", 1, false, false, 1, 4096,
     "whole tiles' time of one that is filled in part, in products of many rows",
     [](SimulatedMachine& m, double v) { m.device.gemm_part_tile = v; }},
    {"device", "tile_columns", 1, true, false, 1, 1e9,
     "columns that a sparse product goes through at a time, where rows have 16 nonzeros and more in so many",
     [](SimulatedMachine& m, double v) { m.device.tile_columns = static_cast<int>(v); }},
    {"device", "exp_gops", giga, false, false, 1e-6, unlimited, "exponentials of losses, in 10⁹ a second",
     [](SimulatedMachine& m, double v) { m.device.exp_rate = v; }},
    {"device", "streams", 1, true, false, 1, 2,
     "1: a device moves its own messages, and computes nothing meanwhile",
     [](SimulatedMachine& m, double v) { m.device.streams = static_cast<int>(v); }},
    {"links", "link_gbs", giga, false, true, 1e-6, unlimited,
     "one link within a node, one direction, as collectives reach it",
     [](SimulatedMachine& m, double v) { m.links.link_bandwidth = v; }},
    {"links", "most_gbs", giga, false, false, 0, unlimited, "the most that a collective within a node reaches",
     [](SimulatedMachine& m, double v) { m.links.most_bandwidth = v; }},
    {"links", "nics", 1, true, true, 1, 1024, "network cards of a node",
     [](SimulatedMachine& m, double v) { m.links.nics = static_cast<int>(v); }},
    {"links", "nic_gbs", giga, false, true, 1e-6, unlimited, "one network card, one direction",
     [](SimulatedMachine& m, double v) { m.links.nic_bandwidth = v; }},
    {"links", "base_us", micro, false, true, 0, unlimited, "every operation of several devices",
     [](SimulatedMachine& m, double v) { m.links.base_s = v; }},
    {"links", "hop_us", micro, false, true, 0, unlimited, "each step of an operation between devices of a node",
     [](SimulatedMachine& m, double v) { m.links.hop_s = v; }},
    {"links", "network_hop_us", micro, false, true, 0, unlimited, "each step between nodes",
     [](SimulatedMachine& m, double v) { m.links.network_hop_s = v; }},
    {"links", "message_us", micro, false, true, 0, unlimited, "each point-to-point message, on either side",
     [](SimulatedMachine& m, double v) { m.links.message_s = v; }},
    {"thesis_spmm", "constant", 1e-3, false, false, -unlimited, unlimited,
     "the three coefficients of section 4.1, in ms", [](SimulatedMachine& m, double v) { m.thesis.constant = v; }},
    {"thesis_spmm", "forward", 1e-3, false, false, -unlimited, unlimited, "of fwd_penalty",
     [](SimulatedMachine& m, double v) { m.thesis.forward = v; }},
    {"thesis_spmm", "backward", 1e-3, false, false, -unlimited, unlimited, "of bwd_penalty",
     [](SimulatedMachine& m, double v) { m.thesis.backward = v; }},
};

/// Numbers measured at several sizes: {at: {64: …, 1e6: …}, source: …}, all optional.
struct MachineCurve {
    const char* section;
    std::string key;
    double scale;
    const char* help;
    simulation::Curve simulation::Device::* of;  ///< nullptr: of links, by the key less its unit

    simulation::Curve& in(SimulatedMachine& m) const {
        return of ? m.device.*of : m.links.measured[key.substr(0, key.rfind('_'))];
    }
};

const MachineCurve machine_curves[] = {
    {"device", "stream_gbs", giga,
     "in order, by the bytes touched since the same ones were; in place of peaks and shares",
     &simulation::Device::stream},
    {"device", "gather_gbs", giga,
     "rows of 128 bytes in no order, by the bytes that they lie in; in place of peaks and shares",
     &simulation::Device::gather},
    {"device", "wide_gather_gbs", giga, "the same of rows of 512 bytes", &simulation::Device::wide_gather},
    {"device", "shared_stream_gbs", giga, "stream_gbs while all devices of the node work",
     &simulation::Device::shared_stream},
    {"device", "shared_gather_gbs", giga, "gather_gbs while all devices of the node work",
     &simulation::Device::shared_gather},
    {"device", "shared_wide_gather_gbs", giga, "wide_gather_gbs while all devices of the node work",
     &simulation::Device::shared_wide_gather},
    {"device", "loss_ns", nano, "a row's loss and gradient, by its columns; in place of exp_gops",
     &simulation::Device::loss},
    {"device", "sharded_loss_ns", nano, "the same where a rank holds so many of a row's columns",
     &simulation::Device::sharded_loss},
    {"links", "broadcast_us", micro, "between two devices of a node, by its bytes; in place of links", nullptr},
    {"links", "broadcast_later_us", micro, "the same, non-blocking", nullptr},
    {"links", "reduce_us", micro, "the same of a reduction", nullptr},
    {"links", "reduce_later_us", micro, "the same, non-blocking", nullptr},
    {"links", "all_reduce_us", micro, "the same of an all-reduce", nullptr},
    {"links", "all_reduce_later_us", micro, "the same, non-blocking", nullptr},
    {"links", "all_gather_us", micro, "the same of an all-gather", nullptr},
    {"links", "all_gather_later_us", micro, "the same, non-blocking", nullptr},
    {"links", "reduce_scatter_us", micro, "the same of a reduce-scatter", nullptr},
    {"links", "reduce_scatter_later_us", micro, "the same, non-blocking", nullptr},
    {"links", "exchange_us", micro, "a message in each direction, by the bytes of one", nullptr},
    {"links", "read_rows_us", micro,
     "rows that each of the two reads where the other has them, by the bytes of one's; without it rows are packed",
     nullptr},
    {"links", "add_rows_us", micro, "the same of rows that are added to rows of the reader", nullptr},
};

constexpr const char* machine_sections[] = {"device", "links", "thesis_spmm"};

std::string machine_key(const MachineField& f) {
    return *f.section ? fmt::format("{}.{}", f.section, f.key) : std::string(f.key);
}

/// Reads one file; what is wrong is collected.
class MachineReader {
public:
    MachineReader(const std::string& text, const std::string& origin)
        : root_(parse_yaml(text, origin, findings_)), file_{origin, 1, 1} {
        findings_.raise();
    }

    SimulatedMachine read() {
        if (!root_.is(Kind::map))
            findings_.add(root_.place, "", "expected a machine: a mapping with name, nodes, …");
        else if (!root_.find("name") && !root_.find("nodes") && !root_.find("device"))
            findings_.add(root_.place, "",
                          "none of its keys is a machine's; expected name, about, nodes, device, links …");
        findings_.raise();
        machine_.name = text(root_, "", "name");
        machine_.summary = text(root_, "", "about");
        if (const YamlNode* device = root_.find("device"); device && device->is(Kind::map))
            machine_.device.name = text(*device, "device", "name");
        for (const MachineField& f : machine_fields) number(f);
        for (const MachineCurve& c : machine_curves) curve(c);
        links_among();
        for (const YamlEntry& e : root_.entries) known(e, "");
        findings_.raise();
        return std::move(machine_);
    }

private:
    std::string text(const YamlNode& map, const char* section, const char* key) {
        const YamlNode* node = map.find(key);
        const std::string whole = *section ? fmt::format("{}.{}", section, key) : std::string(key);
        if (!node || !node->scalar() || node->text.empty()) {
            findings_.add(node ? node->place : map.place, whole, "expected text");
            return {};
        }
        return node->text;
    }

    void number(const MachineField& f) {
        const YamlNode* map = *f.section ? root_.find(f.section) : &root_;
        const std::string key = machine_key(f);
        const YamlNode* node = map && map->is(Kind::map) ? map->find(f.key) : nullptr;
        if (!node) {
            if (f.required) findings_.add(map ? map->place : file_, key, "is missing: " + std::string(f.help));
            return;
        }
        double value = 0;
        if (!sourced(*node, key, value)) return;
        if (value < f.minimum || value > f.maximum ||
            (f.whole && value != static_cast<double>(std::int64_t(value)))) {
            findings_.add(node->place, key,
                          fmt::format("expected {} in [{}, {}]; found {}", f.whole ? "an integer" : "a number",
                                      f.minimum, f.maximum, value));
            return;
        }
        f.set(machine_, value * f.scale);
    }

    /// {value: 80, source: "its data sheet"}
    bool sourced(const YamlNode& node, const std::string& key, double& value) {
        const YamlNode *number = node.is(Kind::map) ? node.find("value") : nullptr,
                       *source = node.is(Kind::map) ? node.find("source") : nullptr;
        if (!number || !to_real(*number, value) || !source || !source->scalar() || source->text.empty()) {
            findings_.add(
                node.place, key,
                fmt::format("expected {{value: a number, source: where it is from}}; found {}", describe(node)));
            return false;
        }
        for (const YamlEntry& e : node.entries)
            if (e.key != "value" && e.key != "source")
                findings_.add(e.place, key + "." + e.key, "is unknown; allowed: value, source");
        machine_.quantities.push_back({key, value, source->text});
        return true;
    }

    /// {at: {64: 0.4, 1e6: 97}, source: "measured"}
    void curve(const MachineCurve& c) {
        const YamlNode* map = root_.find(c.section);
        const YamlNode* node = map && map->is(Kind::map) ? map->find(c.key) : nullptr;
        if (!node) return;
        const std::string key = fmt::format("{}.{}", c.section, c.key);
        const YamlNode *at = node->is(Kind::map) ? node->find("at") : nullptr,
                       *source = node->is(Kind::map) ? node->find("source") : nullptr;
        if (!at || !at->is(Kind::map) || at->entries.empty() || !source || !source->scalar() ||
            source->text.empty() || node->entries.size() != 2) {
            findings_.add(
                node->place, key,
                fmt::format("expected {{at: {{bytes: a number, …}}, source: where they are from}}; found {}",
                            describe(*node)));
            return;
        }
        simulation::Curve& made = c.in(machine_);
        for (const YamlEntry& e : at->entries) {
            double bytes = 0, value = 0;
            const char* end = e.key.data() + e.key.size();
            if (std::from_chars(e.key.data(), end, bytes).ptr != end || !(bytes > 0) || !to_real(e.value, value) ||
                !(value > 0))
                findings_.add(
                    e.place, key,
                    fmt::format("expected bytes: a number, both above 0; found {}: {}", e.key, describe(e.value)));
            made.points.push_back({bytes, value * c.scale});
            machine_.quantities.push_back({fmt::format("{} at {}", key, e.key), value, source->text});
        }
        std::ranges::sort(made.points, {}, &simulation::Curve::Point::bytes);
    }

    void links_among() {
        const YamlNode* links = root_.find("links");
        const YamlNode* among = links && links->is(Kind::map) ? links->find("among") : nullptr;
        if (!among || !among->is(Kind::map) || among->entries.empty()) {
            findings_.add(
                links ? links->place : file_, "links.among",
                "expected how many links a device uses among so many of its node: {2: {value: 12, source: …}, "
                "…}");
            return;
        }
        for (const YamlEntry& e : among->entries) {
            const std::string key = "links.among." + e.key;
            double count = 0;
            if (!sourced(e.value, key, count)) continue;
            int devices = 0;
            const char* end = e.key.data() + e.key.size();
            if (std::from_chars(e.key.data(), end, devices).ptr != end || devices < 1)
                findings_.add(e.place, key, "expected a number of devices as key");
            machine_.links.among.push_back({devices, static_cast<int>(count)});
        }
        std::ranges::sort(machine_.links.among, {}, &simulation::Links::Among::devices);
    }

    /// Unknown keys, also of machine_sections.
    void known(const YamlEntry& e, const std::string& section) {
        std::vector<std::string> allowed;
        for (const MachineField& f : machine_fields)
            if (section == f.section) allowed.emplace_back(f.key);
        for (const MachineCurve& c : machine_curves)
            if (section == c.section) allowed.emplace_back(c.key);
        if (section.empty()) {
            allowed.insert(allowed.end(), {"name", "about"});
            allowed.insert(allowed.end(), std::begin(machine_sections), std::end(machine_sections));
        } else if (section == "device") {
            allowed.emplace_back("name");
        } else if (section == "links") {
            allowed.emplace_back("among");
        }
        const std::string whole = section.empty() ? e.key : section + "." + e.key;
        if (std::ranges::find(allowed, e.key) == allowed.end()) {
            findings_.add(e.place, whole, "is unknown; " + allowed_words(e.key, allowed));
            return;
        }
        if (section.empty() && std::ranges::find(machine_sections, e.key) != std::end(machine_sections)) {
            if (!e.value.is(Kind::map)) return findings_.add(e.value.place, whole, "expected a mapping");
            for (const YamlEntry& inner : e.value.entries) known(inner, e.key);
        }
    }

    Findings findings_;
    YamlNode root_;
    Place file_;
    SimulatedMachine machine_;
};

bool names_a_file(const std::string& given) { return given.ends_with(".yaml") || given.ends_with(".yml"); }

}  // namespace

std::vector<std::string> machine_names() {
    std::vector<std::string> names;
    for (const EmbeddedMachine& e : embedded_machines) names.emplace_back(e.name);
    std::ranges::sort(names);
    return names;
}

std::string machine_text(const std::string& given) {
    if (names_a_file(given)) return read_text_file(given, "expected a machine file at");
    for (const EmbeddedMachine& e : embedded_machines)
        if (given == e.name) return e.text;
    const std::vector<std::string> names = machine_names();
    throw SpecError(fmt::format("there is no machine '{}', nor does that name a .yaml file; {}", given,
                                allowed_words(given, names)));
}

SimulatedMachine read_machine(const std::string& text, const std::string& origin) {
    SimulatedMachine machine = MachineReader(text, origin).read();
    const XXH128_hash_t h = XXH3_128bits(text.data(), text.size());
    machine.digest = fmt::format("{:016x}{:016x}", h.high64, h.low64);
    return machine;
}

SimulatedMachine load_machine(const std::string& given) {
    return read_machine(machine_text(given), names_a_file(given) ? given : given + ".yaml");
}

nlohmann::json machine_schema() {
    const auto sourced = [](const MachineField& f) -> nlohmann::json {
        nlohmann::json value{{"type", f.whole ? "integer" : "number"}};
        if (f.minimum > -unlimited) value["minimum"] = f.minimum;
        if (f.maximum < unlimited) value["maximum"] = f.maximum;
        return {{"type", "object"},
                {"description", f.help},
                {"additionalProperties", false},
                {"required", {"value", "source"}},
                {"properties", {{"value", value}, {"source", {{"type", "string"}, {"minLength", 1}}}}}};
    };
    const nlohmann::json text{{"type", "string"}, {"minLength", 1}};
    nlohmann::json root{{"$schema", "http://json-schema.org/draft-07/schema#"},
                        {"title", "A machine that gnnbench simulates"},
                        {"type", "object"},
                        {"additionalProperties", false},
                        {"properties", {{"name", text}, {"about", text}}},
                        {"required", {"name", "about", "device", "links"}}};
    for (const char* section : machine_sections)
        root["properties"][section] = {
            {"type", "object"}, {"additionalProperties", false}, {"required", nlohmann::json::array()}};
    root["properties"]["device"]["properties"]["name"] = text;
    root["properties"]["device"]["required"].push_back("name");
    for (const MachineField& f : machine_fields) {
        nlohmann::json& at = *f.section ? root["properties"][f.section] : root;
        at["properties"][f.key] = sourced(f);
        if (f.required) at["required"].push_back(f.key);
    }
    for (const MachineCurve& c : machine_curves)
        root["properties"][c.section]["properties"][c.key] = {
            {"type", "object"},
            {"description", c.help},
            {"additionalProperties", false},
            {"required", {"at", "source"}},
            {"properties",
             {{"at",
               {{"type", "object"},
                {"minProperties", 1},
                {"additionalProperties", {{"type", "number"}, {"exclusiveMinimum", 0}}}}},
              {"source", text}}}};
    MachineField links = machine_fields[0];
    links.help = "links that a device uses in a group of so many devices of its node";
    nlohmann::json& among = root["properties"]["links"]["properties"]["among"];
    among = {{"type", "object"},
             {"minProperties", 1},
             {"additionalProperties", false},
             {"patternProperties", {{"^[1-9][0-9]*$", sourced(links)}}}};
    root["properties"]["links"]["required"].push_back("among");
    return root;
}

}  // namespace gnnbench
