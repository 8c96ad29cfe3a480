// Products judged on several threads: the same elements, the same verdict, the same first wrong element.
#include <cmath>

#include <catch2/catch.hpp>

#include <gnnbench/random.hpp>

#include "check/judge_products.hpp"

using namespace gnnbench;

namespace {

HostMatrix drawn(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
    RandomStream draw(seed, Draw::sample);
    HostMatrix m(rows, cols);
    for (double& x : m.values) x = draw.uniform() - 0.5;
    return m;
}

HostMatrix product(Transpose ta, const HostMatrix& a, const HostMatrix& b) {
    HostMatrix c(ta == Transpose::yes ? a.cols : a.rows, b.cols);
    for (std::int64_t r = 0; r < c.rows; ++r)
        for (std::int64_t k = 0; k < b.rows; ++k)
            for (std::int64_t j = 0; j < c.cols; ++j)
                c(r, j) += (ta == Transpose::yes ? a(k, r) : a(r, k)) * b(k, j);
    return c;
}

/// What the ledger says of a product.
Ledger judged(Transpose ta, const HostMatrix& a, const HostMatrix& b, const HostMatrix& found, int threads) {
    Ledger ledger(0);
    {
        const ProductEnds ends;
        Judgement j(ledger, "gemm", "of a test");
        judge_gemm(j, {found, ends, rounding_of(DType::f64), threads}, ta, a, Transpose::no, b);
    }
    return ledger;
}

}  // namespace

TEST_CASE("products are judged alike on any number of threads") {
    for (const Transpose ta : {Transpose::no, Transpose::yes}) {
        const HostMatrix a = ta == Transpose::no ? drawn(301, 90, 1) : drawn(90, 301, 1), b = drawn(90, 70, 2);
        HostMatrix found = product(ta, a, b);
        for (const int threads : {1, 2, 5}) {
            Ledger ledger = judged(ta, a, b, found, threads);
            INFO(threads << " threads, transposed " << (ta == Transpose::yes));
            CHECK(ledger.faults().empty());
            CHECK(ledger.count("gemm").elements == 301 * 70);
        }
        found(17, 3) += 1e-6;
        found(200, 69) += 1e-3;
        std::string first, worst;
        for (const int threads : {1, 2, 5}) {
            Ledger ledger = judged(ta, a, b, found, threads);
            REQUIRE(ledger.faults().size() == 1);
            if (first.empty()) {
                first = ledger.faults()[0].text;
                worst = ledger.count("gemm").worst;
            }
            CHECK(first.find("2 of 21070 elements are wrong, the first (17, 3)") != std::string::npos);
            CHECK(worst.find("element (200, 69)") != std::string::npos);
            CHECK(ledger.faults()[0].text == first);
            CHECK(ledger.count("gemm").worst == worst);
        }
    }
}

TEST_CASE("what underflows in an activation may be missing as often as dropout scales it") {
    const std::int64_t id = 0;
    HostEpilogue e{.bias = {}, .activation = Activation::sigmoid, .dropout = {}, .row_ids = {id}};
    e.dropout.rate = 0.5;
    while (e.dropped(0, 0)) ++e.dropout.seed;
    const double x = -87.4, y = 2 / (1 + std::exp(-x));  // σ(x) is below the smallest normal number, 2σ(x) is not
    const auto faults = [&](double found) {
        Ledger ledger(0);
        {
            Judgement j(ledger, "gemm", "of a test");
            judge_finished(j, {0, 0, found}, x, 1e-5, e, rounding_of(DType::f32));
        }
        return ledger.fault_count();
    };
    CHECK(faults(y) == 0);
    CHECK(faults(0) == 0);
    CHECK(faults(3 * y) == 1);
}
