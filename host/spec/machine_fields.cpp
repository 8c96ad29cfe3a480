#include "spec/machine_fields.hpp"

#include <fmt/format.h>

namespace gnnbench {
namespace {

using SimulatedMachine = simulation::Machine;

constexpr double giga = 1e9, mega = 1e6, tera = 1e12, micro = 1e-6, nano = 1e-9, pico = 1e-12;

const MachineField all_fields[] = {
    {"", "nodes", 1, true, true, 1, 1e6, "nodes",
     [](SimulatedMachine& m, double v) { m.nodes = static_cast<int>(v); }},
    {"", "devices_per_node", 1, true, true, 1, 1024, "devices of a node; each is a rank's",
     [](SimulatedMachine& m, double v) { m.devices_per_node = static_cast<int>(v); }},
    {"device", "memory_gb", giga, false, true, 0, unlimited, "memory, in units of 10⁹ bytes",
     [](SimulatedMachine& m, double v) { m.device.memory_bytes = v; }},
    {"device", "reserved_gb", giga, false, true, 0, unlimited, "of it, what the runtime and its libraries keep",
     [](SimulatedMachine& m, double v) { m.device.reserved_bytes = v; }},
    {"device", "memory_bandwidth_gbs", giga, false, true, 1e-3, unlimited, "peak, in 10⁹ bytes a second",
     [](SimulatedMachine& m, double v) { m.device.memory_bandwidth = v; }, 20000},
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
     [](SimulatedMachine& m, double v) { m.device.host_link_bandwidth = v; }, 1000},
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
    {"device", "row_ps", pico, false, false, 0, unlimited,
     "time of the device for each row that is read in no order, beside that of its bytes",
     [](SimulatedMachine& m, double v) { m.device.row_s = v; }},
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
    {"device", "uneven_row_ns", nano, false, false, 0, unlimited,
     "time of each row of a sparse product beside its nonzeros', where gather_gbs is given",
     [](SimulatedMachine& m, double v) { m.device.uneven_row_s = v; }},
    {"device", "attention_gflops", giga, false, false, 1e-6, unlimited,
     "operations of GAT's scores and sums in float32 beside a sparse product as wide, in 10⁹ a second",
     [](SimulatedMachine& m, double v) { m.device.attention_rate = v; }},
    {"device", "dynamic_attention_gflops", giga, false, false, 1e-6, unlimited, "the same of GATv2's",
     [](SimulatedMachine& m, double v) { m.device.dynamic_attention_rate = v; }},
    {"device", "streams", 1, true, false, 1, 2,
     "1: a device moves its own messages, and computes nothing meanwhile",
     [](SimulatedMachine& m, double v) { m.device.streams = static_cast<int>(v); }},
    {"links", "link_gbs", giga, false, true, 1e-6, unlimited,
     "one link within a node, one direction, as collectives reach it",
     [](SimulatedMachine& m, double v) { m.links.link_bandwidth = v; }, 200},
    {"links", "most_gbs", giga, false, false, 0, unlimited, "the most that a collective within a node reaches",
     [](SimulatedMachine& m, double v) { m.links.most_bandwidth = v; }},
    {"links", "nics", 1, true, true, 1, 1024, "network cards of a node",
     [](SimulatedMachine& m, double v) { m.links.nics = static_cast<int>(v); }},
    {"links", "nic_gbs", giga, false, true, 1e-6, unlimited, "one network card, one direction",
     [](SimulatedMachine& m, double v) { m.links.nic_bandwidth = v; }, 100},
    {"links", "node_gbs", giga, false, false, 1e-6, unlimited,
     "all network cards of a node together, one direction, where they reach less than their sum",
     [](SimulatedMachine& m, double v) { m.links.node_bandwidth = v; }},
    {"links", "base_us", micro, false, true, 0, unlimited, "every operation of several devices",
     [](SimulatedMachine& m, double v) { m.links.base_s = v; }},
    {"links", "hop_us", micro, false, true, 0, unlimited, "each step of an operation between devices of a node",
     [](SimulatedMachine& m, double v) { m.links.hop_s = v; }},
    {"links", "network_hop_us", micro, false, true, 0, unlimited, "each step between nodes",
     [](SimulatedMachine& m, double v) { m.links.network_hop_s = v; }},
    {"links", "message_us", micro, false, true, 0, unlimited, "each point-to-point message, on either side",
     [](SimulatedMachine& m, double v) { m.links.message_s = v; }},
    {"links", "exchange_share", 1, false, false, 1e-6, 1,
     "share of a network card's rate that messages to other nodes reach, where the network is thinner than its "
     "cards",
     [](SimulatedMachine& m, double v) { m.links.exchange_share = v; }},
    {"links", "nccl_capability", 1, true, false, 70, 99,
     "collectives as NCCL chooses and expects them on devices of this compute capability: 70 for Volta, 80 for "
     "Ampere, 90 for "
     "Hopper; base_us, hop_us and network_hop_us are then of messages alone",
     [](SimulatedMachine& m, double v) { m.links.nccl_capability = static_cast<int>(v); }},
    {"links", "nccl_amd_host", 1, true, false, 0, 1, "1: the hosts' processors are AMD's, which NCCL tells apart",
     [](SimulatedMachine& m, double v) { m.links.nccl_amd_host = v != 0; }},
    {"links", "nccl_ll128_between_nodes", 1, true, false, 0, 1,
     "1: devices and network cards share PCIe switches, so that NCCL's protocol LL128 is used between nodes",
     [](SimulatedMachine& m, double v) { m.links.nccl_ll128_between_nodes = v != 0; }},
    {"links", "mpi", 1, true, false, 0, 1,
     "1: MPI moves the messages, so that collectives take trees where these are faster than rings",
     [](SimulatedMachine& m, double v) { m.links.mpi = v != 0; }},
    {"thesis_spmm", "constant", 1e-3, false, false, -unlimited, unlimited,
     "the three coefficients of section 4.1, in ms", [](SimulatedMachine& m, double v) { m.thesis.constant = v; }},
    {"thesis_spmm", "forward", 1e-3, false, false, -unlimited, unlimited, "of fwd_penalty",
     [](SimulatedMachine& m, double v) { m.thesis.forward = v; }},
    {"thesis_spmm", "backward", 1e-3, false, false, -unlimited, unlimited, "of bwd_penalty",
     [](SimulatedMachine& m, double v) { m.thesis.backward = v; }},
};

const MachineCurve all_curves[] = {
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

}  // namespace

std::span<const MachineField> machine_fields() { return all_fields; }
std::span<const MachineCurve> machine_curves() { return all_curves; }

std::string MachineField::whole_key() const {
    return *section ? fmt::format("{}.{}", section, key) : std::string(key);
}

simulation::Curve& MachineCurve::in(simulation::Machine& m) const {
    return of ? m.device.*of : m.links.measured[key.substr(0, key.rfind('_'))];
}

}  // namespace gnnbench
