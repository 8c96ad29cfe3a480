// What kernels cost on a machine whose rates were measured by size.
#include <catch2/catch.hpp>

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
    CHECK(alone.streamed(500).alone_s == Approx(0.5));
    CHECK(beside.streamed(500).alone_s == Approx(1));
    // 10 rows of 20 bytes are 10 lines; 100 bytes in order.
    CHECK(alone.gathered(10, 20, 1000, 100).alone_s == Approx(6.4 + 0.1));
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
    const auto gather_s = [&](std::int64_t nonzeros) {
        const double in_order = 8 * static_cast<double>(nonzeros) + 8 * 2 + 80 * 4;
        const SpmmShape s{.rows = 1, .cols = 12, .nonzeros = nonzeros, .width = 80};
        return costs.spmm(s).alone_s - in_order / 1000;
    };
    // Rows of 80 floats are 5 lines; 3 tiles need 48 nonzeros a row; 4 rows of a panel of 64 floats lie in 1,024 bytes.
    CHECK(gather_s(48) == Approx(48 * 320 / m.device.gather.rate(1024)));
    CHECK(gather_s(47) == Approx(47 * 320 / m.device.gather.rate(12 * 320)));
}

TEST_CASE("exponentials take their time where they take longer than their bytes") {
    Machine m = measured_by_size();
    CHECK(Costs(m, DType::f32, SpmmModel::roofline, 1).exponentials(10, 500).alone_s == Approx(0.5));
    m.device.exp_rate = 10;
    CHECK(Costs(m, DType::f32, SpmmModel::roofline, 1).exponentials(10, 500).alone_s == Approx(1));
    CHECK(Costs(m, DType::f32, SpmmModel::roofline, 1).exponentials(1, 500).alone_s == Approx(0.5));
}

TEST_CASE("columns of dense products are computed in whole tiles") {
    Machine m = measured_by_size();
    m.device.stream = {{{1, 1e18}}};
    const Costs costs(m, DType::f32, SpmmModel::roofline, 1);
    CHECK(costs.gemm({1000, 20, 50}).alone_s == Approx(2. * 1000 * 32 * 50 / 1e9));
    CHECK(costs.gemm({1000, 32, 50}).alone_s == Approx(2. * 1000 * 32 * 50 / 1e9));
}

TEST_CASE("without rates by size the device's peaks and shares hold") {
    Machine m = measured_by_size();
    m.device.stream = m.device.gather = m.device.shared_stream = m.device.shared_gather = {};
    m.device.memory_bandwidth = 2000;
    m.device.stream_efficiency = 0.5;
    m.device.gather_efficiency = 0.25;
    const Costs costs(m, DType::f32, SpmmModel::roofline, 2);
    CHECK(costs.streamed(500).alone_s == Approx(0.5));
    m.device.line_bytes = 0;
    CHECK(costs.gathered(10, 20, 1000, 100).alone_s == Approx(200 / 500. + 0.1));
}
