#include "spec/machine_links.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace gnnbench {
namespace {

using Kind = YamlNode::Kind;
using simulation::Links;

/// More than this search for rings is for.
constexpr int most_paired_devices = 16;

struct Reader {
    MachineNumbers& numbers;
    Findings& findings;
    simulation::Machine& machine;

    /// {2: {value: 4, source: …}, 4: …}
    void among(const YamlNode& node) {
        for (const YamlEntry& e : node.entries) {
            const std::string key = "links.among." + e.key;
            const auto count = numbers.sourced(e.value, key);
            if (!count) continue;
            const auto devices = whole_number(e.key);
            if (!devices) findings.add(e.place, key, "expected a number of devices as key");
            machine.links.among.push_back({devices.value_or(0), static_cast<int>(*count)});
        }
        std::ranges::sort(machine.links.among, {}, &Links::Among::devices);
    }

    /// {at: {0-1: 2, 0-3: 1}, source: …}
    void pairs(const YamlNode& node) {
        const char* expected = "two devices of a node and how many links join them, as in 0-1: 2, each pair once";
        if (machine.devices_per_node > most_paired_devices)
            return findings.add(node.place, "links.pairs",
                                fmt::format("pairs are for nodes of at most {} devices; this one has {}",
                                            most_paired_devices, machine.devices_per_node));
        const YamlNode* at = numbers.at(node, "links.pairs", "device-device");
        if (!at) return;
        for (const YamlEntry& e : at->entries) {
            const auto links = numbers.entry(node, e, "links.pairs", expected);
            if (!links) continue;
            const std::size_t dash = e.key.find('-');
            const auto first = place(e.key.substr(0, dash)),
                       second = place(dash == std::string::npos ? "" : e.key.substr(dash + 1));
            if (!first || !second || *first >= *second || *links != static_cast<int>(*links)) {
                findings.add(e.place, "links.pairs",
                             fmt::format("expected {}; found {}: {}", expected, e.key, describe(e.value)));
                continue;
            }
            machine.links.pairs.push_back({*first, *second, static_cast<int>(*links)});
        }
    }

    /// {1: {at: {2: 76, 4: 225}, source: …}, 2: …}
    void groups(const YamlNode& node) {
        for (const YamlEntry& row : node.entries) {
            const std::string key = "links.groups." + row.key;
            const auto distance = whole_number(row.key);
            if (!distance) {
                findings.add(row.place, key, "expected the distance of a group's neighbouring ranks as key");
                continue;
            }
            const YamlNode* at = numbers.at(row.value, key, "ranks");
            if (!at) continue;
            for (const YamlEntry& e : at->entries) {
                const char* expected = "ranks of a group, 2 or more, and 10⁹ bytes a second";
                const auto rate = numbers.entry(row.value, e, key, expected);
                if (!rate) continue;
                const auto ranks = whole_number(e.key);
                if (!ranks || *ranks < 2)
                    findings.add(e.place, key, fmt::format("expected {}; found {}", expected, e.key));
                machine.links.groups.push_back({*distance, ranks.value_or(0), *rate * 1e9});
            }
        }
        std::vector<Links::Group>& all = machine.links.groups;
        std::ranges::sort(all, [](const Links::Group& a, const Links::Group& b) {
            return std::tie(a.distance, a.ranks) < std::tie(b.distance, b.ranks);
        });
        if (all.empty() || all.front().distance != 1 || all.front().ranks != 2)
            findings.add(
                node.place, "links.groups",
                "begins with groups of 2 ranks at distance 1, which stand for whatever no other row is for");
    }

private:
    /// A device's place in its node.
    std::optional<int> place(const std::string& text) const {
        if (text == "0") return 0;
        const auto number = whole_number(text);
        return number && *number < machine.devices_per_node ? number : std::nullopt;
    }
};

nlohmann::json keyed(const char* pattern, const nlohmann::json& value) {
    return {{"additionalProperties", false}, {"patternProperties", {{pattern, value}}}};
}

}  // namespace

void read_link_tables(const YamlNode& root, const Place& file, MachineNumbers& numbers, Findings& findings,
                      simulation::Machine& machine) {
    Reader reader{numbers, findings, machine};
    const YamlNode* links = root.find("links");
    const auto table = [&](const char* key) { return links ? links->find(key) : nullptr; };
    const auto filled = [](const YamlNode* node) { return node && node->is(Kind::map) && !node->entries.empty(); };
    if (filled(table("among")))
        reader.among(*table("among"));
    else
        findings.add(
            links ? links->place : file, "links.among",
            "expected how many links a device uses among so many of its node: {2: {value: 12, source: …}, "
            "…}");
    if (const YamlNode* pairs = table("pairs")) reader.pairs(*pairs);
    const YamlNode* groups = table("groups");
    if (filled(groups))
        reader.groups(*groups);
    else if (groups)
        findings.add(
            groups->place, "links.groups",
            "expected what groups carry, by the distance of their ranks: {1: {at: {2: 76}, source: …}, …}");
}

nlohmann::json link_tables_schema() {
    const nlohmann::json above_0{{"type", "number"}, {"exclusiveMinimum", 0}},
        count{{"type", "integer"}, {"minimum", 1}};
    return {{"pairs",
             numbers_at_schema(keyed("^[0-9]+-[0-9]+$", count),
                               "links that join two devices of a node, by their places in it; others reach each "
                               "other over their host links; in place of `among`")},
            {"groups",
             {{"type", "object"},
              {"description",
               "what a group's rings carry over a hop while all groups of its kind communicate, in 10⁹ bytes a "
               "second, by "
               "the distance of its neighbouring ranks and their number; in place of links and network cards"},
              {"minProperties", 1},
              {"additionalProperties", false},
              {"patternProperties",
               {{"^[1-9][0-9]*$",
                 numbers_at_schema(keyed("^[1-9][0-9]*$", above_0), "by ranks of the group, 2 or more")}}}}}};
}

}  // namespace gnnbench
