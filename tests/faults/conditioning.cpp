// What decides where a float32 run is further off than 1e-4: the decorators that take another run's sides of ReLU and
// that round at random, and the judgement on them.
#include <cmath>

#include <catch2/catch.hpp>

#include "check/checked_backend.hpp"
#include "check/kinks.hpp"
#include "check/perturbed_backend.hpp"
#include "faults/training_case.hpp"
#include "mpi/mpi.hpp"
#include "worker/verify/conditioning.hpp"

using namespace gnnbench;
using namespace gnnbench::faults;

namespace {

std::unique_ptr<Backend> reference_kernel(DType dtype) {
    return contract::catalog().kernel("reference")->create({.dtype = dtype});
}

Matrix uploaded(Backend& k, std::int64_t rows, std::int64_t cols, const std::vector<double>& values) {
    Matrix m = k.matrix(rows, cols);
    k.upload(std::span<const double>(values), m);
    return m;
}

Epilogue with(Activation a) {
    Epilogue e;
    e.activation = a;
    return e;
}

const Epilogue relu = with(Activation::relu);

/// The sides that values have, recorded.
KinkHistory recorded(std::int64_t rows, std::int64_t cols, const std::vector<double>& values) {
    KinkHistory history;
    KinkRecorder recorder(reference_kernel(DType::f32), history);
    const Matrix z = uploaded(recorder, rows, cols, values);
    recorder.apply(relu, z);
    return history;
}

/// A verification's case on all ranks, for the judgement alone.
Conditioning judged(TrainingCase c, Injected injected) {
    const ProcessGroup world = mpi_world();
    const auto& catalog = contract::catalog();
    const OwnedDataset owned = contract::dress(c.graph, c.model);
    const DatasetView data = owned.view();
    const ModelSpec model = c.model.complete_model();
    const TrainSpec given = verification_training(c.model.complete_train());
    const ReferenceResult reference =
        tame_reference(catalog, {.data = data, .model = model, .train = given, .epochs = c.epochs});
    TrainSpec train = given;
    train.learning_rate = reference.learning_rate;
    const Trained t{.data = data,
                    .model = model,
                    .train = train,
                    .scheme = c.scheme,
                    .scheme_params = c.scheme_params,
                    .kernel_params = c.kernel_params};
    BackendsOf backends(t, injected);
    const auto strategy = catalog.strategy(c.scheme);
    const IndexMap index(divided(t, data, world));
    const Problem problem{data, index, model, train, c.scheme_params, nullptr, world.size()};
    const VerificationCase verified{.strategy = *strategy,
                                    .problem = problem,
                                    .group = world,
                                    .backend = [&] { return backends.faulty(); },
                                    .float64_backend = [&] { return backends.plain(DType::f64); },
                                    .epochs = c.epochs};
    const auto ledger = std::make_shared<Ledger>(world.rank());
    TrainingRun training(verified, verified.backend(), ledger);
    Epochs plain;
    for (std::int64_t e = 0; e < c.epochs; ++e) {
        plain.loss.push_back(training.epoch(e));
        plain.waits.push_back(training.waits());
        plain.gradient.push_back(training.gradients());
    }
    return judge_conditioning(verified, plain, reference, ledger);
}

TrainingCase small_case(LayerKind kind) {
    const auto& catalog = contract::catalog();
    TrainingCase c{.graph = graphs::directed_random(60, 400, true),
                   .model = {.name = "small", .widths = {7, 6, 5, 3}},
                   .scheme_params = Params(catalog.find(PluginKind::strategy, "cagnet-1d").params),
                   .kernel_params = Params(catalog.find(PluginKind::kernel, "cpu").params)};
    c.model.model.kind = kind;
    if (kind == LayerKind::gin) {
        c.model.model.normalisation = Normalisation::none;
        c.model.model.self_loops = false;
    }
    return c;
}

}  // namespace

TEST_CASE("sides of ReLU that another run took are taken, and noted where the own sum has the other") {
    KinkHistory history = recorded(1, 4, {1, -1, 1e-9, -1e-9});
    REQUIRE(history.applications.size() == 1);
    CHECK(history.applications[0].positive == std::vector<bool>{true, false, true, false});

    KinkReplay replay(reference_kernel(DType::f64), history, KinkReplay::Notes::turns);
    const Matrix z = uploaded(replay, 1, 4, {1, -1, -2e-9, 3e-9});
    replay.apply(relu, z);
    const HostMatrix h = replay.download(z);
    CHECK(h(0, 0) == 1);
    CHECK(h(0, 1) == 0);
    CHECK(h(0, 2) > 0);
    CHECK(h(0, 2) < 1e-300);
    CHECK(h(0, 3) == 0);
    REQUIRE(history.turns.size() == 2);
    CHECK(history.turns[0].col == 2);
    CHECK(history.turns[0].sum() == -2e-9);
    CHECK(history.turns[1].sum() == 3e-9);

    KinkReplay moved(reference_kernel(DType::f64), history, KinkReplay::Notes::reach);
    const Matrix y = uploaded(moved, 1, 4, {1, -1, -2e-9 + 4e-8, 3e-9});
    moved.apply(relu, y);
    CHECK(history.turns[0].reach == Approx(4e-8));
    CHECK(history.turns[1].reach == Approx(2e-8));  // of its row, √(mean of squares)
    CHECK(history.fits);
    CHECK(history.turns.size() == 2);
}

