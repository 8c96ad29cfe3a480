#include "calibrate/machine_text.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/simulation/machine.hpp>

#include "record/statistics.hpp"

namespace gnnbench {
namespace {

using simulation::Curve;

constexpr double line_bytes = 64;
/// Floats of AVX-512, to whole vectors of which libxsmm computes.
constexpr int gemm_tile = 16;

/// Of several kernels that move nearly as many bytes: the median of their rates, at the largest.
Curve stream_rates(const std::vector<StreamSample>& samples) {
    constexpr double same = 0.6;  // an axpby moves 3 operands, a copy of the same size 2
    std::map<double, std::vector<double>> rates;
    for (const StreamSample& s : samples) {
        const auto at = rates.lower_bound(s.bytes);
        const bool known = at != rates.end() && s.bytes > same * at->first;
        rates[known ? at->first : s.bytes].push_back(s.bytes / s.seconds);
    }
    Curve curve;
    for (const auto& [bytes, of] : rates) curve.points.push_back({bytes, median(of)});
    return curve;
}

/// What a sparse product takes beyond its bytes in order is its gathers'. Rates of one size are averaged.
Curve gather_rates(const std::vector<GatherSample>& samples, const Curve& stream) {
    std::map<double, std::vector<double>> rates;
    for (const GatherSample& s : samples) {
        const double in_order_s = s.in_order_bytes / stream.rate(s.lie_in_bytes + s.in_order_bytes);
        // Where prefetching hides one behind the other, the larger part is taken to be half.
        const double gather_s = std::max(s.seconds - in_order_s, s.seconds / 2);
        rates[s.lie_in_bytes].push_back(s.gathered_bytes / gather_s);
    }
    Curve curve;
    for (const auto& [bytes, of] : rates) curve.points.push_back({bytes, median(of)});
    return curve;
}

/// Operations per second of each product, its columns in whole tiles.
std::vector<double> gemm_rates(const std::vector<GemmSample>& samples, int tile) {
    std::vector<double> rates;
    for (const GemmSample& s : samples) {
        const double columns = std::ceil(static_cast<double>(s.n) / tile) * tile;
        rates.push_back(2 * static_cast<double>(s.m) * columns * static_cast<double>(s.k) / s.seconds);
    }
    require(!rates.empty(), "a machine's dense products are measured");
    return rates;
}

class MachineText {
public:
    MachineText(MachineFacts facts, const MachineSamples& alone, const MachineSamples& together)
        : facts_(std::move(facts)),
          alone_(alone),
          together_(together),
          stream_(stream_rates(alone.stream)),
          gather_(gather_rates(alone.gather, stream_)) {}

