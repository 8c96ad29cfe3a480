#include "spec/machine_file.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "spec/machine_fields.hpp"
#include "spec/machine_links.hpp"
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
        for (const MachineField& f : machine_fields()) number(f);
        for (const MachineCurve& c : machine_curves()) curve(c);
        read_link_tables(root_, file_, numbers_, findings_, machine_);
        if (machine_.links.mpi && machine_.links.nccl_capability > 0)
            findings_.add(root_.find("links")->place, "links.mpi",
                          "stands beside nccl_capability; either MPI moves the messages or NCCL does");
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
        const std::string key = f.whole_key();
        const YamlNode* node = map && map->is(Kind::map) ? map->find(f.key) : nullptr;
        if (!node) {
            if (f.required) findings_.add(map ? map->place : file_, key, "is missing: " + std::string(f.help));
            return;
        }
        const auto value = numbers_.sourced(*node, key);
        if (!value) return;
        if (*value < f.minimum || *value > f.maximum ||
            (f.whole && *value != static_cast<double>(std::int64_t(*value)))) {
            findings_.add(node->place, key,
                          fmt::format("expected {} in [{}, {}]; found {}", f.whole ? "an integer" : "a number",
                                      f.minimum, f.maximum, *value));
            return;
        }
        if (*value > f.plausible && !numbers_.checked(*node, key))
            findings_.add(
                node->place, key,
                fmt::format("{0:g} · 10⁹ bytes a second is more than any known to us ({1:g}); {0:g} Gb/s would "
                            "be {2:g}. If it is meant, add to it: checked: true",
                            *value, f.plausible, *value / 8));
        f.set(machine_, *value * f.scale);
    }

    /// {at: {64: 0.4, 1e6: 97}, source: "measured"}
    void curve(const MachineCurve& c) {
        const YamlNode* map = root_.find(c.section);
        const YamlNode* node = map && map->is(Kind::map) ? map->find(c.key) : nullptr;
        if (!node) return;
        const std::string key = fmt::format("{}.{}", c.section, c.key);
        const YamlNode* at = numbers_.at(*node, key, "bytes");
        if (!at) return;
        simulation::Curve& made = c.in(machine_);
        for (const YamlEntry& e : at->entries) {
            const char* expected = "bytes: a number, both above 0";
            double bytes = 0;
            const char* end = e.key.data() + e.key.size();
            const auto value = numbers_.entry(*node, e, key, expected);
            if (std::from_chars(e.key.data(), end, bytes).ptr != end || !(bytes > 0))
                findings_.add(e.place, key, fmt::format("expected {}; found {}", expected, e.key));
            made.points.push_back({bytes, value.value_or(0) * c.scale});
        }
        std::ranges::sort(made.points, {}, &simulation::Curve::Point::bytes);
    }

    /// Unknown keys, also of machine_sections.
    void known(const YamlEntry& e, const std::string& section) {
        std::vector<std::string> allowed;
        for (const MachineField& f : machine_fields())
            if (section == f.section) allowed.emplace_back(f.key);
        for (const MachineCurve& c : machine_curves())
            if (section == c.section) allowed.emplace_back(c.key);
        if (section.empty()) {
            allowed.insert(allowed.end(), {"name", "about"});
            allowed.insert(allowed.end(), std::begin(machine_sections), std::end(machine_sections));
        } else if (section == "device") {
            allowed.emplace_back("name");
        } else if (section == "links") {
            allowed.insert(allowed.end(), std::begin(link_tables), std::end(link_tables));
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
    MachineNumbers numbers_{findings_, machine_};
};

}  // namespace

std::vector<std::string> machine_names() {
    std::vector<std::string> names;
    for (const EmbeddedMachine& e : embedded_machines) names.emplace_back(e.name);
    std::ranges::sort(names);
    return names;
}

std::string machine_text(const std::string& given) {
    if (names_yaml_file(given)) return read_text_file(given, "expected a machine file at");
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
    return read_machine(machine_text(given), names_yaml_file(given) ? given : given + ".yaml");
}

}  // namespace gnnbench
