// Expressions over a cell's fields: what they may say, and what is said of those that cannot be.
#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "record/cell_filter.hpp"

using namespace gnnbench;
using Catch::Contains;
using nlohmann::json;

namespace {

json cell(const std::string& scheme, int gpus, json params, double lr, std::vector<int> widths) {
    return {
        {"dataset",
         {{"name", "ring"}, {"split", 0}, {"digest", "d"}, {"source", {{"generate", "grid"}, {"vertices", 9}}}}},
        {"model", {{"layers", "gcn"}, {"widths", widths}, {"bias", true}}},
        {"train", {{"lr", lr}, {"weight_decay", {0.5}}}},
        {"scheme", {{"name", scheme}, {"version", "1"}, {"label", scheme + "!"}, {"params", params}}},
        {"gpus", gpus},
        {"separate_wait", false}};
}

const json three[] = {cell("serial", 1, json::object(), 0.1, {64}),
                      cell("mg-gcn", 2, {{"overlap", true}, {"order", "late"}}, 0.01, {64, 32}),
                      cell("mg-gcn", 4, {{"overlap", false}, {"order", "early"}}, 0.01, {})};

std::string chosen(const std::string& expression) {
    std::vector<CellFields> fields;
    for (const json& c : three) fields.push_back(cell_fields(c));
    std::string text;
    for (const bool b : CellFilter(fields).where(expression)) text += b ? '1' : '0';
    return text;
}

}  // namespace

TEST_CASE("an expression that cannot be is refused with what is wrong") {
    CHECK_THROWS_AS(chosen("gpus >"), SpecError);
    CHECK_THROWS_WITH(chosen(""), Contains("it is empty"));
    CHECK_THROWS_WITH(chosen("gpus >"), Contains("syntax error"));
    CHECK_THROWS_WITH(chosen("gpu > 2"), Contains("there is no field 'gpu' (at its character 1)") &&
                                             Contains("train.lr") && Contains("did you mean 'gpus'?"));
    CHECK_THROWS_WITH(chosen("gpus = 2 AND scheme.overlp"),
                      Contains("at its character 14") && Contains("scheme.overlap"));
    CHECK_THROWS_WITH(chosen("scheme = mg"), Contains("text is written 'mg'"));
    CHECK_THROWS_WITH(chosen("scheme.order = 'late'"), Contains("near \"order\": syntax error"));
    CHECK_THROWS_WITH(chosen("gpus); DELETE FROM cell; SELECT (1"), Contains("it ends early"));
    CHECK_THROWS_WITH(chosen("count(*) > 1"), Contains("misuse of aggregate"));
    CHECK_THROWS_WITH(chosen("json_extract('{', '$.a') = 1"), Contains("malformed JSON"));
}

TEST_CASE("fields are named as in YAML") {
    CHECK(chosen("gpus > 1") == "011");
    CHECK(chosen("scheme = 'serial'") == "100");
    CHECK(chosen("scheme = \"serial\"") == "100");
    CHECK(chosen("scheme_label = 'mg-gcn!'") == "011");
    CHECK(chosen("scheme LIKE 'mg%' AND gpus IN (2, 8)") == "010");
    CHECK(chosen("train.lr < 0.05") == "011");
    CHECK(chosen("train.weight_decay = 0.5") == "111");
    CHECK(chosen("model.hidden = '64,32'") == "010");
    CHECK(chosen("model.hidden = 64") == "100");
    CHECK(chosen("model.depth BETWEEN 2 AND 3") == "110");
    CHECK(chosen("model.bias AND NOT separate_wait") == "111");
    CHECK(chosen("dataset = 'ring' AND dataset.vertices = 9 AND dataset.generate = 'grid'") == "111");
    CHECK(chosen("gpus = '2'") == "010");
    CHECK(chosen("true") == "111");
    CHECK(chosen("false") == "000");
}

TEST_CASE("a parameter that a scheme has not is unknown, which is no") {
    CHECK(chosen("scheme.overlap") == "010");
    CHECK(chosen("NOT scheme.overlap") == "001");
    CHECK(chosen("scheme.overlap IS NULL") == "100");
    CHECK(chosen("coalesce(scheme.[order], 'early') = 'early'") == "101");
}

TEST_CASE("without cells nothing is chosen, and fields still have names") {
    const CellFilter none({});
    CHECK(none.where("gpus > 2").empty());
    CHECK_THROWS_WITH(none.where("gpu > 2"), Contains("did you mean 'gpus'?"));
}
