// Every fault of the list is found, by the check that the list names; the same trainings without it are not accused.
#include <algorithm>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "faults/late_case.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace gnnbench::faults;
using namespace std::string_literals;

namespace {

/// Weighted, directed, widths that are no multiple of a vector, weight decay on weights; dropout and size where a fault
/// needs them.
TrainingCase case_for(const Entry& entry, LayerKind layers = LayerKind::gcn) {
    const auto& catalog = contract::catalog();
    TrainingCase t{.graph = graphs::directed_random(60, 400, true),
                   .model = {.name = entry.name, .widths = {7, 5, 3}},
                   .scheme = entry.scheme,
                   .scheme_params = Params(catalog.find(PluginKind::strategy, entry.scheme).params),
                   .kernel_params = Params(catalog.find(PluginKind::kernel, "cpu").params)};
    if (entry.fault == faults::Fault::dropout_of_other_epoch) t.model.train.dropout = 0.4;
    if (entry.fault == faults::Fault::sigmoid_far_out) t.model.model.activation = Activation::sigmoid;
    if (entry.fault == faults::Fault::late_dropout) t.model.train.dropout = 0.4;
    t.model.model.kind = layers;
    if (t.model.model.attends()) {
        t.model.widths = {7, 6, 3};
        t.model.model.normalisation = Normalisation::none;
        t.model.model.heads = {2};
        if (entry.fault == faults::Fault::mask_left_out) t.model.model.attention_dropout = 0.4;
        if (entry.fault == faults::Fault::given_after_residual) t.model.model.residual = true;
    }
    if (entry.fault == faults::Fault::class_mean || entry.fault == faults::Fault::no_false_negatives)
        t.model.labels = contract::Labels::several;
    if (entry.fault == faults::Fault::wrong_at_size || entry.fault == faults::Fault::wrong_in_freed)
        t.full = graphs::directed_random(6000, 30000, true);
    if (entry.fault == faults::Fault::wrong_in_freed) t.model.model.aggregate_input = true;
    // These are of packed messages, which ranks that read each other's memory do without.
    if (entry.fault == faults::Fault::wrong_gather || entry.fault == faults::Fault::wrong_element)
        for (const ParamDecl& p : catalog.find(PluginKind::kernel, "cpu").params)
            if (std::string_view(p.name) == "transport") t.kernel_params.set(p, "mpi");
    return t;
}

/// Those that so many ranks can have.
std::vector<Entry> on(const ProcessGroup& world) {
    std::vector<Entry> entries;
    for (const Entry& entry : all())
        if (entry.ranks == world.size() || (entry.ranks == 0 && world.size() < 4)) entries.push_back(entry);
    return entries;
}

/// Each with each kind of layers that it must be found in.
std::vector<std::pair<Entry, LayerKind>> trained_on(const ProcessGroup& world) {
    std::vector<std::pair<Entry, LayerKind>> trained;
    for (const Entry& entry : on(world))
        for (const LayerKind layers : layers_with(entry)) trained.emplace_back(entry, layers);
    return trained;
}

std::string told(const VerifiedTraining& v) {
    std::string text;
    for (const auto& f : v.faults) text += "\n  " + f.check + ": " + f.text;
    return text;
}

bool finds(const VerifiedTraining& v, std::string_view check) {
    return std::ranges::any_of(v.faults, [&](const gnnbench::Fault& f) { return f.check == check; });
}

/// What is found of a fault where it shows.
VerifiedTraining look_for(const Entry& entry, TrainingCase& t, Injected injected, const ProcessGroup& world) {
    switch (entry.shows) {
        case Shows::in_verification:
            break;
        case Shows::late:
            return train_and_check(t, injected, world).found;
        case Shows::in_partition:
            return ask_twice(t, injected, world);
    }
    return verify(t, injected, world);
}

}  // namespace

TEST_CASE("faults: each is found, by the check that is there for it") {
    const ProcessGroup world = mpi_world();
    for (const auto& [entry, layers] : trained_on(world)) {
        TrainingCase t = case_for(entry, layers);
        const VerifiedTraining v = look_for(entry, t, {entry.fault}, world);
        const std::string name = entry.name + (layers == LayerKind::gatv2 ? ", GATv2"s : ""s);
        INFO(name << " (" << entry.what << ") must be found by " << entry.check << "; found:" << told(v));
        REQUIRE(t.skipped == "");
        CHECK(finds(v, entry.check));
        if (entry.of == Class::scaled) {
            const double times = v.checks.at(entry.check).worst_ratio;
            CHECK(times >= 4);
            CHECK(times <= 16);
        }
        if (world.rank() == 0)
            WARN(fmt::format("{}: {} faults found, by {}", name, v.faults.size(),
                             v.faults.empty() ? "none" : v.faults[0].check));
    }
}

