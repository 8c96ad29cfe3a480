// Buckets of gradients (allreduce-gcn, bucket_mib): the same training as with one all-reduce, started within the
// backward pass, in as many messages as counted by hand. On all ranks, and on every back end that serves here.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "contract/batch_setup.hpp"
#include "contract/strategy_selection.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

constexpr Part clusters = 5;

/// GCN 4 → 5 → 6 → 3 without a bias has 20, 30 and 18 parameters.
ModelVariant three_layers(LayerKind kind = LayerKind::gcn) {
    ModelVariant v{.name = "three layers", .widths = {4, 5, 6, 3}};
    v.model.kind = kind;
    v.model.bias = false;
    return v;
}

Setup buckets_of(const std::string& mib, const KernelVariant& kernel, Set set = {},
                 const ModelVariant& model = three_layers()) {
    set["bucket_mib"] = mib;
    return {"allreduce-gcn", graphs::directed_random(41, 150, true), clusters, set, kernel, {}, model};
}

std::string mib_of(double bytes) { return fmt::format("{:.20f}", bytes / (1 << 20)); }

std::int64_t all_reduces(const Volume& v) {
    std::int64_t messages = 0;
    for (const auto& [key, traffic] : v)
        if (key.operation == CommOp::all_reduce && key.content == Content::payload) messages += traffic.messages;
    return messages;
}

}  // namespace

TEST_CASE("buckets: training is what it is with one all-reduce after the backward pass") {
    for (const KernelVariant& kernel : kernels())
        for (const LayerKind kind : {LayerKind::gcn, LayerKind::sage, LayerKind::gin})
            for (const Set& set : {Set{}, Set{{"weighting", "vertices"}}, Set{{"averaging_interval", "3"}}}) {
                INFO(kernel.name << ", layers of kind " << static_cast<int>(kind));
                Setup once = buckets_of("0", kernel, set, three_layers(kind)),
                      bucketed = buckets_of(mib_of(1), kernel, set, three_layers(kind));
                REQUIRE(bucketed.unsupported() == "");
                CHECK(bucketed.held_bytes() == once.held_bytes());
                for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
                    once.collective().train_epoch(epoch);
                    bucketed.collective().train_epoch(epoch);
                    CHECK(difference(bucketed.stated(epoch), bucketed.take()) == "");
                }
                CHECK(largest_difference(once.collective().weights(), bucketed.collective().weights()) <
                      (kernel.dtype == DType::f64 ? 1e-12 : 1e-5));
            }
}

TEST_CASE("buckets: an all-reduce starts as soon as its layers' gradients are complete") {
    for (const KernelVariant& kernel : kernels()) {
        INFO(kernel.name);
        Setup s = buckets_of(mib_of(1), kernel);
        Trace& trace = s.backend().trace();
        trace.begin_epoch();
        s.collective().train_step(0, 0);
        s.backend().synchronize(StreamRole::compute);
        trace.end_epoch();
        // In the order in which they were given to the device: gemm computes dW of each layer, and of the upper two dH.
        std::string order;
        for (const Span& span : trace.spans())
            if (span.phase == Phase::gemm)
                order += 'g';
            else if (std::string_view(span.operation) == "all-reduce")
                order += 'r';
        // Three of them are the forward pass's.
        CHECK(order == (s.ranks() == 1 ? "gggggggg" : "ggggrggrggr"));
    }
}

TEST_CASE("buckets: layers are joined, the last one first, until a bucket has so many MiB") {
    const KernelVariant& kernel = exactly;
    const auto bytes = static_cast<double>(size_of(kernel.dtype));
    struct Case {
        double parameters;
        std::int64_t buckets;
    };
    for (const Case& c :
         {Case{0, 1}, Case{1, 3}, Case{18, 3}, Case{18.5, 2}, Case{48, 2}, Case{48.5, 1}, Case{1e6, 1}}) {
        INFO("at least " << c.parameters << " parameters a bucket");
        Setup s = buckets_of(mib_of(c.parameters * bytes), kernel);
        const std::int64_t averagings = (clusters + s.ranks() - 1) / s.ranks();
        CHECK(all_reduces(s.stated(0).volume) == (s.ranks() == 1 ? 0 : c.buckets * averagings));
        s.collective().train_epoch(0);
        CHECK(difference(s.stated(0), s.take()) == "");
    }
}

TEST_CASE("buckets: of weights, which are averaged after the update, there are none") {
    CHECK_THAT(buckets_of("1", exactly, {{"average", "weights"}}).unsupported(),
               Catch::Contains("set bucket_mib: 0 or average: gradients"));
}
