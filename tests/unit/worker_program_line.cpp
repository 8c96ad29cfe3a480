#include <fstream>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "worker/program_line.hpp"

using namespace gnnbench;
using nlohmann::json;

namespace {

std::string complaint(const std::string& line) {
    try {
        read_program_line(line);
    } catch (const DataError& e) {
        return e.what();
    }
    FAIL("accepted: " << line);
    return {};
}

bool accepted(const json& line) {
    try {
        read_program_line(line.dump());
        return true;
    } catch (const DataError&) {
        return false;
    }
}

/// A value that a property's schema allows, and one that it does not.
std::pair<json, json> samples(const json& schema) {
    json type = schema.at("type");
    if (type.is_array()) type = type[0];
    if (type == "integer") return {3, -1};
    if (type == "number") return {0.5, "0.5"};
    if (type == "string") return {"text", 7};
    return {json::object(), json::array()};
}

json schema() {
    std::ifstream in(GNNBENCH_SOURCE_DIR "/schemas/program-line.schema.json");
    return json::parse(in);
}

}  // namespace

TEST_CASE("a line that is none says what was found") {
    CHECK(complaint("epoch 3: 0.5") == "expected one JSON object a line; found 'epoch 3: 0.5'");
    CHECK(complaint("") == "expected one JSON object a line; found ''");
    CHECK(complaint(R"({"epoch": 0, "loss": NaN, "wall_s": 1})").starts_with("expected one JSON object"));
    CHECK(complaint(R"({"epoch": 0, "loss": 1})") == R"('wall_s' is missing in {"epoch":0,"loss":1})");
    CHECK(complaint(R"({"epoch": 1.5, "loss": 1, "wall_s": 1})") ==
          "expected an integer from 0 as 'epoch'; found 1.5");
    CHECK(complaint(R"({"epoch": 1, "loss": "1", "wall_s": 1})").find("as 'loss'; found \"1\"") !=
          std::string::npos);
    CHECK(complaint(R"({"epoch": 1, "loss": 1, "wall_s": -1})") ==
          "expected seconds from 0 to 1e12 as 'wall_s'; found -1");
    CHECK(complaint(R"({"epoch": 1, "loss": 1, "wall_s": 2e12})") ==
          "expected seconds from 0 to 1e12 as 'wall_s'; found 2000000000000.0");
    CHECK(complaint(R"({"epoch": 1, "loss": 1, "wall_s": 1, "acc": 1})").find("found the key 'acc'") == 0);
    CHECK(complaint(R"({"epoch": 1, "loss": 1, "wall_s": 1, "phases": {"nap": 1}})").find("no phase 'nap'") !=
          std::string::npos);
    CHECK(complaint(R"({"skipped": ""})") == "expected a reason as 'skipped'; found \"\"");
    CHECK(complaint(R"({"loss": 1})").find("expected a line with 'epoch'") == 0);
    CHECK(complaint("\"" + std::string(1000, 'x') + "\"").size() < 200);
}

TEST_CASE("an epoch, versions and refusals are read") {
    const auto epoch = std::get<ProgramEpoch>(read_program_line(
        R"({"epoch": 4, "loss": 0.25, "wall_s": 1.5, "phases": {"spmm": 1, "other": 0.5}, "peak_memory_bytes": 64})"));
    CHECK(epoch.epoch == 4);
    CHECK(epoch.loss == 0.25);
    CHECK(epoch.wall_s == 1.5);
    CHECK(epoch.phases.at("spmm") == 1);
    CHECK(epoch.peak_memory_bytes == 64);
    const auto lost = std::get<ProgramEpoch>(read_program_line(R"({"epoch": 0, "loss": null, "wall_s": 0})"));
    CHECK(lost.loss != lost.loss);
    CHECK_FALSE(lost.peak_memory_bytes);

    const auto versions = std::get<ProgramVersions>(
        read_program_line(R"({"versions": {"dgl": "2.1.0", "torch": "2.2.1"}, "device": "EPYC"})"));
    CHECK(versions.versions == "dgl 2.1.0, torch 2.2.1");
    CHECK(versions.device == "EPYC");

    const auto refusal = std::get<ProgramRefusal>(read_program_line(R"({"oom": "2 GiB more"})"));
    CHECK(refusal.status == TrialStatus::oom);
    CHECK(refusal.reason == "2 GiB more");
}

TEST_CASE("lines are read as their schema says") {
    const json all = schema();
    for (const json& shape : all.at("oneOf")) {
        json whole = json::object();
        for (const auto& [key, property] : shape.at("properties").items()) whole[key] = samples(property).first;
        INFO(whole.dump());
        CHECK(accepted(whole));
        for (const auto& [key, property] : shape.at("properties").items()) {
            const auto& needed = shape.at("required");
            const bool required = std::find(needed.begin(), needed.end(), key) != needed.end();
            json without = whole, wrong = whole;
            without.erase(key);
            wrong[key] = samples(property).second;
            INFO(key);
            CHECK(accepted(without) == !required);
            CHECK_FALSE(accepted(wrong));
        }
        json more = whole;
        more["beyond"] = 1;
        CHECK_FALSE(accepted(more));
    }
    const json epoch = schema().at("oneOf").at(0);
    for (const auto& [phase, seconds] : epoch.at("properties").at("phases").at("properties").items())
        CHECK(accepted({{"epoch", 0}, {"loss", 1}, {"wall_s", 1}, {"phases", {{phase, 1}}}}));
}
