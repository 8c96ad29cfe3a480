#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/trace.hpp>

using namespace gnnbench;

namespace {

double phase(const EpochTimes& t, Phase p) { return t.phase_s[static_cast<std::size_t>(p)]; }

Span span(Phase p, double begin_s, double end_s) { return {.phase = p, .begin_s = begin_s, .end_s = end_s}; }

/// A device whose clock ticks once per mark. The host waits for it until 5 s, and reads the marks until 9 s.
class TickingClock final : public DeviceClock {
public:
    void begin() override { ticks_.clear(); }
    std::size_t mark_begin(const Span&) override { return tick(); }
    std::size_t mark_end(const Span&, std::size_t) override { return tick(); }
    void wait() override { host_s_ = 5; }
    std::vector<double> resolve() override {
        host_s_ = 9;
        return ticks_;
    }
    std::optional<double> host_s() const override { return host_s_; }

private:
    std::size_t tick() {
        ticks_.push_back(static_cast<double>(ticks_.size()));
        return ticks_.size() - 1;
    }
    std::vector<double> ticks_;
    double host_s_ = 0;
};

/// The host's time is what the test says.
class SetClock final : public DeviceClock {
public:
    double now_s = 0;
    int followed = 0;

    void begin() override {}
    void next() override { ++followed; }
    std::size_t mark_begin(const Span&) override { return 0; }
    std::size_t mark_end(const Span&, std::size_t) override { return 0; }
    void wait() override {}
    std::vector<double> resolve() override { return {}; }
    std::optional<double> host_s() const override { return now_s; }
};

}  // namespace

TEST_CASE("a device's clock times spans where they began and ended, also those that overlap") {
    TickingClock clock;
    Trace t;
    t.use(&clock);
    for (int epoch = 0; epoch < 2; ++epoch) {
        t.begin_epoch();
        const auto outer = t.open({.phase = Phase::comm, .stream = StreamRole::communication});
        const auto inner = t.open({.phase = Phase::spmm});
        t.close(inner);
        t.close(t.open({.phase = Phase::gemm}));
        t.close(outer);
        t.end_epoch();
        REQUIRE(t.spans().size() == 3);
        CHECK(t.spans()[0].begin_s == 0);
        CHECK(t.spans()[0].end_s == 5);
        CHECK(t.spans()[1].begin_s == 1);
        CHECK(t.spans()[1].end_s == 2);
        CHECK(t.spans()[2].end_s == 4);
        CHECK(t.times().exposed_comm_s == Approx(3));
        CHECK(t.times().wall_s == 5);  // what reads the marks counts towards no epoch
    }
}

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
    t.add(span(Phase::comm, 0, 4));  // exposed 0–1 and 3–4
    t.add(span(Phase::spmm, 1, 3));
    t.add(span(Phase::comm, 3, 5));  // overlaps the first: 3–5 counts once
    t.add(span(Phase::gemm, 5, 6));
    t.end_epoch();
    const EpochTimes times = t.times();
    CHECK(times.total_comm_s == Approx(5));
    CHECK(times.exposed_comm_s == Approx(3));
    CHECK(phase(times, Phase::comm) == Approx(3));
    CHECK(phase(times, Phase::spmm) == Approx(2));
    CHECK(phase(times, Phase::gemm) == Approx(1));
}

TEST_CASE("epochs that follow one another each have their part of what crosses their border") {
    SetClock clock;
    Trace t;
    t.use(&clock);
    t.begin_epoch();
    t.add(span(Phase::spmm, 0, 3));
    t.add(span(Phase::comm, 1, 7));
    clock.now_s = 4;
    t.next_epoch();
    t.add(span(Phase::gemm, 4, 5));
    clock.now_s = 10;
    t.end_epoch();
    CHECK(clock.followed == 1);
    const EpochTimes first = t.times(0), second = t.times(1);
    CHECK(first.wall_s == 4);
    CHECK(first.total_comm_s == 3);
    CHECK(first.exposed_comm_s == 1);
    CHECK(phase(first, Phase::spmm) == 3);
    CHECK(phase(first, Phase::gemm) == 0);
    CHECK(second.wall_s == 6);
    CHECK(second.total_comm_s == 3);
    CHECK(second.exposed_comm_s == 2);
    CHECK(phase(second, Phase::spmm) == 0);
    CHECK(phase(second, Phase::gemm) == 1);
    CHECK(phase(second, Phase::other) == 3);
    REQUIRE(t.spans_of(1).size() == 2);
    CHECK(t.spans_of(1)[0].begin_s == 0);
    CHECK(t.spans_of(1)[0].end_s == 3);
    CHECK_THROWS_AS(t.times(2), LogicError);
    t.begin_epoch();  // alone again
    clock.now_s = 1;
    t.end_epoch();
    CHECK(t.times().wall_s == 1);
    CHECK_THROWS_AS(t.next_epoch(), LogicError);
}

TEST_CASE("phases add up to the wall time") {
    Trace t;
    t.begin_epoch();
    for (const Phase p : {Phase::gemm, Phase::spmm, Phase::comm, Phase::optimizer}) {
        const auto id = t.open({.phase = p});
        while (t.now_s() < 1e-4) {
        }
        t.close(id);
    }
    t.end_epoch();
    const EpochTimes times = t.times();
    double sum = 0;
    for (const double s : times.phase_s) sum += s;
    INFO("phases " << sum << " s, wall " << times.wall_s << " s");
    CHECK(sum == Approx(times.wall_s).epsilon(1e-9));
}