TEST_CASE("faults: what begins late is not there before, and without it no late step is accused") {
    const ProcessGroup world = mpi_world();
    for (const Entry& entry : on(world)) {
        if (entry.shows == Shows::in_verification) continue;
        TrainingCase t = case_for(entry);
        INFO(entry.name);
        CHECK(verify(t, {entry.fault}, world).faults.empty());
        const VerifiedTraining healthy = look_for(entry, t, {}, world);
        INFO(told(healthy));
        CHECK(healthy.faults.empty());
        CHECK(healthy.checks.contains(entry.check));
    }
}

TEST_CASE("faults: where the reference does not fit, a late step is compared with a trainer made anew") {
    const ProcessGroup world = mpi_world();
    for (const Entry& entry : on(world)) {
        if (entry.shows != Shows::late) continue;
        // Masks are functions of the epoch, and the evaluation is not compared at full size.
        if (entry.fault == faults::Fault::late_dropout || entry.fault == faults::Fault::late_evaluation) continue;
        TrainingCase t = case_for(entry);
        const LateStep late = train_and_check(t, {entry.fault}, world, {.reference_fits = false});
        INFO(entry.name << told(late.found));
        CHECK(late.standard == LateStandard::rebuilt);
        CHECK(finds(late.found, entry.check));
        CHECK(train_and_check(t, {}, world, {.reference_fits = false}).found.faults.empty());
    }
}

TEST_CASE("faults: a late step of a training that has converged is not accused") {
    const ProcessGroup world = mpi_world();
    const Entry entry{faults::Fault::none, Class::exact, "converged", "", "cagnet-1d", ""};
    for (const OptimizerKind optimizer : {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw})
        for (const DType dtype : {DType::f32, DType::f64}) {
            TrainingCase t = case_for(entry);
            const LateStep late = train_and_check(
                t, {}, world, {.epochs = 400, .learning_rate = 0.1, .optimizer = optimizer, .dtype = dtype});
            INFO(static_cast<int>(optimizer)
                 << (dtype == DType::f32 ? " float32" : " float64") << told(late.found));
            CHECK(late.found.faults.empty());
            CHECK(late.found.checks.contains("late-update"));
        }
}

TEST_CASE("faults: a quarter of a bound is no fault, so bounds are no smaller than rounding needs") {
    const ProcessGroup world = mpi_world();
    for (const Entry& entry : on(world)) {
        if (entry.of != Class::scaled) continue;
        TrainingCase t = case_for(entry);
        const VerifiedTraining v = verify(t, {entry.fault, 0.25}, world);
        INFO(entry.name << " at a quarter of the bound of " << entry.check << "; found:" << told(v));
        CHECK_FALSE(finds(v, entry.check));
        for (const gnnbench::Fault& f : v.faults) CHECK(f.check == entry.sharper);
        CHECK(v.checks.at(entry.check).worst_ratio <= 1);
    }
}

TEST_CASE("faults: the same trainings without them are not accused") {
    const ProcessGroup world = mpi_world();
    std::vector<std::string> done;
    for (const auto& [entry, layers] : trained_on(world)) {
        TrainingCase t = case_for(entry, layers);
        const std::string key = fmt::format(
            "{} {} {} {} {} {} {} {}", t.scheme, t.graph.indices.size(), t.model.train.dropout,
            static_cast<int>(t.model.labels), static_cast<int>(t.model.model.activation),
            static_cast<int>(t.model.model.kind), t.model.model.attention_dropout, t.model.model.residual);
        if (std::ranges::count(done, key) > 0) continue;
        done.push_back(key);
        const VerifiedTraining v = verify(t, {}, world);
        INFO(key << told(v));
        CHECK(v.faults.empty());
        CHECK(v.same_bits);
        const char* const sums = t.model.model.attends() ? "attention" : "spmm";
        for (const char* check :
             {sums, "gemm", "activation-backward", "column-sums", "loss", "optimizer", "volume", "memory",
              "reference", "step", "rerun", "float64", "all-reduce", "probe", "score", "logits"}) {
            INFO(check);
            CHECK(v.checks.contains(check));
        }
    }
}

TEST_CASE("faults: the probe tests products of matrices that have been freed, each of several in one place") {
    const TrainingCase t = case_for({faults::Fault::none, Class::exact, "freed", "", "cagnet-1d", ""});
    const auto probed = [&](Injected injected) {
        KernelSetting setting = contract::kernel_setting_of({"cpu", DType::f32, t.kernel_params});
        ProductProbe probe(
            std::make_unique<FaultyBackend>(contract::catalog().kernel("cpu")->create(setting), injected, true));
        for (std::int64_t rows = 2; rows < 6; ++rows) {
            Csr a{.rows = rows, .cols = rows, .indices = {}, .values = {}};
            for (std::int64_t r = 0; r < rows; ++r) {
                a.indices.push_back(static_cast<std::int32_t>(rows - 1 - r));
                a.values.push_back(0.5 + static_cast<double>(r));
                a.indptr.push_back(r + 1);
            }
            const auto prepared = probe.prepare(a);
            const Matrix b = probe.matrix(rows, 3), c = probe.matrix(rows, 3);
            probe.fill(b, 1);
            probe.spmm(*prepared, b, c);
            probe.synchronize(StreamRole::compute);
        }
        Ledger ledger(0);
        probe.test(ledger, 1);
        return ledger;
    };
    Ledger healthy = probed({}), faulty = probed({faults::Fault::last_nonzero_dropped});
    CHECK(healthy.count("probe").calls == 4);
    CHECK(healthy.faults().empty());
    CHECK(faulty.count("probe").calls == 4);
    CHECK(faulty.fault_count() == 4);
}

