// The `simulated` kernel: no device at all. It charges virtual time for every operation, on a machine that a file
// describes.
#include <string>

#include <gnnbench/backend.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/plugin.hpp>
#include <gnnbench/simulation/kernel.hpp>

#include "simulated_backend.hpp"

namespace gnnbench::simulated {
namespace {

constexpr ParamDecl params[] = {
    {"machine", ParamType::text, "", 0, 0, nullptr,
     "what is simulated: a machine's name (gnnbench machine list), or the path of a machine file, which ends in "
     ".yaml; MACHINE as released: each scheme as its released program; MACHINE as PROGRAM: as that one (gnnbench "
     "machine programs), or as a program file has it"},
    {"network", ParamType::choice, "links", 0, 0, "links|ring",
     "cost of collectives: a link model with contention, or the closed formula of rings (thesis on Plexus, "
     "section "
     "4.2)"},
    {"spmm", ParamType::choice, "roofline", 0, 0, "roofline|plexus-thesis",
     "cost of sparse products: memory and cache traffic, or the regression of the thesis on Plexus (section 4.1)"},
    {"hosts", ParamType::choice, "each", 0, 0, "each|one",
     "each device has a host's thread that launches its kernels; or one thread launches those of all devices of a "
     "node in turn, as MG-GCN's released code"},
    {"values", ParamType::boolean, "false", 0, 0, nullptr,
     "compute: this machine's processor does what each kernel and message does, when it is over in virtual time"},
};

class SimulatedPlugin final : public BackendPlugin {
public:
    std::string why_unsupported(const KernelSetting& s) const override {
        if (s.params.text("machine").empty())
            return "needs a machine: kernel: {name: simulated, machine: NAME}; gnnbench machine list has the "
                   "names";
        return {};
    }
    std::string device_name(const KernelSetting& s) const override {
        if (!s.ranks) return "simulated";
        const simulation::Machine& m = simulation::rank_of(*s.ranks).machine();
        return "simulated " + m.device.name + " (" + m.name + ")";
    }
    std::unique_ptr<Backend> create(const KernelSetting& s) const override {
        if (!s.ranks)
            throw LogicError("kernel simulated: its ranks are simulated, and this process is a rank itself");
        simulation::SimulatedRank& rank = simulation::rank_of(*s.ranks);
        if (s.params.choice("hosts") == "one" || rank.machine().program.one_host) rank.share_host(s.local_ranks);
        return std::make_unique<SimulatedBackend>(
            rank, s.dtype, s.params.choice("spmm") == "roofline" ? SpmmModel::roofline : SpmmModel::plexus_thesis,
            s.local_ranks, s.params.boolean("values") ? arithmetic(s) : nullptr);
    }

private:
    static std::shared_ptr<Backend> arithmetic(const KernelSetting& s) {
        if (!s.arithmetic) throw LogicError("kernel simulated: values: true needs a back end that computes");
        return s.arithmetic();
    }
};

}  // namespace
}  // namespace gnnbench::simulated

using gnnbench::simulated::params;
using gnnbench::simulated::SimulatedPlugin;
GNNBENCH_PLUGIN(kernel, SimulatedPlugin, "simulated", "1.1.0",
                "no device: charges virtual time for every operation, on a machine that a file describes", params)
GNNBENCH_KERNEL_SIMULATES
