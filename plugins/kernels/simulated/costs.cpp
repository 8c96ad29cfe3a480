#include "costs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gnnbench::simulated {

using simulation::ColumnReads;
using simulation::Curve;
using simulation::Device;
using simulation::Moved;
using simulation::Work;

namespace {

/// What was measured beside the node's other ranks, where it applies.
Curve measured(const Device& d, Curve Device::* alone, Curve Device::* shared, int ranks_of_node) {
    return ranks_of_node > 1 && !(d.*shared).empty() ? d.*shared : d.*alone;
}

double sum(const InOrder& moved) {
    double bytes = 0;
    for (const Moved& m : moved) bytes += m.bytes;
    return bytes;
}

/// What each kernel of the same operands, one after another, finds.
InOrder repeated(double bytes, double all_bytes) { return {{bytes, all_bytes}}; }

}  // namespace

Costs::Costs(const simulation::Machine& machine, DType dtype, SpmmModel spmm, int ranks_of_node)
    : machine_(machine),
      stream_(measured(machine.device, &Device::stream, &Device::shared_stream, ranks_of_node)),
      gather_(measured(machine.device, &Device::gather, &Device::shared_gather, ranks_of_node)),
      wide_gather_(measured(machine.device, &Device::wide_gather, &Device::shared_wide_gather, ranks_of_node)),
      dtype_(dtype),
      spmm_(spmm) {}

/// A kernel is at least as long as an empty one. Its share of the memory is what it needs of it while it runs.
Work Costs::kernel(double seconds, double memory_s) const {
    const double alone_s = std::max(seconds, machine_.device.least_kernel_s);
    return {alone_s, alone_s > 0 ? std::min(1.0, memory_s / alone_s) : 0};
}

double Costs::in_order_s(const InOrder& moved) const {
    const Device& d = machine_.device;
    if (stream_.empty()) return sum(moved) / (d.memory_bandwidth * d.stream_efficiency);
    double seconds = 0;
    for (const Moved& m : moved) seconds += m.bytes / stream_.rate(m.since);
    return seconds;
}

double Costs::whole_lines(double row_bytes) const {
    const double line = machine_.device.line_bytes;
    return line > 0 ? std::ceil(row_bytes / line) * line : row_bytes;
}

// Rows of two lengths were measured; between them and beyond, a row takes a time of its own and one for each byte. A
// short row takes no less than its share of a narrow one.
double Costs::row_s(double row_bytes, double lie_in) const {
    const double bytes = whole_lines(row_bytes), narrow_s = Device::narrow_row / gather_.rate(lie_in);
    if (wide_gather_.empty()) return bytes / gather_.rate(lie_in);
    const double wide_s = Device::wide_row / wide_gather_.rate(lie_in);
    const double each_byte_s = std::max(0.0, (wide_s - narrow_s) / (Device::wide_row - Device::narrow_row));
    return std::max(narrow_s + (bytes - Device::narrow_row) * each_byte_s,
                    narrow_s * std::min(1.0, bytes / Device::narrow_row));
}

Work Costs::streamed(const InOrder& moved) const {
    const double memory_s = in_order_s(moved);
    return kernel(memory_s, memory_s);
}

Work Costs::losses(const Curve& row, double rows, double columns, const InOrder& moved) const {
    const double memory_s = in_order_s(moved), rate = machine_.device.exp_rate;
    const double exponentials_s = rate > 0 ? rows * columns / rate : 0;
    return kernel(std::max(row.empty() ? exponentials_s : rows * row.seconds(columns), memory_s), memory_s);
}

Work Costs::gathered(double rows, double row_bytes, double lie_in, const InOrder& in_order) const {
    const Device& d = machine_.device;
    if (!gather_.empty()) {
        const double memory_s = rows * row_s(row_bytes, lie_in) + in_order_s(in_order);
        return kernel(memory_s, memory_s);
    }
    const double memory_s = rows * row_bytes / (d.memory_bandwidth * d.gather_efficiency) + in_order_s(in_order);
    return kernel(memory_s + rows * d.row_s, memory_s);
}

// C [m × f] = A [m × n] B [n × f], A with z nonzeros. Each nonzero reads its index, its value and a row of B. Of the
// rows of B a share h = min(1, cache / bytes of B's used rows) is found in the cache, but for the first read of each. A
// row takes a time of its own besides, wherever it is, which is most of a narrow row's.
Work Costs::spmm(const SpmmShape& s) const {
    const Device& d = machine_.device;
    const double z = static_cast<double>(s.nonzeros), f = static_cast<double>(s.width), e = element_bytes();
    if (spmm_ == SpmmModel::plexus_thesis) {
        // √flops · (c₀ + c₁·fwd_penalty + c₂·bwd_penalty) ms is of a layer's two products, with flops = z·f and
        // penalty n / f of each. One product has half the constant and, as it does not know its direction, the mean
        // of c₁ and c₂.
        const simulation::ThesisSpmm& t = machine_.thesis;
        const double penalty = f > 0 ? static_cast<double>(s.cols) / f : 0;
        const double seconds =
            std::max(0.0, std::sqrt(z * f) * (t.constant / 2 + (t.forward + t.backward) / 2 * penalty));
        return kernel(seconds, seconds);
    }
    if (!gather_.empty()) return measured_spmm(s);
    const double row_bytes = f * e;
    const double used_rows = std::min(static_cast<double>(s.cols), z);
    const double of_b = used_rows * row_bytes;
    const double in_cache = of_b > 0 ? std::min(1.0, d.cache_bytes / of_b) : 0;
    const double read_again = std::max(0.0, z - used_rows) * row_bytes;
    const double from_memory = of_b + (1 - in_cache) * read_again, from_cache = in_cache * read_again;
    const double matrix = z * (e + 4) + static_cast<double>(s.rows + 1) * 4;
    const double result = static_cast<double>(s.rows) * row_bytes * (s.adds ? 2 : 1);
    const double memory_rate = d.memory_bandwidth * d.gather_efficiency,
                 cache_rate = std::max(d.cache_bandwidth * d.cached_gather_efficiency, memory_rate);
    const double memory_s =
        from_memory / memory_rate + (matrix + result) / (d.memory_bandwidth * d.stream_efficiency);
    const double row_s = from_cache / cache_rate + z * d.row_s;
    const double rate = dtype_ == DType::f32 ? d.float32_rate : d.float64_rate;
    return kernel(std::max(memory_s + row_s, 2 * z * f / rate) + s.computes_s, memory_s);
}