    std::string text() {
        std::ranges::replace(facts_.processor, '"', '\'');  // texts are in double quotes
        std::ranges::replace(facts_.processor, '\\', '/');
        out_ = fmt::format(
            "# Written by gnnbench machine calibrate on {}.\n"
            "name: {}\nabout: \"{} devices of {} core{} each, {}\"\n",
            facts_.date, facts_.name, facts_.devices, facts_.threads, facts_.threads == 1 ? "" : "s",
            facts_.processor);
        number("", "nodes", 1, "this host");
        number("", "devices_per_node", facts_.devices, "cores that this process may use, by threads of a device");
        device();
        links();
        return out_;
    }

private:
    void device() {
        out_ += fmt::format("device:\n  name: \"{}, {} thread{}\"\n", facts_.processor, facts_.threads,
                            facts_.threads == 1 ? "" : "s");
        const double memory = stream_.points.back().value, gather = gather_.points.back().value;
        const auto cache_bytes = static_cast<double>(facts_.cache_bytes);
        const double cache = std::max(stream_.rate(cache_bytes / 2), memory),
                     cached = gather_.rate(cache_bytes / 2);
        const std::vector<double> rates = gemm_rates(alone_.gemm_float32, gemm_tile);
        const double fastest = *std::ranges::max_element(rates);
        number("  ", "memory_gb", static_cast<double>(facts_.memory_bytes) / facts_.devices / 1e9,
               "the host's memory, divided by its devices");
        number("  ", "reserved_gb", 0, "the host's memory is its own");
        number("  ", "memory_bandwidth_gbs", memory / 1e9,
               measured("element-wise kernels on the largest operands"));
        number("  ", "cache_mb", cache_bytes / 1e6, "the system's description of the last-level cache");
        number("  ", "cache_bandwidth_gbs", cache / 1e9,
               measured("element-wise kernels on operands of half the cache"));
        number("  ", "float32_tflops", fastest / 1e12, measured("the fastest of a layer's dense products"));
        number("  ", "float64_tflops", std::ranges::max(gemm_rates(alone_.gemm_float64, gemm_tile / 2)) / 1e12,
               measured("the same in float64"));
        number("  ", "processors", facts_.threads, "threads of a device");
        number("  ", "host_link_gbs", alone_.copy_rate / 1e9, measured("a copy of 16 MiB"));
        number("  ", "launch_us", 0, "a kernel of processors is a call, complete when it returns");
        number("  ", "least_kernel_us", alone_.empty_kernel_s * 1e6, measured("filling 16 numbers"));
        number("  ", "stream_efficiency", 1, "memory_bandwidth_gbs is what kernels reach");
        number("  ", "gather_efficiency", std::min(1.0, gather / memory),
               measured("sparse products, the largest operand"));
        number("  ", "cached_gather_efficiency", std::min(1.0, cached / cache),
               measured("sparse products, an operand of half the cache"));
        number("  ", "gemm_efficiency", median(rates) / fastest,
               measured("the median of a layer's dense products by the fastest"));
        number("  ", "line_bytes", line_bytes, "a cache line of x86-64 and of most ARM processors");
        number("  ", "gemm_tile", gemm_tile, "floats of an AVX-512 vector, to which libxsmm's columns are filled");
        number("  ", "exp_gops", alone_.exp_rate / 1e9,
               measured("softmax cross entropy of 16 classes, elements a second"));
        if (alone_.tile_columns > 0)
            number("  ", "tile_columns", alone_.tile_columns,
                   "the format that the cpu kernel gives a matrix with long rows");
        number("  ", "streams", 1, "MPI's messages move while a rank waits for them");
        const std::string kernels = "axpby, copy and ReLU's gradient: median of their rates",
                          products = "sparse products less their bytes in order";
        curve("stream_gbs", stream_, 1e-9, measured(kernels));
        curve("gather_gbs", gather_, 1e-9, measured(products));
        const Curve stream = stream_rates(together_.stream);
        curve("shared_stream_gbs", stream, 1e-9, measured(kernels + ", on all devices at once"));
        curve("shared_gather_gbs", gather_rates(together_.gather, stream), 1e-9,
              measured(products + ", on all devices at once"));
    }

    void links() {
        const auto& exchange = together_.operations.at("exchange");
        const double latency_s = exchange.front().seconds, rate = exchange.back().bytes / exchange.back().seconds;
        out_ += "links:\n";
        number("  ", "link_gbs", rate / 1e9,
               measured("a message in each direction between two ranks, the largest"));
        out_ += "  among:\n";
        number("    ", "2", 1, "between any two ranks: the host's memory");
        number("  ", "nics", 1, "one host: not used");
        number("  ", "nic_gbs", rate / 1e9, "one host: not used; as link_gbs");
        number("  ", "base_us", 0, "in the times by size below");
        number("  ", "hop_us", latency_s * 1e6, measured("a message of 64 bytes in each direction"));
        number("  ", "network_hop_us", latency_s * 1e6, "one host: not used; as hop_us");
        number("  ", "message_us", latency_s * 1e6, measured("a message of 64 bytes in each direction"));
        for (const auto& [name, samples] : together_.operations) {
            Curve times;
            for (const StreamSample& s : samples) times.points.push_back({s.bytes, s.seconds});
            curve(name + "_us", times, 1e6, measured("between two ranks, by the bytes of the whole operation"));
        }
    }

    /// "calibrate: what, how, date, processor"
    std::string measured(const std::string& what) const {
        return fmt::format("calibrate: {}; median of rounds, kernel cpu; {}; {}", what, facts_.date,
                           facts_.processor);
    }
    void number(const char* indent, const char* key, double value, const std::string& source) {
        out_ += fmt::format("{}{}: {{value: {:.6g}, source: \"{}\"}}\n", indent, key, value, source);
    }
    void curve(const std::string& key, const Curve& c, double scale, const std::string& source) {
        out_ += fmt::format("  {}:\n    at: {{", key);
        for (std::size_t i = 0; i < c.points.size(); ++i)
            out_ += fmt::format("{}{:.0f}: {:.4g}", i ? ", " : "", c.points[i].bytes, c.points[i].value * scale);
        out_ += fmt::format("}}\n    source: \"{}\"\n", source);
    }

    MachineFacts facts_;
    const MachineSamples &alone_, &together_;
    Curve stream_, gather_;
    std::string out_;
};

}  // namespace

std::string machine_text(const MachineFacts& facts, const MachineSamples& alone, const MachineSamples& together) {
    return MachineText(facts, alone, together).text();
}

}  // namespace gnnbench
