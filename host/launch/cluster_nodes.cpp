// What a launcher's programs say of the nodes that trials run on.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include "launch/declared_launcher.hpp"
#include "launch/pattern.hpp"

namespace gnnbench {

namespace {

std::string text_of(const Match& match, const char* group) {
    const auto found = match.find(group);
    return found == match.end() ? "" : found->second;
}

/// The number that `text` begins with, 0 where there is none or none that fits: "8+" where nodes differ.
std::int64_t leading_number(std::string_view text) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// The hosts of a file: the first word of each line, without what follows a ':'.
std::vector<std::string> hosts_in(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw EnvironmentError(fmt::format("launcher.hosts: cannot read the file of hosts '{}'", file));
    std::vector<std::string> hosts;
    int number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string::npos || line[begin] == '#') continue;
        std::string host = line.substr(begin, line.find_first_of(": \t\r#", begin) - begin);
        // What begins with '-' would be an option of ssh, and an option may be a command.
        const bool plain = std::ranges::all_of(
            host, [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '_' || c == '@'; });
        if (!plain || host.empty() || host.front() == '-')
            throw EnvironmentError(
                fmt::format("{}:{}: expected a host's name (letters, digits, '.', '-', '_', '@'); found '{}'",
                            file, number, line));
        hosts.push_back(std::move(host));
    }
    if (hosts.empty()) throw EnvironmentError(fmt::format("launcher.hosts: the file '{}' names no host", file));
    return hosts;
}

/// One question's answers: one of each host where it names {host}.
std::vector<std::string> answers_to(const LauncherDeclaration& declaration, const Inquiry& question, Values values,
                                    const std::vector<std::string>& hosts) {
    if (!mentions(question.run, "host")) return {launcher_output(declaration, question.run, values)};
    std::vector<std::string> answers;
    for (const std::string& host : hosts) {
        values["host"] = {host};
        answers.push_back(launcher_output(declaration, question.run, values));
    }
    return answers;
}

void take_smallest(ClusterNodes& nodes, const std::vector<Match>& kinds, bool asks_gpus) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const auto cores = static_cast<int>(leading_number(text_of(kinds[i], "cores")));
        const std::int64_t memory = leading_number(text_of(kinds[i], "memory_mib"));
        const bool first = i == 0;
        nodes.cores = std::max(1, first ? cores : std::min(nodes.cores, cores));
        if (kinds[i].contains("memory_mib"))
            nodes.memory_mib = first ? memory : std::min(nodes.memory_mib, memory);
        if (asks_gpus) nodes.has_gpus = !text_of(kinds[i], "gpus").empty() && (first || nodes.has_gpus);
    }
}

/// Of several kinds of nodes those of the partition that jobs go to.
std::vector<Match> of_partition(const std::vector<Match>& kinds, const LauncherDeclaration& declaration,
                                const LauncherSettings& settings, const ClusterNodes& nodes,
                                const Inquiry& question) {
    std::string wanted = settings.partition;
    const std::string& variable = declaration.machine.partition_in;
    if (declaration.inside_allocation() && !variable.empty())
        if (const char* mine = std::getenv(variable.c_str()); mine && *mine) wanted = mine;
    std::vector<std::string> names;
    for (const Match& kind : kinds) {
        const std::string name = text_of(kind, "partition");
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
        if (wanted.empty() && !text_of(kind, "default").empty()) wanted = name;
    }
    std::vector<Match> chosen;
    for (const Match& kind : kinds)
        if (text_of(kind, "partition") == wanted) chosen.push_back(kind);
    if (!chosen.empty()) return chosen;
    const auto cluster = nodes.known.find("cluster");
    const std::string where =
        cluster == nodes.known.end() ? declaration.scheduler : "the cluster " + cluster->second;
    if (wanted.empty())
        throw EnvironmentError(fmt::format("{} has no default partition; name one with launcher.partition: {}",
                                           where, fmt::join(names, ", ")));
    throw EnvironmentError(fmt::format("{} has no partition '{}'; {} lists {}", where, wanted,
                                       filled(question.run, {}).front(), fmt::join(names, ", ")));
}

}  // namespace

