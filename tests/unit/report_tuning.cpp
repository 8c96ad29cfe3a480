#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "report/tuning_table.hpp"

using namespace gnnbench;

namespace {

TunedCell cell(const char* scheme, const char* name, double epoch_s, TimeParts parts) {
    return {.dataset = "reddit",
            .scheme = scheme,
            .scheme_name = name,
            .partitioner = "metis",
            .epoch_s = epoch_s,
            .parts = parts,
            .sent_bytes_per_rank = 2.5e6,
            .peak_memory_bytes = 3e9};
}

Tuning tuning_sample() {
    Tuning t;
    t.machine = "perlmutter";
    t.gpus = 8;
    t.cells = {cell("sa-1d", "sa-1d", 0.006, {.spmm_s = 0.001, .gemm_s = 0.001, .communication_s = 0.004}),
               cell("plexus-3d(x=2)", "plexus-3d", 0.005, {.spmm_s = 0.002, .communication_s = 0.003}),
               cell("plexus-3d(x=4)", "plexus-3d", 0.003, {.spmm_s = 0.002, .gemm_s = 0.001})};
    t.cells.push_back({.dataset = "reddit",
                       .scheme = "serial",
                       .scheme_name = "serial",
                       .partitioner = "block",
                       .status = "OOM"});
    t.not_predicted = {"cagnet-3d: needs a cube"};
    return t;
}

}  // namespace

TEST_CASE("tuning: the fastest first, what does not fit last, and what each other scheme loses") {
    const std::string text = render_tuning(tuning_sample(), 0, OutputFormat::text);
    INFO(text);
    const auto at = [&](const char* part) {
        const std::size_t found = text.find(part);
        REQUIRE(found != std::string::npos);
        return found;
    };
    CHECK(at("SIMULATED") < at("plexus-3d(x=4)"));
    CHECK(at("plexus-3d(x=4)") < at("plexus-3d(x=2)"));
    CHECK(at("plexus-3d(x=2)") < at("sa-1d"));
    CHECK(at("sa-1d") < at("OOM"));
    CHECK(text.find("against plexus-3d(x=4) with metis:") != std::string::npos);
    CHECK(text.find("sa-1d with metis takes 2.00 × as long: communication +4.00 ms, SpMM −1.00 ms") !=
          std::string::npos);
    CHECK(text.find("plexus-3d(x=2) with metis takes") == std::string::npos);  // one line for each scheme
    CHECK(text.find("cagnet-3d: needs a cube") != std::string::npos);
    const std::string few = render_tuning(tuning_sample(), 1, OutputFormat::text);
    CHECK(few.find("and 3 more (--top 0 shows all)") != std::string::npos);
}

TEST_CASE("tuning: for programs every cell in plain numbers, whatever --top says") {
    const auto json = nlohmann::json::parse(render_tuning(tuning_sample(), 1, OutputFormat::json));
    REQUIRE(json.size() == 4);
    CHECK(json[0]["scheme"] == "plexus-3d(x=4)");
    CHECK(json[0]["place"] == 1);
    CHECK(json[0]["epoch_s"] == 0.003);
    CHECK(json[2]["communication_s"] == 0.004);
    CHECK(json[3]["status"] == "OOM");
    CHECK(json[3]["place"].is_null());
    CHECK(json[3]["epoch_s"].is_null());
}

TEST_CASE("tuning: cells of another setting are no rivals") {
    Tuning t = tuning_sample();
    for (const char* hidden : {"hidden 64", "hidden 128"}) {
        t.cells.push_back(t.cells.front());
        t.cells.back().others = hidden;
    }
    const auto json = nlohmann::json::parse(render_tuning(t, 0, OutputFormat::json));
    REQUIRE(json.size() == 6);
    CHECK(json[0]["others"] == "");
    CHECK(json[4]["others"] == "hidden 128");
    CHECK(json[4]["place"] == 1);
    CHECK(json[5]["place"] == 1);
    CHECK(render_tuning(t, 0, OutputFormat::text).find("reddit, hidden 64 on 8 GPUs") != std::string::npos);
}

TEST_CASE("tuning: small differences are left out") {
    CHECK(difference_text({.spmm_s = 20, .gemm_s = 0.8}, {}) == "SpMM +20.0 s");
    CHECK(difference_text({.gemm_s = 20}, {.rest_s = 2}) == "GEMM +20.0 s, rest −2000 ms");
    CHECK(difference_text({}, {}) == "no difference");
}
