// What holds of every machine, whatever its numbers: more of anything never slows an epoch, more latency never speeds it, no
// port carries more than it can, and ranks of equal work take equal time.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "contract/simulated_case.hpp"
#include "spec/machine_file.hpp"

namespace gnnbench::contract {
namespace {

using simulation::Curve;
using simulation::Device;
using simulation::Links;
using simulation::Machine;

void scale(Curve& c, double by) {
    for (Curve::Point& p : c.points) p.value *= by;
}

struct Change {
    const char* what;
    void (*make)(Machine&);
};

/// Each makes a machine better in one respect.
const std::vector<Change>& improvements() {
    static const std::vector<Change> all{
        {"the memory twice as fast",
         [](Machine& m) {
             m.device.memory_bandwidth *= 2;
             for (Curve Device::* c :
                  {&Device::stream, &Device::gather, &Device::wide_gather, &Device::shared_stream,
                   &Device::shared_gather, &Device::shared_wide_gather})
                 scale(m.device.*c, 2);
         }},
        {"the cache twice as large", [](Machine& m) { m.device.cache_bytes *= 2; }},
        {"the cache twice as fast", [](Machine& m) { m.device.cache_bandwidth *= 2; }},
        {"products twice as fast",
         [](Machine& m) {
             m.device.float32_rate *= 2;
             m.device.float64_rate *= 2;
         }},
        {"rows half as long", [](Machine& m) { m.device.row_s /= 2; }},
        {"links twice as fast",
         [](Machine& m) {
             m.links.link_bandwidth *= 2;
             m.links.most_bandwidth *= 2;
             for (Links::Group& g : m.links.groups) g.bandwidth *= 2;
             for (auto& [key, curve] : m.links.measured) scale(curve, 0.5);
         }},
        {"network cards twice as fast", [](Machine& m) { m.links.nic_bandwidth *= 2; }},
        {"nodes' networks twice as fast", [](Machine& m) { m.links.node_bandwidth *= 2; }},
        {"launches in half the time", [](Machine& m) { m.device.launch_s /= 2; }},
        {"kernels in half the least time", [](Machine& m) { m.device.least_kernel_s /= 2; }},
        {"operations in half the latency",
         [](Machine& m) {
             m.links.base_s /= 2;
             m.links.hop_s /= 2;
             m.links.network_hop_s /= 2;
         }},
        {"messages in half the time", [](Machine& m) { m.links.message_s /= 2; }},
    };
    return all;
}

/// A file's machine with nodes for so many ranks, which gets as small a part of the graph's work as it would of a graph some
/// thousand times larger: on the graph itself launches and latencies are nearly all of an epoch.
Machine machine_for(const std::string& name, int ranks, double part) {
    Machine m = load_machine(name);
    m.nodes = std::max(m.nodes, (ranks + m.devices_per_node - 1) / m.devices_per_node);
    Device& d = m.device;
    for (double* rate :
         {&d.memory_bandwidth, &d.cache_bandwidth, &d.float32_rate, &d.float64_rate, &d.host_link_bandwidth,
          &m.links.link_bandwidth, &m.links.most_bandwidth, &m.links.nic_bandwidth, &m.links.node_bandwidth})
        *rate *= part;
    d.cache_bytes *= part;
    d.row_s /= part;
    for (Curve Device::* c : {&Device::stream, &Device::gather, &Device::wide_gather, &Device::shared_stream,
                              &Device::shared_gather, &Device::shared_wide_gather})
        scale(d.*c, part);
    for (Links::Group& g : m.links.groups) g.bandwidth *= part;
    for (auto& [key, curve] : m.links.measured) scale(curve, 1 / part);
    return m;
}

SimulatedOutcome outcome(const StrategyVariant& s, int ranks, const Machine& machine) {
    return simulate(s, {.name = "gcn"}, drawn(500, 8, true), ranks,
                    {.epochs = 1, .machine = [&](int) { return machine; }});
}

double slowest_s(const SimulatedOutcome& out) { return *std::ranges::max_element(out.epochs_s); }

/// What order and contention move: a transfer that begins earlier may slow down a product that everybody waits for, where a later
/// one would have found the memory idle. The largest seen in CI's cells is 4e-4, in all others of schemes up to mg-gcn, in the
/// order of their names, 2e-3 (cagnet-3d on 64 ranks of dgx-v100).
constexpr double in_ci = 1e-3, anywhere = 5e-3;

/// One improvement of each `stride`, other ones with each next call.
void never_slower(const std::string& scheme, const std::string& name, int ranks, double part,
                  double tolerance = in_ci, std::size_t stride = 3) {
    static std::size_t calls = 0;
    std::size_t place = calls++;
    const StrategyVariant s = variants(scheme).front();
    const Machine as_it_is = machine_for(name, ranks, part);
    const SimulatedOutcome before = outcome(s, ranks, as_it_is);
    if (!before.skipped.empty()) return;
    for (const Change& c : improvements()) {
        if (place++ % stride != 0) continue;
        Machine better = as_it_is;
        c.make(better);
        const double after_s = slowest_s(outcome(s, ranks, better)), before_s = slowest_s(before);
        INFO(scheme << " on " << ranks << " ranks of " << name << " at " << part << ", " << c.what << ": "
                    << before_s << " s, then " << after_s << " s");
        CHECK(after_s <= before_s * (1 + tolerance));
    }
}

const std::vector<std::string>& schemes() {
    static const std::vector<std::string> all = catalog().names(PluginKind::strategy);
    return all;
}

TEST_CASE("a better machine is never slower") {
    for (const std::string& scheme : schemes()) {
        for (const std::string& name : machine_names()) never_slower(scheme, name, 4, 1e-4);
        for (const char* name : {"perlmutter", "frontier", "dgx-v100"}) never_slower(scheme, name, 16, 1e-4);
    }
    never_slower("plexus-3d", "perlmutter", 256, 1e-4);
    never_slower("sa-1d", "frontier", 64, 1e-4);
}

// Every improvement. Long: the stage `ranks` of ./dev nightly.
TEST_CASE("a better machine is never slower, at all numbers of ranks", "[.][properties]") {
    for (const std::string& scheme : schemes())
        for (const std::string& name : machine_names())
            for (const double part : {1., 1e-4})
                for (const int ranks : {1, 2, 3, 4, 8, 16, 64, 256, 1024}) {
                    const bool broadcasts = scheme == "cagnet-1d" || scheme == "cagnet-1.5d" || scheme == "mg-gcn";
                    if (ranks <= 256 || !broadcasts) never_slower(scheme, name, ranks, part, anywhere, 1);
                }
}

/// The most that a rank's ports carry in one direction, bytes per second: all its links, or what groups were measured to, and
/// all its node's cards.
double fastest_port(const Machine& m) {
    double within = m.links.most_bandwidth;
    for (const Links::Among& a : m.links.among) within = std::max(within, a.links * m.links.link_bandwidth);
    for (int device = 0; device < m.devices_per_node; ++device) {
        int links = 0;
        for (const Links::Pair& p : m.links.pairs)
            if (p.first == device || p.second == device) links += p.links;
        within = std::max(within, links * m.links.link_bandwidth);
    }
    for (const Links::Group& g : m.links.groups) within = std::max(within, g.bandwidth);
    return std::max(within, m.device.host_link_bandwidth) + m.links.cards();
}

TEST_CASE("no rank sends or receives faster than its ports carry") {
    for (const std::string& scheme : schemes())
        for (const char* name : {"perlmutter", "frontier", "dgx-v100", "dgx-a100", "sulis"})
            for (const int ranks : {4, 16}) {
                const Machine m = machine_for(name, ranks, 1e-4);
                const SimulatedOutcome out = outcome(variants(scheme).front(), ranks, m);
                if (!out.skipped.empty()) continue;
                for (const auto& epochs : out.of_rank)
                    for (const EpochSeen& e : epochs) {
                        INFO(scheme << " on " << ranks << " ranks of " << name);
                        const Traffic moved = payload_total(e.volume);
                        const auto bytes = static_cast<double>(std::max(moved.sent_bytes, moved.received_bytes));
                        CHECK(e.wall_s >= bytes / fastest_port(m));
                    }
            }
}

/// Every vertex is joined to every other, so that parts of as many vertices have the same work.
graphs::NamedGraph complete(int vertices) {
    graphs::NamedGraph g;
    g.name = "complete";
    g.symmetric = true;
    g.indptr.assign(1, 0);
    for (int v = 0; v < vertices; ++v) {
        for (int u = 0; u < vertices; ++u)
            if (u != v) g.indices.push_back(u);
        g.indptr.push_back(std::ssize(g.indices));
    }
    return g;
}

TEST_CASE("ranks of equal work take equal time") {
    for (const char* scheme : {"cagnet-1d", "cagnet-1.5d", "mg-gcn", "sa-1d", "sa-1.5d", "demirci-p2p", "bns-gcn"})
        for (const std::string& name : machine_names())
            for (const int ranks : {4, 16}) {
                const Machine m = machine_for(name, ranks, 1e-4);
                if (ranks > m.devices_per_node && ranks % m.devices_per_node != 0)
                    continue;  // nodes of unequal load
                const SimulatedOutcome out = simulate(variants(scheme).front(), {.name = "gcn"}, complete(64),
                                                      ranks, {.epochs = 1, .machine = [&](int) { return m; }});
                INFO(scheme << " on " << ranks << " ranks of " << name);
                REQUIRE(out.skipped.empty());
                const auto [least, most] = std::ranges::minmax(out.epochs_s);
                CHECK(most == Approx(least).epsilon(1e-9));
            }
}

}  // namespace
}  // namespace gnnbench::contract
