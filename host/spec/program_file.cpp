#include "spec/program_file.hpp"

#include <algorithm>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <gnnbench/error.hpp>

#include "spec/findings.hpp"
#include "spec/machine_file.hpp"
#include "spec/machine_numbers.hpp"
#include "spec/text_file.hpp"

namespace gnnbench {
namespace {

using Kind = YamlNode::Kind;
using simulation::Program;

constexpr std::string_view between = " as ";
constexpr const char* released = "released";
constexpr std::size_t digits = 16;  ///< of a digest

struct EmbeddedProgram {
    const char *name, *text;
};
constexpr EmbeddedProgram embedded_programs[] = {
#include "embedded_programs.inc"
};

/// A number of a program file: {value: …, source: …}, all optional.
struct ProgramField {
    const char* key;
    double minimum, maximum;
    bool whole;
    void (*set)(Program&, double);
};

constexpr ProgramField program_fields[] = {
    {"operator_us", 0, 1e6, false, [](Program& p, double v) { p.operator_s = v * 1e-6; }},
    {"send_operators", 0, 1000, true, [](Program& p, double v) { p.send_operators = static_cast<int>(v); }},
    {"receive_operators", 0, 1000, true, [](Program& p, double v) { p.receive_operators = static_cast<int>(v); }},
    {"peer_operators", 0, 1000, true, [](Program& p, double v) { p.peer_operators = static_cast<int>(v); }},
    {"peer_messages", 0, 1000, true, [](Program& p, double v) { p.peer_messages = static_cast<int>(v); }},
    {"message_us", 0, 1e6, false, [](Program& p, double v) { p.message_s = v * 1e-6; }},
    {"message_gbs", 1e-6, 1e6, false, [](Program& p, double v) { p.message_bandwidth = v * 1e9; }},
    {"host_copies", 0, 1, true, [](Program& p, double v) { p.host_copies = v != 0; }},
    {"blocking", 0, 1, true, [](Program& p, double v) { p.blocking = v != 0; }},
    {"one_host", 0, 1, true, [](Program& p, double v) { p.one_host = v != 0; }},
};

std::string text_of(const YamlNode& root, const char* key, Findings& findings) {
    const YamlNode* node = root.find(key);
    if (node && node->scalar() && !node->text.empty()) return node->text;
    findings.add(node ? node->place : root.place, key, "expected text");
    return {};
}

void read_number(const ProgramField& f, const YamlNode& node, MachineNumbers& numbers, Findings& findings,
                 Program& out) {
    const auto value = numbers.sourced(node, f.key);
    if (!value) return;
    const bool whole = *value == static_cast<double>(static_cast<std::int64_t>(*value));
    if (*value < f.minimum || *value > f.maximum || (f.whole && !whole))
        return findings.add(node.place, f.key,
                            fmt::format("expected {} in [{}, {}]; found {}", f.whole ? "an integer" : "a number",
                                        f.minimum, f.maximum, *value));
    f.set(out, *value);
}

void read_schemes(const YamlNode& node, Findings& findings, std::vector<std::string>& schemes) {
    if (!node.is(Kind::list)) return findings.add(node.place, "schemes", "expected a list of schemes");
    for (const YamlNode& s : node.items)
        if (s.is(Kind::text))
            schemes.push_back(s.text);
        else
            findings.add(s.place, "schemes", "expected a scheme's name; found " + describe(s));
}

std::string program_text(const std::string& given) {
    if (names_yaml_file(given)) return read_text_file(given, "expected a program file at");
    for (const EmbeddedProgram& e : embedded_programs)
        if (given == e.name) return e.text;
    std::vector<std::string> names = program_names();
    names.emplace_back("released");
    throw SpecError(fmt::format("there is no program '{}', nor does that name a .yaml file; {}", given,
                                allowed_words(given, names)));
}

}  // namespace

std::vector<std::string> program_names() {
    std::vector<std::string> names;
    for (const EmbeddedProgram& e : embedded_programs) names.emplace_back(e.name);
    std::ranges::sort(names);
    return names;
}

ProgramFile read_program(const std::string& text, const std::string& origin) {
    Findings findings;
    const YamlNode root = parse_yaml(text, origin, findings);
    if (!root.is(Kind::map))
        findings.add(root.place, "", "expected a program: a mapping with name, about, operator_us, …");
    findings.raise();
    ProgramFile file;
    simulation::Machine numbered;
    MachineNumbers numbers(findings, numbered);
    file.program.name = text_of(root, "name", findings);
    file.about = text_of(root, "about", findings);
    std::vector<std::string> allowed{"name", "about", "schemes"};
    for (const ProgramField& f : program_fields) allowed.emplace_back(f.key);
    for (const YamlEntry& e : root.entries) {
        const auto* field =
            std::ranges::find_if(program_fields, [&](const ProgramField& f) { return e.key == f.key; });
        if (field != std::end(program_fields))
            read_number(*field, e.value, numbers, findings, file.program);
        else if (e.key == "schemes")
            read_schemes(e.value, findings, file.schemes);
        else if (e.key != "name" && e.key != "about")
            findings.add(e.place, e.key, "is unknown; " + allowed_words(e.key, allowed));
    }
    findings.raise();
    file.quantities = std::move(numbered.quantities);
    return file;
}

ProgramFile load_program(const std::string& name_or_path) {
    return read_program(program_text(name_or_path),
                        names_yaml_file(name_or_path) ? name_or_path : name_or_path + ".yaml");
}

std::string released_program(const std::string& scheme) {
    for (const std::string& name : program_names())
        if (std::ranges::count(load_program(name).schemes, scheme) > 0) return name;
    return {};
}

SimulatedChoice::SimulatedChoice(const std::string& given) {
    const std::size_t as = given.find(between);
    machine = given.substr(0, as);
    if (as != std::string::npos) program = given.substr(as + between.size());
}

std::string SimulatedChoice::text() const {
    return program.empty() ? machine : machine + std::string(between) + program;
}

std::string SimulatedChoice::digest() const {
    std::string of_machine = load_machine(machine).digest.substr(0, digits);
    if (program.empty()) return of_machine;
    std::string text;
    if (program == released)
        for (const std::string& name : program_names()) text += program_text(name);
    else
        text = program_text(program);
    if (program != released) read_program(text, program);
    return fmt::format("{}+{:016x}", of_machine, XXH3_64bits(text.data(), text.size()));
}

simulation::Machine SimulatedChoice::load(const std::string& scheme) const {
    simulation::Machine m = load_machine(machine);
    if (program.empty()) return m;
    const std::string name = program == released ? released_program(scheme) : program;
    if (name.empty())
        throw SpecError(
            fmt::format("what the released program of {} does beside its algorithm is not known; name a "
                        "program, or a file: machine: {} as PROGRAM",
                        scheme, machine));
    m.program = load_program(name).program;
    m.name = text();
    if (m.program.operator_s > 0) m.device.launch_s = m.program.operator_s;
    return m;
}

}  // namespace gnnbench