TEST_CASE("faults: the probe tests attention's sums, those of one block and those of several") {
    const TrainingCase t = case_for({faults::Fault::none, Class::exact, "probed attention", "", "cagnet-1d", ""});
    const auto probed = [&](faults::Fault fault, bool dynamic) {
        KernelSetting setting = contract::kernel_setting_of({"cpu", DType::f32, t.kernel_params});
        setting.heads = 2;
        ProductProbe probe(std::make_unique<FaultyBackend>(contract::catalog().kernel("cpu")->create(setting),
                                                           Injected{fault}, true));
        Csr a{.rows = 60, .cols = 60, .indices = {}, .values = {}};
        for (std::int64_t r = 0; r < 60; ++r) {
            for (std::int64_t k = 0; k < 5; ++k) {
                a.indices.push_back(static_cast<std::int32_t>((r + 12 * k) % 60));
                a.values.push_back(0.5 + static_cast<double>(k));
            }
            a.indptr.push_back(std::ssize(a.indices));
        }
        const auto prepared = probe.prepare(a);
        const auto zeros = [&](std::int64_t cols, std::int64_t rows = 60) {
            Matrix m = probe.matrix(rows, cols);
            probe.fill(m, 0);
            return m;
        };
        const Matrix b = zeros(8), l = zeros(2), z = zeros(6), slopes = zeros(6), maxima = zeros(2),
                     sums = zeros(2), slope_sums = zeros(2), g = zeros(12), c = zeros(8), vector = zeros(6, 1),
                     s = zeros(6), t_j = zeros(6), given = zeros(16), u = zeros(6), v = zeros(6), dt = zeros(6);
        const AttentionRows rows{z, slopes, maxima, sums, slope_sums};
        const MatrixView none{nullptr, 60, 0, 0, DType::f32};
        for (const Stage stage : {Stage{true, false}, Stage{false, true}}) {
            if (!dynamic) {
                probe.attend(*prepared, {.heads = 2}, b, l, rows, stage);
                probe.attend_backward(*prepared, {.heads = 2}, g, b, c, stage);
                continue;
            }
            probe.dynamic_attend(*prepared, {.heads = 2}, vector, t_j, s, {z, none, maxima, sums, none}, stage);
            probe.dynamic_backward_rows(*prepared, {.heads = 2}, vector, t_j, given, u, stage);
            probe.dynamic_backward_neighbours(*prepared, {.heads = 2}, vector, given, t_j, v, dt, stage);
        }
        probe.synchronize(StreamRole::compute);
        Ledger ledger(0);
        probe.test(ledger, 1);
        CHECK(ledger.count("probe").calls == (dynamic ? 6 : 4));
        return ledger.fault_count();
    };
    for (const bool dynamic : {false, true}) {
        INFO((dynamic ? "GATv2" : "GAT"));
        CHECK(probed(faults::Fault::none, dynamic) == 0);
        CHECK(probed(faults::Fault::last_nonzero_dropped, dynamic) == (dynamic ? 6 : 4));
        CHECK(probed(faults::Fault::softmax_of_block, dynamic) == 1);
        CHECK(probed(faults::Fault::rescale_forgotten, dynamic) == 1);
        CHECK(probed(faults::Fault::score_slope, dynamic) == 2);
        CHECK(probed(faults::Fault::given_left_out, dynamic) == (dynamic ? 4 : 2));
    }
    CHECK(probed(faults::Fault::row_left_out, true) == 2);
}

TEST_CASE("faults: sums in order of arrival are no fault, and the same to the bit when repeated") {
    const ProcessGroup world = mpi_world();
    const Entry entry{faults::Fault::none, Class::exact, "order of arrival", "", "demirci-p2p", ""};
    TrainingCase t = case_for(entry);
    t.graph = graphs::directed_random(600, 9000, true);
    t.model.widths = {40, 33, 33, 33, 9};
    for (int turn = 0; turn < 4; ++turn) {
        const VerifiedTraining v = verify(t, {entry.fault}, world);
        INFO(told(v));
        CHECK(v.faults.empty());
        CHECK(v.same_bits);
    }
}
