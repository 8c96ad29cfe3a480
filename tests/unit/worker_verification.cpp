#include <cmath>

#include <catch2/catch.hpp>

#include "spec/fields.hpp"
#include "worker/verify/step_size.hpp"
#include "worker/verify/verification.hpp"

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

TEST_CASE("agreement: NaN and infinity where the reference has numbers are never rounding") {
    for (const Agreement& a : {off_by(NAN, 0), off_by(0, NAN), off_by(INFINITY, 0), off_by(0, INFINITY)}) {
        CHECK_FALSE(a.holds());
        CHECK_FALSE(a.may_be_rounding());
    }
}

TEST_CASE("agreement: any other difference beyond the tolerance asks what rounding may do") {
    for (const Agreement& a : {off_by(0, 2e-4), off_by(1e-5, 9e-3), off_by(1e-3, 0), off_by(0, 0.5)}) {
        CHECK_FALSE(a.holds());
        CHECK(a.may_be_rounding());
    }
    CHECK(off_by(0, 2e-4).worst == "epoch 0, W0");
    CHECK(off_by(0, 2e-4).gradient_error == Approx(2e-4));
}

TEST_CASE("agreement: within the tolerance nothing is asked") {
    for (const Agreement& a : {off_by(0, 0), off_by(5e-5, 5e-5), off_by(5e-11, 5e-11, DType::f64)}) {
        CHECK(a.holds());
        CHECK_FALSE(a.may_be_rounding());
    }
    CHECK_FALSE(off_by(0, 1e-8, DType::f64).holds());
}

namespace {

/// Another value than this one.
FieldValue another(const Field& field, const FieldValue& value) {
    if (const auto* word = std::get_if<std::string>(&value); word && !field.words.empty())
        return std::string(*word == field.words[0] ? field.words[1] : field.words[0]);
    return std::visit(
        []<class T>(const T& old) -> FieldValue {
            if constexpr (std::is_same_v<T, bool>)
                return !old;
            else if constexpr (std::is_arithmetic_v<T>)
                return static_cast<T>(old + 1);
            else if constexpr (std::is_same_v<T, std::vector<std::int64_t>> ||
                               std::is_same_v<T, std::vector<double>>)
                return T{7, 7};
            else
                return old;
        },
        value);
}

}  // namespace

TEST_CASE("a reference is kept under every declared field of its model and training") {
    const DatasetView data;
    const auto key = [&](const Cell& cell) { return reference_key("d", {data, cell.model, cell.train}); };
    const Draft plain;
    int changed = 0;
    for (const Field& field : fields()) {
        const std::string_view path = field.path;
        // These are the host's: when a trial evaluates, and where its first weights come from, which it is given.
        if (path == "train.evaluate_every" || path == "train.patience" || path == "train.initial_weights")
            continue;
        if (path != "seed" && !path.starts_with("model.") && !path.starts_with("train.")) continue;
        Draft other;
        field.assign(other, another(field, copied(field.access.of_cell(plain.cell))));
        INFO(path);
        CHECK(key(other.cell) != key(plain.cell));
        ++changed;
    }
    CHECK(changed >= 16);
}

TEST_CASE("a training is tame where its losses stay finite, below twice the first and even") {
    using Losses = std::vector<double>;
    for (const Losses& tame :
         {Losses{}, Losses{51}, Losses{2, 1.9, 1.8}, Losses{1, 2, 0.5}, Losses{4, 1, 4}, Losses{0, 0}})
        CHECK(is_tame(tame));
    for (const Losses& wild : {Losses{NAN}, Losses{1, INFINITY}, Losses{1, 2.1}, Losses{4, 0.9}, Losses{4, 1, 4.1},
                               Losses{51, 7e5}, Losses{0, 1e-9}})
        CHECK_FALSE(is_tame(wild));
}
