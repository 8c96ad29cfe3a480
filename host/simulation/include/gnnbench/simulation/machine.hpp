#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// A machine as the simulation knows it. Bytes, seconds, bytes per second and operations per second throughout.
namespace gnnbench::simulation {

/// One number of a machine file, as `gnnbench machine show` prints it.
struct Quantity {
    std::string key;  ///< "device.memory_bandwidth_gbs"
    double value = 0;
    std::string source;  ///< a data sheet, a paper's page, or what measured it
};

/// A rate or a time measured at several sizes. Between two of them it follows a power of the size.
struct Curve {
    struct Point {
        double bytes = 0, value = 0;
    };
    std::vector<Point> points;  ///< ascending by bytes

    bool empty() const { return points.empty(); }
    /// For rates: constant beyond the first and the last point.
    double rate(double bytes) const;
    /// For times: constant below the first point; above the last one, in proportion to the bytes.
    double seconds(double bytes) const;
};

/// What a rank drives.
struct Device {
    std::string name;
    double memory_bytes = 0;
    double reserved_bytes = 0;    ///< of it, what runtime and libraries keep for themselves
    double memory_bandwidth = 0;  ///< as on its data sheet
    double cache_bytes = 0, cache_bandwidth = 0;
    double float32_rate = 0, float64_rate = 0;  ///< of dense products without tensor cores
    int processors = 1;                         ///< tiles of a dense product that it computes at once
    double host_link_bandwidth = 0;             ///< between host and device
    double launch_s = 0;                        ///< of the host, for each kernel
    double least_kernel_s = 0;                  ///< of the device, for each kernel
    // Shares of the data sheet's rates that kernels reach.
    double stream_efficiency = 1;         ///< of the memory's, element by element
    double gather_efficiency = 1;         ///< of the memory's, rows in no order
    double cached_gather_efficiency = 1;  ///< of the cache's, rows in no order; never slower than the memory's
    double row_s = 0;                     ///< of every row read in no order, beside its bytes' time
    double gemm_efficiency = 1;
    // For devices whose cache is large beside what kernels work on, as processors' are. Where curves are given, they
    // stand for memory, cache and their shares.
    Curve stream = {};  ///< bytes per second in order, by the bytes touched since they were
    /// Bytes per second of rows in no order, by the bytes that they lie in; of rows of so many bytes each.
    static constexpr double narrow_row = 128, wide_row = 512;
    Curve gather = {}, wide_gather = {};
    /// The same while all devices of the node work, as they do where a node has several ranks.
    Curve shared_stream = {}, shared_gather = {}, shared_wide_gather = {};
    double line_bytes = 0;      ///< in which rows in no order are read; 0: as they are
    int gemm_tile = 0;          ///< columns that a dense product computes together; 0: tiles of GPUs
    double gemm_part_tile = 1;  ///< whole tiles' time of one that is filled in part, in products of many rows
    int tile_columns = 0;       ///< that a sparse product with long enough rows goes through at a time; 0: all
    double exp_rate = 0;        ///< exponentials per second, of losses; 0: hidden behind the memory
    /// Seconds of a row's loss, by its columns; and where its columns are distributed, of all three verbs. Where given, they
    /// stand for exp_rate.
    Curve loss = {}, sharded_loss = {};
    /// Seconds of each row of a sparse product, beside its nonzeros': where lengths differ, a core predicts wrongly where a row
    /// ends. Of devices with rates by size.
    double uneven_row_s = 0;
    /// Operations a second for each entry that is attended to (verb::Attend and its like), beside a product as wide; GATv2's
    /// likewise. 0: not measured, and not charged.
    double attention_rate = 0, dynamic_attention_rate = 0;
    int streams = 2;  ///< 1: a device moves its own messages, and computes nothing meanwhile
};

/// Seconds of an SpMM as the thesis on Plexus fits them (its section 4.1):
/// √flops · (constant + forward · fwd_penalty + backward · bwd_penalty).
struct ThesisSpmm {
    double constant = 0, forward = 0, backward = 0;
};

/// How devices reach each other.
struct Links {
    double link_bandwidth = 0;  ///< of one link within a node, in one direction, as a collective reaches it
    /// How many links a device can use in a group of so many devices of its node; ascending by group.
    struct Among {
        int devices = 0, links = 0;
    };
    std::vector<Among> among;
    /// Links that join two devices of a node, by their places in it; where given, in place of `among`. Devices that no
    /// pair names reach each other over their host links.
    struct Pair {
        int first = 0, second = 0, links = 0;
    };
    std::vector<Pair> pairs = {};
    /// What a group's rings carry over a hop, measured while all groups of its kind communicate, in place of links and
    /// network cards: of groups whose neighbouring ranks are at least so far apart and that have at least so many ranks;
    /// ascending by both.
    struct Group {
        int distance = 1, ranks = 2;
        double bandwidth = 0;
    };
    std::vector<Group> groups = {};
    double most_bandwidth = 0;         ///< that a collective within a node reaches; 0: what the links carry
    int nics = 1;                      ///< of a node
    double nic_bandwidth = 0;          ///< of each, in one direction
    double node_bandwidth = INFINITY;  ///< that all of a node's network cards reach together
    /// Of a node's network cards.
    double cards() const { return std::min(nics * nic_bandwidth, node_bandwidth); }
    double base_s = 0;         ///< of every operation
    double hop_s = 0;          ///< between devices of one node
    double network_hop_s = 0;  ///< between nodes
    double message_s = 0;      ///< of every point-to-point message, on either side
    /// Share of a network card's bandwidth that messages to other nodes reach, where a network is thinner than its cards.
    double exchange_share = 1;
    /// Collectives as NCCL chooses and expects them, on devices of this compute capability (70: Volta, 80: Ampere, 90: Hopper), in
    /// place of the three latencies above; 0: rings and trees of those latencies.
    int nccl_capability = 0;
    bool nccl_amd_host = false;  ///< its hosts' processors are AMD's, which NCCL tells apart
    /// Each device has a network card behind its own PCIe switch, which LL128 needs.
    bool nccl_ll128_between_nodes = false;
    bool mpi = false;  ///< MPI moves messages: collectives take trees where these are faster than rings
    /// Seconds of an operation of two devices of a node by its bytes, where they were measured; by measured_key(). With
    /// "read_rows" and "add_rows" devices of a node read each other's memory in place.
    std::map<std::string, Curve> measured = {};
};

/// What a released program does beside its algorithm. All zero: the algorithm alone, as this project runs it.
struct Program {
    std::string name = {};
    double operator_s = 0;  ///< of the host, for each operator; in place of Device::launch_s
    /// Operators for each message of an exchange, and for each peer once an epoch.
    int send_operators = 0, receive_operators = 0, peer_operators = 0;
    int peer_messages = 0;         ///< to each peer and from it, once an epoch, too small for their bytes to count
    double message_s = 0;          ///< of the host, for each message on either side: its transport's own
    double message_bandwidth = 0;  ///< of a rank's messages, in one direction; 0: the network's
    bool host_copies = false;      ///< messages pass through the host's memory
    bool blocking = false;         ///< the host waits for every exchange
    bool one_host = false;         ///< one thread drives all devices of a node
};

struct Machine {
    std::string name, summary;
    std::string digest;  ///< of its file
    int nodes = 1, devices_per_node = 1;
    Device device;
    Links links;
    ThesisSpmm thesis;
    Program program;
    std::vector<Quantity> quantities;  ///< all numbers above, as the file has them

    int devices() const { return nodes * devices_per_node; }
    /// Ranks fill one node after another.
    int node_of(int rank) const { return rank / devices_per_node; }
    int place_of(int rank) const { return rank % devices_per_node; }  ///< in its node
};

/// What a collective costs: a link model in which operations that run at the same time share network cards, or the
/// closed formula of rings in which every group of a node is taken to communicate at the same time (thesis on Plexus,
/// section 4.2).
enum class NetworkModel : std::uint8_t { links, ring };

}  // namespace gnnbench::simulation