// The same where the rates of rows in no order were measured by the bytes they lie in, so that what caches do is in them.
// What the first read of each of B's rows finds beyond those caches is charged besides.
Work Costs::measured_spmm(const SpmmShape& s) const {
    const double z = static_cast<double>(s.nonzeros), m = static_cast<double>(s.rows),
                 n = static_cast<double>(s.cols), e = element_bytes(),
                 row_bytes = static_cast<double>(s.width) * e;
    const double of_b = std::min(n, z) * whole_lines(row_bytes);
    const double in_order = z * (e + 4) + (m + 1) * 8 + m * row_bytes * (s.adds ? 2 : 1);
    double first_s = 0;
    for (const Moved& b : s.operand)
        first_s +=
            std::min(1.0, z / n) * b.bytes * std::max(0.0, 1 / stream_.rate(b.since) - 1 / stream_.rate(of_b));
    const double seconds = gathers_s(s) + m * machine_.device.uneven_row_s + first_s +
                           in_order_s(s.in_order.empty() ? repeated(in_order, of_b + in_order) : s.in_order);
    return kernel(seconds + s.computes_s, seconds);
}

// Where rows are long enough, the product goes through tiles of columns, by panels of B's columns (the `cpu` kernel's
// rule and width), and gathers from one panel's rows of a tile at a time.
double Costs::gathers_s(const SpmmShape& s) const {
    constexpr double long_enough = 16, panel = 64;
    const Device& d = machine_.device;
    const double z = static_cast<double>(s.nonzeros), m = static_cast<double>(s.rows),
                 n = static_cast<double>(s.cols), e = element_bytes(),
                 row_bytes = static_cast<double>(s.width) * e, lines = whole_lines(row_bytes);
    if (z == 0) return 0;
    // A tile is two thirds of what fits a core's cache; whether tiles pay depends on how often that fits.
    const double fit = std::bit_ceil(static_cast<unsigned>(d.tile_columns) * 3 / 2);
    const double tiles = d.tile_columns > 0 ? n / fit : 0;
    if (tiles > 1 && z >= long_enough * m * std::ceil(tiles)) {
        const double in_panel = std::min(row_bytes, panel * e);
        return z * row_bytes / in_panel * row_s(in_panel, d.tile_columns * in_panel);
    }
    const double used = std::min(n, z);
    if (!s.columns) return z * row_s(row_bytes, used * lines);
    // A block has its share of each group's columns, and of their nonzeros.
    double seconds = 0;
    for (const ColumnReads::Group& g : s.columns->groups)
        seconds += g.reads * z / s.columns->nonzeros *
                   row_s(row_bytes, std::min(used, g.rows * n / s.columns->columns) * lines);
    return seconds;
}

// C [m × n] from k products each: 2mnk operations at the device's rate, times the share of its processors that work:
// tiles of C are dealt out to them in waves, and where there are fewer tiles than processors k is cut too, as cuBLAS
// does.
Work Costs::gemm(const GemmShape& s) const {
    constexpr double tile = 128, shortest_cut = 256;
    const Device& d = machine_.device;
    const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
    const double tiles_m = std::ceil(m / tile), tiles_n = std::ceil(n / tile);
    const double processors = d.processors;
    double work_items = tiles_m * tiles_n;
    if (work_items < processors)
        work_items *= std::max(1.0, std::min(std::floor(processors / work_items), k / shortest_cut));
    const double waves = std::ceil(work_items / processors);
    // Tiles at the edges are computed whole; a narrow C uses a narrower tile, of 32 columns at least.
    const double narrow =
        std::min(tile, std::max(32.0, std::pow(2.0, std::ceil(std::log2(std::max(1.0, std::min(m, n)))))));
    const double filled = (m * n) / (std::ceil(m / tile) * tile * std::ceil(n / narrow) * narrow);
    const double filled_other = (m * n) / (std::ceil(n / tile) * tile * std::ceil(m / narrow) * narrow);
    double shape = std::max(filled, filled_other) * work_items / (waves * processors);
    if (d.gemm_tile > 0) {
        const double tile_n = d.gemm_tile, whole = std::floor(n / tile_n);
        const double part = n > whole * tile_n ? (m > k ? d.gemm_part_tile : 1) : 0;
        shape = n / ((whole + part) * tile_n);
    }
    const double rate = dtype_ == DType::f32 ? d.float32_rate : d.float64_rate;
    const double compute_s = 2 * m * n * k / (rate * d.gemm_efficiency * std::max(shape, 1e-6));
    const double bytes = (m * k + k * n + m * n * (s.adds ? 2 : 1)) * element_bytes();
    const double memory_s = in_order_s(s.in_order.empty() ? repeated(bytes, bytes) : s.in_order);
    // A core computes nothing while it waits for operands; the rate is of what it computes between.
    if (!stream_.empty()) return kernel(compute_s + memory_s, memory_s);
    return kernel(std::max(compute_s, memory_s), memory_s);
}

}  // namespace gnnbench::simulated
