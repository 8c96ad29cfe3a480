// What kernels cost on a machine whose rates were measured by size.
#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include "kernels/simulated/costs.hpp"

using namespace gnnbench;
using namespace gnnbench::simulated;
using simulation::Machine;

namespace {

/// 1,000 bytes a second in order, 100 in no order; half of that beside others. Lines of 64 bytes, tiles of 16 columns.
Machine measured_by_size() {
    Machine m;
    m.device.memory_bandwidth = m.device.cache_bandwidth = 1;  // not to be used
    m.device.float32_rate = m.device.float64_rate = 1e9;
    m.device.stream = {{{1, 1000}}};
    m.device.gather = {{{1, 100}}};
    m.device.shared_stream = {{{1, 500}}};
    m.device.shared_gather = {{{1, 50}}};
    m.device.line_bytes = 64;
    m.device.gemm_tile = 16;
    return m;
}

}  // namespace

TEST_CASE("rates by size stand for memory and cache") {
    const Machine m = measured_by_size();
    const Costs alone(m, DType::f32, SpmmModel::roofline, 1), beside(m, DType::f32, SpmmModel::roofline, 2);
    CHECK(alone.streamed({{500, 500}}).alone_s == Approx(0.5));
    CHECK(beside.streamed({{500, 500}}).alone_s == Approx(1));
    // 10 rows of 20 bytes are 10 lines; 100 bytes in order.
    CHECK(alone.gathered(10, 20, 1000, {{100, 0}}).alone_s == Approx(6.4 + 0.1));
    // 30 nonzeros of 8 bytes, 6 starts of 8, 5 rows of 20 bytes of the result; each nonzero reads a line.
    const SpmmShape s{.rows = 5, .cols = 8, .nonzeros = 30, .width = 5};
    CHECK(alone.spmm(s).alone_s == Approx(30 * 64 / 100. + (240 + 48 + 100) / 1000.));
    CHECK(beside.spmm(s).alone_s == Approx(2 * alone.spmm(s).alone_s));
    SpmmShape adds = s;
    adds.adds = true;
    CHECK(alone.spmm(adds).alone_s - alone.spmm(s).alone_s == Approx(0.1));
}

TEST_CASE("products with long rows gather from one tile at a time") {
    Machine m = measured_by_size();
    m.device.tile_columns = 4;
    m.device.gather = {{{1, 1000}, {1e6, 10}}};
    const Costs costs(m, DType::f32, SpmmModel::roofline, 1);
    const auto gather_s = [&](std::int64_t cols, std::int64_t nonzeros) {
        const double in_order = 8 * static_cast<double>(nonzeros) + 8 * 2 + 80 * 4;
        const SpmmShape s{.rows = 1, .cols = cols, .nonzeros = nonzeros, .width = 80};
        return costs.spmm(s).alone_s - in_order / 1000;
    };
    // Rows of 80 floats are 5 lines; 20 columns are 3 times what fits, 8, and need 48 nonzeros a row; 4 rows of a panel of
    // 64 floats lie in 1,024 bytes. Columns that fit have no tiles.
    const double of_tile = 320 / m.device.gather.rate(1024);
    CHECK(gather_s(20, 48) == Approx(48 * of_tile));
    CHECK(gather_s(20, 47) == Approx(47 * 320 / m.device.gather.rate(20 * 320)));
    CHECK(gather_s(9, 48) == Approx(48 * of_tile));
    CHECK(gather_s(8, 48) == Approx(48 * 320 / m.device.gather.rate(8 * 320)));
}

TEST_CASE("losses take a row's time, or their exponentials', where that is longer than their bytes") {
    Machine m = measured_by_size();
    const simulation::Curve row{{{16, 0.1}, {17, 0.2}}};
    const auto seconds = [&](const simulation::Curve& of, double rows, double columns) {
        return Costs(m, DType::f32, SpmmModel::roofline, 1).losses(of, rows, columns, {{500, 500}}).alone_s;
    };
    CHECK(seconds({}, 10, 16) == Approx(0.5));
    CHECK(seconds(row, 10, 16) == Approx(1));
    CHECK(seconds(row, 10, 17) == Approx(2));
    CHECK(seconds(row, 10, 34) == Approx(4));
    CHECK(seconds(row, 1, 16) == Approx(0.5));
    m.device.exp_rate = 100;
    CHECK(seconds({}, 10, 16) == Approx(1.6));
    CHECK(seconds({}, 1, 16) == Approx(0.5));
    CHECK(seconds(row, 10, 16) == Approx(1));
}

TEST_CASE("what attention computes is charged beside the product as wide") {
    const Machine by_size = measured_by_size();
    Machine plain;
    plain.device.memory_bandwidth = plain.device.cache_bandwidth = 1000;
    plain.device.float32_rate = 1e9;
    for (const Machine& machine : {by_size, plain}) {
        const Costs costs(machine, DType::f32, SpmmModel::roofline, 1);
        const SpmmShape product{.rows = 100, .cols = 100, .nonzeros = 1000, .width = 16};
        SpmmShape attends = product;
        attends.computes_s = 3;
        CHECK(costs.spmm(attends).alone_s == Approx(costs.spmm(product).alone_s + 3));
        CHECK(costs.spmm(attends).memory_share < costs.spmm(product).memory_share);
    }
}

