// Every fault of the list is found, by the check that the list names; the same trainings without it are not accused.
#include <algorithm>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "faults/training_case.hpp"

using namespace gnnbench;
using namespace gnnbench::faults;

namespace {

/// Weighted, directed, widths that are no multiple of a vector, weight decay on weights; dropout and size where a fault
/// needs them.
TrainingCase case_for(const Entry& entry) {
    const auto& catalog = contract::catalog();
    TrainingCase t{.graph = graphs::directed_random(60, 400, true),
                   .model = {.name = entry.name, .widths = {7, 5, 3}},
                   .scheme = entry.scheme,
                   .scheme_params = Params(catalog.find(PluginKind::strategy, entry.scheme).params),
                   .kernel_params = Params(catalog.find(PluginKind::kernel, "cpu").params)};
    if (entry.fault == faults::Fault::dropout_of_other_epoch) t.model.train.dropout = 0.4;
    if (entry.fault == faults::Fault::sigmoid_far_out) t.model.model.activation = Activation::sigmoid;
    if (entry.fault == faults::Fault::class_mean) t.model.labels = contract::Labels::several;
    if (entry.fault == faults::Fault::wrong_at_size) t.full = graphs::directed_random(6000, 30000, true);
    // These are of packed messages, which ranks that read each other's memory do without.
    if (entry.fault == faults::Fault::wrong_gather || entry.fault == faults::Fault::wrong_element)
        for (const ParamDecl& p : catalog.find(PluginKind::kernel, "cpu").params)
            if (std::string_view(p.name) == "transport") t.kernel_params.set(p, "mpi");
    return t;
}

std::string told(const VerifiedTraining& v) {
    std::string text;
    for (const auto& f : v.faults) text += "\n  " + f.check + ": " + f.text;
    return text;
}

bool finds(const VerifiedTraining& v, std::string_view check) {
    return std::ranges::any_of(v.faults, [&](const gnnbench::Fault& f) { return f.check == check; });
}

}  // namespace

TEST_CASE("faults: each is found, by the check that is there for it") {
    const ProcessGroup world = ProcessGroup::world();
    for (const Entry& entry : all()) {
        TrainingCase t = case_for(entry);
        const VerifiedTraining v = verify(t, {entry.fault}, world);
        INFO(entry.name << " (" << entry.what << ") must be found by " << entry.check << "; found:" << told(v));
        REQUIRE(t.skipped == "");
        CHECK(finds(v, entry.check));
        if (entry.of == Class::scaled) {
            const double times = v.checks.at(entry.check).worst_ratio;
            CHECK(times >= 4);
            CHECK(times <= 16);
        }
        if (world.rank() == 0)
            WARN(fmt::format("{}: {} faults found, by {}", entry.name, v.faults.size(),
                             v.faults.empty() ? "none" : v.faults[0].check));
    }
}

TEST_CASE("faults: a quarter of a bound is no fault, so bounds are no smaller than rounding needs") {
    const ProcessGroup world = ProcessGroup::world();
    for (const Entry& entry : all()) {
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
    const ProcessGroup world = ProcessGroup::world();
    std::vector<std::string> done;
    for (const Entry& entry : all()) {
        TrainingCase t = case_for(entry);
        const std::string key =
            fmt::format("{} {} {} {} {}", t.scheme, t.graph.indices.size(), t.model.train.dropout,
                        static_cast<int>(t.model.labels), static_cast<int>(t.model.model.activation));
        if (std::ranges::count(done, key) > 0) continue;
        done.push_back(key);
        const VerifiedTraining v = verify(t, {}, world);
        INFO(key << told(v));
        CHECK(v.faults.empty());
        CHECK(v.same_bits);
        for (const char* check :
             {"spmm", "gemm", "activation-backward", "column-sums", "loss", "optimizer", "volume", "memory",
              "reference", "step", "rerun", "float64", "all-reduce", "probe"}) {
            INFO(check);
            CHECK(v.checks.contains(check));
        }
    }
}

TEST_CASE("faults: sums in order of arrival are no fault, and the same to the bit when repeated") {
    const ProcessGroup world = ProcessGroup::world();
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
