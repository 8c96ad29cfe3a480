#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/trace.hpp>

using namespace gnnbench;

namespace {

double phase(const EpochTimes& t, Phase p) { return t.phase_s[static_cast<std::size_t>(p)]; }

Span span(Phase p, double begin_s, double end_s) { return {.phase = p, .begin_s = begin_s, .end_s = end_s}; }

}  // namespace

TEST_CASE("an epoch that ends with an operation under way is a defect") {
    Trace t;
    t.begin_epoch();
    t.open({.phase = Phase::comm});
    CHECK_THROWS_AS(t.end_epoch(), LogicError);
}

TEST_CASE("outside an epoch nothing is recorded") {
    Trace t;
    t.close(t.open({.phase = Phase::gemm}));
    CHECK(t.spans().empty());
}

TEST_CASE("communication that compute covers is hidden, the rest exposed") {
    Trace t;
    t.begin_epoch();
    t.add(span(Phase::comm, 0, 4));   // exposed 0–1 and 3–4
    t.add(span(Phase::spmm, 1, 3));
    t.add(span(Phase::comm, 3, 5));   // overlaps the first: 3–5 counts once
    t.add(span(Phase::gemm, 5, 6));
    t.end_epoch();
    const EpochTimes times = t.times();
    CHECK(times.total_comm_s == Approx(5));
    CHECK(times.exposed_comm_s == Approx(3));
    CHECK(phase(times, Phase::comm) == Approx(3));
    CHECK(phase(times, Phase::spmm) == Approx(2));
    CHECK(phase(times, Phase::gemm) == Approx(1));
}

TEST_CASE("phases add up to the wall time") {
    Trace t;
    t.begin_epoch();
    for (const Phase p : {Phase::gemm, Phase::spmm, Phase::comm, Phase::optimizer}) {
        const auto id = t.open({.phase = p});
        while (t.now_s() < 1e-4) {}
        t.close(id);
    }
    t.end_epoch();
    const EpochTimes times = t.times();
    double sum = 0;
    for (const double s : times.phase_s) sum += s;
    INFO("phases " << sum << " s, wall " << times.wall_s << " s");
    CHECK(sum == Approx(times.wall_s).epsilon(1e-9));
}
