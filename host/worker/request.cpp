#include "worker/request.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string_view>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

using nlohmann::json;

namespace {

constexpr std::array<std::string_view, 3> purpose_names = {"measure", "verify", "reference"};

Purpose purpose_from_text(const std::string& text) {
    for (std::size_t i = 0; i < purpose_names.size(); ++i)
        if (text == purpose_names[i]) return static_cast<Purpose>(i);
    throw SpecError("a trial's purpose is measure, verify or reference; found '" + text + "'");
}

/// A hand-written request deserves the same strictness as an experiment: exactly these keys, no others.
void expect_keys(const json& j, std::string_view where, std::initializer_list<std::string_view> keys) {
    if (!j.is_object()) throw SpecError(std::string(where) + " must be a JSON object");
    for (std::string_view key : keys)
        if (!j.contains(std::string(key)))
            throw SpecError(std::string(where) + " lacks the key '" + std::string(key) + "'");
    for (const auto& item : j.items())
        if (std::find(keys.begin(), keys.end(), item.key()) == keys.end())
            throw SpecError(std::string(where) + " has an unknown key '" + item.key() + "'");
}

VerifyRequest verify_from_json(const json& j) {
    expect_keys(j, "a trial request's 'verify'",
                {"epochs", "max_vertices", "max_work", "reference", "asks_partitioner"});
    return {.epochs = j.at("epochs"),
            .max_vertices = j.at("max_vertices"),
            .max_work = j.at("max_work"),
            .reference = j.at("reference"),
            .asks_partitioner = j.at("asks_partitioner")};
}

}  // namespace

std::string to_text(Purpose purpose) { return std::string(purpose_names[usize(purpose)]); }

json to_json(const TrialRequest& request) {
    const VerifyRequest& verify = request.verify;
    return {{"trial", request.trial},
            {"purpose", to_text(request.purpose)},
            {"journal", request.journal},
            {"store", request.store},
            {"export", request.export_folder},
            {"verify",
             {{"epochs", verify.epochs},
              {"max_vertices", verify.max_vertices},
              {"max_work", verify.max_work},
              {"reference", verify.reference},
              {"asks_partitioner", verify.asks_partitioner}}},
            {"trace_epochs", request.trace_epochs},
            {"late_step", request.late_step},
            {"shares_host", request.shares_host},
            {"cell", to_json(request.cell, JsonFor::worker)}};
}

TrialRequest request_from_json(const json& j) {
    expect_keys(j, "a trial request",
                {"trial", "purpose", "journal", "store", "export", "verify", "trace_epochs", "late_step",
                 "shares_host", "cell"});
    try {
        return {.trial = j.at("trial"),
                .purpose = purpose_from_text(j.at("purpose")),
                .journal = j.at("journal"),
                .store = j.at("store"),
                .export_folder = j.at("export"),
                .verify = verify_from_json(j.at("verify")),
                .trace_epochs = j.at("trace_epochs"),
                .late_step = j.at("late_step"),
                .shares_host = j.at("shares_host"),
                .cell = cell_from_json(j.at("cell"))};
    } catch (const json::exception& error) {
        throw SpecError(std::string("a trial request has a value of a wrong type: ") + error.what());
    }
}

void write_request(const std::string& path, const TrialRequest& request) {
    std::ofstream out(path, std::ios::trunc);
    out << to_json(request).dump(2) << '\n';
    out.close();
    if (!out) throw EnvironmentError("cannot write the trial's request '" + path + "'; is the disk full?");
}

std::string request_text(const std::string& path) {
    std::ifstream in(path);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in) throw EnvironmentError("cannot read the trial's request '" + path + "'");
    return text;
}

TrialRequest request_from_text(const std::string& text, const std::string& path) {
    json j;
    try {
        j = json::parse(text);
    } catch (const json::exception& error) {
        throw SpecError("'" + path + "' is not a trial request: " + error.what());
    }
    return request_from_json(j);
}

TrialRequest read_request(const std::string& path) { return request_from_text(request_text(path), path); }

}  // namespace gnnbench
