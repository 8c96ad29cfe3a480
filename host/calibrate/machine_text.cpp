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
using simulation::Device;

constexpr double line_bytes = 64;
/// Floats of AVX-512, to whole vectors of which libxsmm computes.
constexpr int gemm_tile = 16;

/// The median rate of several kernels that touch nearly as many bytes, at the largest of their sizes.
Curve stream_rates(const std::vector<StreamSample>& samples) {
    constexpr double same = 0.6;  // a kernel of the same size may have 2 operands or 3
    std::map<double, std::vector<double>> rates;
    for (const StreamSample& s : samples) {
        const auto at = rates.lower_bound(s.touched_bytes);
        const bool known = at != rates.end() && s.touched_bytes > same * at->first;
        rates[known ? at->first : s.touched_bytes].push_back(s.bytes / s.seconds);
    }
    Curve curve;
    for (const auto& [bytes, of] : rates) curve.points.push_back({bytes, median(of)});
    return curve;
}

/// What a kernel takes beyond a part of its work, such as its bytes in order. Where prefetching hides one behind the other,
/// the larger part is taken to be half.
double less_in_order(double seconds, double in_order_s) { return std::max(seconds - in_order_s, seconds / 2); }

/// Gather rates of sparse products whose rows have `row_bytes` bytes.
Curve gather_rates(const std::vector<GatherSample>& samples, double row_bytes, const Curve& stream) {
    std::map<double, std::vector<double>> rates;
    for (const GatherSample& s : samples) {
        if (s.row_bytes != row_bytes) continue;
        const double in_order_s = s.in_order_bytes / stream.rate(s.lie_in_bytes + s.in_order_bytes);
        rates[s.lie_in_bytes].push_back(s.gathered_bytes / less_in_order(s.seconds, in_order_s));
    }
    require(!rates.empty(), "rows of both lengths are measured");
    Curve curve;
    for (const auto& [bytes, of] : rates) curve.points.push_back({bytes, median(of)});
    return curve;
}

/// What a row of uneven lengths takes beside its nonzeros, each as in rows of equal length, and its bytes in order.
double uneven_row_s(const std::vector<UnevenSample>& samples, const Curve& stream, const Curve& gather) {
    std::vector<double> rows;
    for (const UnevenSample& s : samples) {
        const GatherSample& g = s.gather;
        const double expected_s = g.gathered_bytes / gather.rate(g.lie_in_bytes) +
                                  g.in_order_bytes / stream.rate(g.lie_in_bytes + g.in_order_bytes);
        rows.push_back(std::max(0.0, (g.seconds - expected_s) / s.rows));
    }
    require(!rows.empty(), "rows of many lengths are measured");
    return median(rows);
}

/// What a dense product takes while it does not wait for its operands, for each 2·m·k operations of one column.
double column_s(const GemmSample& s, double element_bytes, const Curve& stream) {
    const double bytes = element_bytes * static_cast<double>(s.m * s.k + s.k * s.n + s.m * s.n);
    return less_in_order(s.seconds, bytes / stream.rate(bytes)) / (2 * static_cast<double>(s.m * s.k));
}

/// Operations per second of each product whose columns fill whole tiles.
std::vector<double> gemm_rates(const std::vector<GemmSample>& samples, int tile, double element_bytes,
                               const Curve& stream) {
    std::vector<double> rates;
    for (const GemmSample& s : samples)
        if (s.n % tile == 0) rates.push_back(static_cast<double>(s.n) / column_s(s, element_bytes, stream));
    require(!rates.empty(), "a machine's dense products are measured");
    return rates;
}

/// How many whole tiles' time one takes that is filled in part, in products of many rows.
double part_tile(const std::vector<GemmSample>& samples, int tile, double rate, const Curve& stream) {
    std::vector<double> tiles;
    for (const GemmSample& s : samples)
        if (s.n % tile != 0 && s.m > s.k) {
            const auto whole = s.n / tile;
            tiles.push_back(column_s(s, 4, stream) * rate / tile - static_cast<double>(whole));
        }
    return tiles.empty() ? 1 : std::max(1.0, median(tiles));
}

/// Operations a second of walks, beside a product as wide and bytes in order: the median.
double attention_rate(const std::vector<AttentionSample>& samples, const Curve& stream) {
    std::vector<double> rates;
    for (const AttentionSample& s : samples) {
        const double product_s = s.product_s + s.in_order_bytes / stream.rate(s.in_order_bytes);
        rates.push_back(s.operations / less_in_order(s.seconds, product_s));
    }
    require(!rates.empty(), "attention is measured");
    return median(rates);
}