TEST_CASE("leaky ReLU's sides are taken too, and the derivative follows them") {
    KinkHistory history;
    const Epilogue leaky = with(Activation::leaky_relu);
    {
        KinkRecorder recorder(reference_kernel(DType::f32), history);
        const Matrix z = uploaded(recorder, 1, 2, {1e-9, -1e-9});
        recorder.apply(leaky, z);
    }
    KinkReplay replay(reference_kernel(DType::f64), history, KinkReplay::Notes::turns);
    const Matrix z = uploaded(replay, 1, 2, {-1e-9, 1e-9}), g = uploaded(replay, 1, 2, {1, 1});
    replay.apply(leaky, z);
    replay.apply_backward(leaky, z, g, g);
    const HostMatrix slope = replay.download(g);
    CHECK(slope(0, 0) == 1);
    CHECK(slope(0, 1) == leaky_slope);
}

TEST_CASE("a run with other applications than the recorded ones does not fit them") {
    KinkHistory history = recorded(1, 2, {1, -1});
    KinkReplay replay(reference_kernel(DType::f64), history, KinkReplay::Notes::turns);
    const Matrix z = uploaded(replay, 2, 1, {1, -1});
    replay.apply(relu, z);
    CHECK_FALSE(history.fits);
}

TEST_CASE("a perturbed product moves by the root of the sum of the squares of its roundings") {
    // 1·2 + 3·4 = 14: partial sums 2 and 14, products 2 and 12, the addition of nothing to the complete sum.
    PerturbedBackend k(reference_kernel(DType::f64), 1, 0, 1);
    const Matrix a = uploaded(k, 1, 2, {1, 3}), b = uploaded(k, 2, 1, {2, 4}), c = k.matrix(1, 1);
    const double expected = 0x1p-24 * std::sqrt(2.0 * 2 + 14 * 14 + 2 * 2 + 12 * 12 + 14 * 14);
    bool up = false, down = false;
    for (int turn = 0; turn < 32; ++turn) {
        k.gemm(Transpose::no, a, Transpose::no, b, c);
        const double moved = k.download(c)(0, 0) - 14;
        CHECK(std::abs(moved) == Approx(expected));
        up = up || moved > 0;
        down = down || moved < 0;
    }
    CHECK(up);
    CHECK(down);
}

TEST_CASE("perturbed copies of a parameter move alike on all ranks, and exact verbs not at all") {
    PerturbedBackend first(reference_kernel(DType::f64), 1, 0, 1), second(reference_kernel(DType::f64), 1, 1, 1);
    std::vector<double> stepped;
    for (PerturbedBackend* k : {&first, &second}) {
        const Matrix w = uploaded(*k, 1, 3, {1, 2, 3}), g = uploaded(*k, 1, 3, {0, 0, 0}), copy = k->matrix(1, 3);
        k->copy(w, copy);
        CHECK(k->download(copy).values == std::vector<double>{1, 2, 3});
        TrainSpec sgd;
        sgd.optimizer = OptimizerKind::sgd;
        const ParameterSlot slot{.weight = w.view().data, .gradient = g.view().data, .count = 3};
        k->optimizer_step(sgd, 1, {&slot, 1});
        const auto after = k->download(w).values;
        CHECK(after != std::vector<double>{1, 2, 3});
        if (stepped.empty()) stepped = after;
        CHECK(after == stepped);
    }
}

TEST_CASE("rounding explains a healthy run, whatever the layers") {
    for (const LayerKind kind : {LayerKind::gcn, LayerKind::gin}) {
        const Conditioning found = judged(small_case(kind), {});
        INFO(found.fault);
        CHECK(found.fault.empty());
        CHECK_FALSE(found.ill_conditioned);
        CHECK(found.response > 0);
        CHECK(found.response < largest_allowance / response_factor);
    }
}

TEST_CASE("rounding explains neither a wrong derivative, nor a zero of ReLU that is none, nor NaN") {
    for (const LayerKind kind : {LayerKind::gcn, LayerKind::gin})
        for (const auto fault :
             {faults::Fault::wrong_derivative, faults::Fault::masked_element, faults::Fault::not_a_number}) {
            const Conditioning found = judged(small_case(kind), {fault});
            CAPTURE(static_cast<int>(kind), static_cast<int>(fault));
            CHECK_FALSE(found.fault.empty());
        }
}

TEST_CASE("GIN at its defaults, where SGD at 0.05 diverges, is verified with a smaller step") {
    TrainingCase c = small_case(LayerKind::gin);
    c.graph = graphs::directed_random(200, 6000, true);
    c.model.widths = {64, 16, 16, 4};
    c.epochs = 5;
    const VerifiedTraining v = verify(c, {}, mpi_world());
    for (const auto& f : v.faults) UNSCOPED_INFO(f.check << ": " << f.text);
    CHECK(v.faults.empty());
    CHECK(v.ill_conditioned.empty());
    CHECK(v.learning_rate < 0.05);
    CHECK(v.loss_error <= 1e-4);
}

TEST_CASE("a scaled number below the smallest normal one is rounded, not wrong") {
    const auto ledger = std::make_shared<Ledger>(0);
    CheckedBackend checked(reference_kernel(DType::f32), ledger);
    const std::vector<double> few{2e-39, 5.3e-39, 1.1e-44, 1.4e-45, -7e-40};
    const Matrix x = uploaded(checked, 1, 5, few), y = uploaded(checked, 1, 5, few);
    for (const double beta : {1.0 / 3, 0.25, 0.7}) {
        checked.axpby(0, y, beta, y);  // as a mean of gradients is made
        checked.axpby(0.1, x, beta, y);
        checked.axpby(beta, x, 1, y);
    }
    CHECK(ledger->fault_count() == 0);
}
