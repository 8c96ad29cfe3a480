#include <cmath>
#include <limits>
#include <memory>

#include <catch2/catch.hpp>

#include "check/bounds.hpp"
#include "check/in_flight.hpp"
#include "check/ledger.hpp"

using namespace gnnbench;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// Faults that one element, judged alone, leaves in the ledger.
std::int64_t faults_of(auto&& judge) {
    Ledger ledger(0);
    {
        Judgement j(ledger, "spmm", "[1x1]");
        judge(j);
    }
    return ledger.fault_count();
}

}  // namespace

TEST_CASE("a bound is kept up to itself, and by numbers alone") {
    CHECK(faults_of([](Judgement& j) { j.near(0, 0, 1.5, 1, 0.5); }) == 0);
    CHECK(faults_of([](Judgement& j) { j.near(0, 0, 1.51, 1, 0.5); }) == 1);
    CHECK(faults_of([](Judgement& j) { j.near(0, 0, 1, 1, 0); }) == 0);
    CHECK(faults_of([](Judgement& j) { j.near(0, 0, std::nextafter(1.0, 2.0), 1, 0); }) == 1);
    CHECK(faults_of([](Judgement& j) { j.near(0, 0, NAN, 1, 0.5); }) == 1);
    CHECK(faults_of([](Judgement& j) { j.near(0, 0, inf, 1, 0.5); }) == 1);
    CHECK(faults_of([](Judgement& j) { j.near(0, 0, 7, NAN, 0.5); }) == 1);
    CHECK(faults_of([](Judgement& j) { j.near(0, 0, NAN, NAN, 0.5); }) == 0);
}

TEST_CASE("an interval holds its ends") {
    for (const double x : {-2.0, 0.0, 3.0}) CHECK(faults_of([&](Judgement& j) { j.within(0, 0, x, -2, 3); }) == 0);
    for (const double x : {-2.01, 3.01, double{NAN}})
        CHECK(faults_of([&](Judgement& j) { j.within(0, 0, x, -2, 3); }) == 1);
    // The middle of −1 and −0.999999 rounds; −1 is an end of the range all the same.
    for (const double low : {-1.0, -0.7, -1e-3})
        for (const double width : {4.78e-7, 1e-9, 0.3}) {
            CHECK(faults_of([&](Judgement& j) { j.within(0, 0, low, low, low + width); }) == 0);
            CHECK(faults_of([&](Judgement& j) { j.within(0, 0, low - width / 8, low, low + width); }) == 1);
        }
}

TEST_CASE("a ledger counts calls and elements, keeps the worst and the first faults") {
    Ledger ledger(2);
    ledger.enter_epoch(1);
    for (int call = 0; call < 10; ++call) {
        Judgement j(ledger, "gemm", "[2x2]");
        j.near(0, 0, 1, 1, 1);
        j.near(1, 0, 3, 1, 1);
        j.near(1, 1, 1 + 0.5 * call, 1, 1);
    }
    const CheckCount& c = ledger.counts().at("gemm");
    CHECK(c.calls == 10);
    CHECK(c.elements == 30);
    CHECK(c.worst_ratio == 4.5);
    CHECK(c.worst == "rank 2, epoch 1, [2x2], element (1, 1)");
    CHECK(ledger.fault_count() == 10);
    REQUIRE(ledger.faults().size() == 4);
    CHECK(ledger.faults()[0].check == "gemm");
    CHECK(ledger.faults()[0].text ==
          "rank 2, epoch 1: gemm [2x2]: 1 of 3 elements are wrong, the first (1, 0): 3 found, 1 expected, 1 "
          "allowed");
}

TEST_CASE("γ_k: ku / (1 − ku), never more than everything") {
    const Rounding f32 = rounding_of(DType::f32);
    CHECK(f32.gamma(0) == 0);
    CHECK(f32.gamma(1) == Approx(0x1p-24));
    CHECK(f32.gamma(1 << 20) == Approx(0x1p-4 / (1 - 0x1p-4)));
    CHECK(f32.gamma(1 << 24) == 1);
}

TEST_CASE("memory under way: what is received is not touched, what is sent is not written") {
    const auto ledger = std::make_shared<Ledger>(0);
    InFlight in_flight(ledger);
    float memory[64] = {};
    const auto received = in_flight.begin("broadcast", memory, 16 * sizeof(float), true);
    const auto sent = in_flight.begin("exchange", memory + 16, 16 * sizeof(float), false);
    const auto faults_after = [&](auto&& touch) {
        const auto before = ledger->fault_count();
        touch();
        return ledger->fault_count() - before;
    };
    const ConstMatrixView first{memory, 2, 4, 4, DType::f32}, second{memory + 16, 2, 4, 4, DType::f32},
        beyond{memory + 32, 2, 4, 4, DType::f32};
    CHECK(faults_after([&] { in_flight.check_access("gemm", first, false); }) == 1);
    CHECK(faults_after([&] { in_flight.check_access("gemm", second, false); }) == 0);
    CHECK(faults_after([&] { in_flight.check_access("gemm", second, true); }) == 1);
    CHECK(faults_after([&] { in_flight.check_access("gemm", beyond, true); }) == 0);
    // Columns 16 and later of rows that are 32 wide: around what is received, never in it.
    CHECK(faults_after([&] {
              in_flight.check_access("gemm", ConstMatrixView{memory + 16, 2, 8, 32, DType::f32}, false);
          }) == 0);
    in_flight.end(received);
    in_flight.end(sent);
    CHECK(faults_after([&] { in_flight.check_access("gemm", first, true); }) == 0);
}
