#include <cmath>

#include <catch2/catch.hpp>

#include "worker/verification.hpp"

using namespace gnnbench;

namespace {

/// One epoch of one layer: loss 2, W0 = (3, 4) of norm 5, no bias.
ReferenceResult reference() {
    ReferenceResult r;
    r.loss = {2};
    r.gradient.emplace_back();
    r.gradient[0].matrices.push_back({"W0", 0, ParameterRole::weight, HostMatrix(1, 2)});
    r.gradient[0]["W0"].values = {3, 4};
    return r;
}

/// The reference's numbers, the loss times (1 + loss_off), the gradient times (1 + gradient_off).
Agreement off_by(double loss_off, double gradient_off, DType dtype = DType::f32) {
    const ReferenceResult r = reference();
    ModelWeights g = r.gradient[0];
    for (double& x : g["W0"].values) x *= 1 + gradient_off;
    Agreement a = agreement_for(dtype);
    a.compare(0, 2 * (1 + loss_off), g, r);
    return a;
}

}  // namespace

TEST_CASE("agreement: a wrong loss, or a gradient far off, is wrong without a second look") {
    for (const Agreement& a :
         {off_by(1e-3, 0), off_by(1e-3, 1e-3), off_by(0, 0.5), off_by(NAN, 0), off_by(0, NAN)}) {
        CHECK_FALSE(a.holds());
        CHECK_FALSE(a.needs_float64());
    }
}

TEST_CASE("agreement: a gradient off by little asks for float64") {
    for (const Agreement& a : {off_by(0, 2e-4), off_by(1e-5, 9e-3)}) {
        CHECK_FALSE(a.holds());
        CHECK(a.needs_float64());
    }
    CHECK(off_by(0, 2e-4).worst == "epoch 0, W0");
    CHECK(off_by(0, 2e-4).gradient_error == Approx(2e-4));
}

TEST_CASE("agreement: within the tolerance nothing is asked") {
    for (const Agreement& a : {off_by(0, 0), off_by(5e-5, 5e-5), off_by(5e-11, 5e-11, DType::f64)}) {
        CHECK(a.holds());
        CHECK_FALSE(a.needs_float64());
    }
    CHECK_FALSE(off_by(0, 1e-8, DType::f64).holds());
}