TEST_CASE("columns of dense products are computed in whole tiles") {
    Machine m = measured_by_size();
    m.device.stream = {{{1, 1e18}}};
    const Costs costs(m, DType::f32, SpmmModel::roofline, 1);
    CHECK(costs.gemm({1000, 20, 50}).alone_s == Approx(2. * 1000 * 32 * 50 / 1e9));
    CHECK(costs.gemm({1000, 32, 50}).alone_s == Approx(2. * 1000 * 32 * 50 / 1e9));
    m.device.gemm_part_tile = 2.5;
    CHECK(Costs(m, DType::f32, SpmmModel::roofline, 1).gemm({1000, 20, 50}).alone_s ==
          Approx(2. * 1000 * 3.5 * 16 * 50 / 1e9));
    CHECK(Costs(m, DType::f32, SpmmModel::roofline, 1).gemm({50, 20, 1000}).alone_s ==
          Approx(2. * 1000 * 32 * 50 / 1e9));
}

TEST_CASE("a dense product waits for operands that caches have lost") {
    Machine m = measured_by_size();
    m.device.stream = {{{100, 1e6}, {10000, 1000}}};
    const Costs costs(m, DType::f32, SpmmModel::roofline, 1);
    const double compute_s = 2. * 10 * 16 * 10 / 1e9;
    CHECK(costs.gemm({.m = 10, .n = 16, .k = 10, .in_order = {{500, 100}, {300, 1e12}}}).alone_s ==
          Approx(compute_s + 500 / 1e6 + 300 / 1000.));
}

TEST_CASE("rows of two lengths were measured, others lie between and beyond") {
    Machine m = measured_by_size();
    m.device.stream = {{{1, 1e18}}};
    m.device.gather = {{{1, 128}}};       // a row of 128 bytes takes a second
    m.device.wide_gather = {{{1, 256}}};  // one of 512 bytes two
    const Costs costs(m, DType::f32, SpmmModel::roofline, 1);
    const auto row_s = [&](double bytes) { return costs.gathered(1, bytes, 1000, {}).alone_s; };
    CHECK(row_s(128) == Approx(1));
    CHECK(row_s(320) == Approx(1.5));
    CHECK(row_s(512) == Approx(2));
    CHECK(row_s(896) == Approx(3));
    CHECK(row_s(64) == Approx(1 - 64 / 384.));
}

TEST_CASE("rows of frequent columns are read nearer to each other") {
    const std::vector<std::int32_t> equal(1000, 7);
    const simulation::ColumnReads of_equal = simulation::column_reads(equal);
    REQUIRE(of_equal.groups.size() == 1);
    CHECK(of_equal.groups[0].reads == Approx(7000));
    CHECK(of_equal.groups[0].rows == Approx(1000));
    // 10 columns with 700 nonzeros each, 1,000 with 7: between two reads of a frequent one lie 1 in 100 of the rare.
    std::vector<std::int32_t> skewed(equal);
    skewed.insert(skewed.end(), 10, 700);
    const simulation::ColumnReads reads = simulation::column_reads(skewed);
    REQUIRE(reads.groups.size() == 2);
    const double once = 1 - std::exp(-1.0);
    CHECK(reads.groups[0].reads == Approx(7000));
    CHECK(reads.groups[0].rows == Approx(1000 + 10 / once));
    CHECK(reads.groups[1].reads == Approx(7000));
    CHECK(reads.groups[1].rows == Approx(10 + 1000 * (1 - std::exp(-0.01)) / once));
    CHECK(simulation::column_reads(std::vector<std::int32_t>(5)).groups.empty());

    Machine m = measured_by_size();
    m.device.stream = {{{1, 1e18}}};
    m.device.gather = {{{100, 1000}, {1e6, 1}}};
    const Costs costs(m, DType::f32, SpmmModel::roofline, 1);
    // A block with half of the columns and a tenth of the nonzeros; but no more rows than it uses lie between two reads.
    const simulation::ColumnReads graph{.columns = 16, .nonzeros = 300, .groups = {{200, 2}, {100, 1e9}}};
    const SpmmShape s{.rows = 5, .cols = 8, .nonzeros = 30, .width = 16, .columns = &graph};
    CHECK(costs.spmm(s).alone_s == Approx(20 * 64 / 1000. + 10 * 64 / m.device.gather.rate(8 * 64)));
}

TEST_CASE("a sparse product waits for an operand that caches have lost") {
    Machine m = measured_by_size();
    m.device.stream = {{{100, 1e6}, {10000, 1000}}};
    m.device.gather = {{{1, 1e18}}};
    const Costs costs(m, DType::f32, SpmmModel::roofline, 1);
    const SpmmShape s{
        .rows = 5, .cols = 4, .nonzeros = 30, .width = 16, .in_order = {{1000, 100}}, .operand = {{256, 1e12}}};
    CHECK(costs.spmm(s).alone_s == Approx(1000 / 1e6 + 256 * (1 / 1000. - 1 / m.device.stream.rate(4 * 64))));
}

TEST_CASE("without rates by size the device's peaks and shares hold") {
    Machine m = measured_by_size();
    m.device.stream = m.device.gather = m.device.shared_stream = m.device.shared_gather = {};
    m.device.memory_bandwidth = 2000;
    m.device.stream_efficiency = 0.5;
    m.device.gather_efficiency = 0.25;
    const Costs costs(m, DType::f32, SpmmModel::roofline, 2);
    CHECK(costs.streamed({{500, 500}}).alone_s == Approx(0.5));
    m.device.line_bytes = 0;
    CHECK(costs.gathered(10, 20, 1000, {{100, 0}}).alone_s == Approx(200 / 500. + 0.1));
}