/// Seconds of a row, by its columns.
Curve losses(const std::vector<LossSample>& samples) {
    Curve curve;
    for (const LossSample& s : samples) curve.points.push_back({static_cast<double>(s.columns), s.seconds});
    return curve;
}

class MachineText {
public:
    MachineText(MachineFacts facts, const MachineSamples& alone, const MachineSamples& together)
        : facts_(std::move(facts)),
          alone_(alone),
          together_(together),
          stream_(stream_rates(alone.stream)),
          gather_(gather_rates(alone.gather, Device::narrow_row, stream_)) {}

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
        const std::vector<double> rates = gemm_rates(alone_.gemm_float32, gemm_tile, 4, stream_);
        const double fastest = *std::ranges::max_element(rates);
        number("  ", "memory_gb", static_cast<double>(facts_.memory_bytes) / facts_.devices / 1e9,
               "the host's memory, divided by its devices");
        number("  ", "reserved_gb", 0, "the host's memory is its own");
        number("  ", "memory_bandwidth_gbs", memory / 1e9,
               measured("element-wise kernels on the largest operands"));
        number("  ", "cache_mb", cache_bytes / 1e6, "the system's description of the last-level cache");
        number("  ", "cache_bandwidth_gbs", cache / 1e9,
               measured("element-wise kernels on operands of half the cache"));
        number("  ", "float32_tflops", fastest / 1e12,
               measured("the fastest of a layer's dense products, less its bytes in order"));
        number("  ", "float64_tflops",
               std::ranges::max(gemm_rates(alone_.gemm_float64, gemm_tile / 2, 8, stream_)) / 1e12,
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
        number("  ", "gemm_part_tile", part_tile(alone_.gemm_float32, gemm_tile, median(rates), stream_),
               measured("dense products of many rows whose columns fill a tile in part"));
        if (alone_.tile_columns > 0)
            number("  ", "tile_columns", alone_.tile_columns,
                   "the format that the cpu kernel gives a matrix with long rows");
        number("  ", "uneven_row_ns", uneven_row_s(alone_.uneven, stream_, gather_) * 1e9,
               measured("sparse products of rows of 0 to 8, 16 and 32 nonzeros, less those of equal rows"));
        number("  ", "attention_gflops", attention_rate(alone_.attention, stream_) / 1e9,
               measured("GAT's walks with 8 heads of 16 columns, less a sparse product as wide"));
        number("  ", "dynamic_attention_gflops", attention_rate(alone_.dynamic_attention, stream_) / 1e9,
               measured("the same of GATv2"));
        number("  ", "streams", 1, "messages move while a rank waits for them");
        const std::string kernels = "axpby, copy and ReLU's gradient: median of their rates",
                          products = "sparse products less their bytes in order";
        const auto gathers = [&](const char* key, const MachineSamples& of, double row_bytes, const Curve& stream,
                                 const std::string& where) {
            curve(key, gather_rates(of.gather, row_bytes, stream), 1e-9,
                  measured(fmt::format("{}, rows of {:.0f} bytes{}", products, row_bytes, where)));
        };
        curve("loss_ns", losses(alone_.loss), 1e9,
              measured("softmax cross entropy of 8,192 rows, of which two thirds count, by classes"));
        curve("sharded_loss_ns", losses(alone_.sharded_loss), 1e9,
              measured("maxima, sums of exponentials and gradients of the same rows, by a rank's classes"));
        curve("stream_gbs", stream_, 1e-9, measured(kernels));
        gathers("gather_gbs", alone_, Device::narrow_row, stream_, "");
        gathers("wide_gather_gbs", alone_, Device::wide_row, stream_, "");
        const std::string together = ", on all devices at once";
        const Curve stream = stream_rates(together_.stream);
        curve("shared_stream_gbs", stream, 1e-9, measured(kernels + together));
        gathers("shared_gather_gbs", together_, Device::narrow_row, stream, together);
        gathers("shared_wide_gather_gbs", together_, Device::wide_row, stream, together);
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
            for (const OperationSample& s : samples) times.points.push_back({s.bytes, s.seconds});
            curve(name + "_us", times, 1e6,
                  measured("between two ranks, by the bytes of the whole operation, of a message in each "
                           "direction of one"));
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