ClusterNodes ask_nodes(const LauncherDeclaration& declaration, const LauncherSettings& settings) {
    const LauncherDeclaration::Machine& machine = declaration.machine;
    ClusterNodes nodes{.known = {},
                       .cores = std::max(1, machine.cores),
                       .memory_mib = std::llround(machine.memory_gib * 1024),
                       .has_gpus = machine.gpus,
                       .hosts = 0};
    std::vector<std::string> hosts;
    if (mentions(declaration.start.run, "hosts")) {
        if (settings.hosts.empty())
            throw EnvironmentError(
                fmt::format("the launcher {} needs a file of hosts, one a line; name it with launcher.hosts",
                            declaration.name));
        hosts = hosts_in(settings.hosts);
        nodes.hosts = static_cast<int>(hosts.size());
        nodes.known["first_host"] = hosts.front();
    }
    for (std::size_t q = 0; q < machine.ask.size(); ++q) {
        Values values;
        if (!settings.hosts.empty()) values["hosts"] = {settings.hosts};
        if (!settings.partition.empty()) values["partition"] = {settings.partition};
        std::vector<Match> kinds;
        for (const std::string& answer : answers_to(declaration, machine.ask[q], values, hosts)) {
            const std::vector<Match> found = matches_of(machine.ask[q].find, answer);
            if (found.empty())
                throw EnvironmentError(
                    fmt::format("the answer of '{}' does not match `machine.ask[{}].find` of the launcher {}: {}",
                                fmt::join(filled(machine.ask[q].run, values), " "), q, declaration.name,
                                answer.empty() ? "it is empty" : answer.substr(0, 300)));
            kinds.insert(kinds.end(), found.begin(), found.end());
        }
        if (kinds.front().contains("partition"))
            kinds = of_partition(kinds, declaration, settings, nodes, machine.ask[q]);
        const std::vector<std::string> groups = group_names(machine.ask[q].find);
        if (kinds.front().contains("cores"))
            take_smallest(nodes, kinds, std::ranges::find(groups, "gpus") != groups.end());
        for (const auto& [group, text] : kinds.front())
            if (group != "cores" && group != "memory_mib" && group != "gpus" && group != "default")
                nodes.known[group] = text;
    }
    return nodes;
}

Machine cluster_machine(const LauncherDeclaration& declaration, const ClusterNodes& nodes,
                        const LauncherSettings& settings) {
    Values values;
    for (const auto& [name, text] : nodes.known) values[name] = {text};
    if (!values.contains("partition") && !settings.partition.empty()) values["partition"] = {settings.partition};
    if (nodes.hosts > 0) values["host_count"] = {std::to_string(nodes.hosts)};
    std::string name = filled_text(declaration.machine.name, values);
    // A different selection of nodes is a different machine.
    const std::vector<std::string>& options = settings.options;
    for (std::size_t i = 0; i < options.size(); ++i) {
        const std::string& o = options[i];
        const bool selects = std::ranges::any_of(declaration.machine.options,
                                                 [&](const std::string& prefix) { return o.starts_with(prefix); });
        if (!selects) continue;
        name += ' ' + o;
        // "-C", "a100" are two options, and so are "--constraint", "a100".
        const bool value_follows =
            o.size() == 2 || (o.starts_with("--") && o.find('=') == std::string::npos && o.find(' ') == o.npos);
        if (value_follows && i + 1 < options.size()) name += ' ' + options[++i];
    }
    return {.cpu = name,
            .cores = nodes.cores,
            .memory_gib = std::llround(static_cast<double>(nodes.memory_mib) / 1024),
            .mpi = mpi_at_hand().version};
}

}  // namespace gnnbench
