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

TEST_CASE("an expression of a stranger is one expression, and reads one cell") {
    // It closed the parenthesis it stands in; a row number was then any number.
    CHECK_THROWS_WITH(chosen("1=1) UNION SELECT 100000000 WHERE (1=1"), Contains("a ')' at its character 4"));
    CHECK_THROWS_WITH(chosen("1=1) LIMIT (1"), Contains("it ends early"));
    CHECK_THROWS_WITH(chosen("1=1) -- \n OR (1"), Contains("it ends early"));
    CHECK_THROWS_WITH(chosen("scheme = ')' OR gpus = 1) OR (1"), Contains("character 25"));
    CHECK_THROWS_WITH(chosen("(gpus = 1"), Contains("a '(' is not closed"));
    CHECK_THROWS_WITH(chosen("gpus = 1 /* OR"), Contains("the comment at its character 10 has no end"));
    CHECK_THROWS_WITH(chosen("scheme = 'serial"), Contains("the quote at its character 10 has no end"));
    CHECK_THROWS_WITH(chosen("gpus = $a(1) OR 1"), Contains("'$' at its character 8"));
    CHECK_THROWS_WITH(chosen(std::string("gpus = 1\0", 9)), Contains("it ends early"));
    // A query inside it: of other tables, or without end.
    CHECK_THROWS_WITH(chosen("gpus IN (SELECT 1)"), Contains("a query inside it is refused"));
    CHECK_THROWS_WITH(chosen("EXISTS (SELECT 1 FROM sqlite_schema)"), Contains("a query inside it is refused"));
    CHECK_THROWS_WITH(chosen("(VALUES (1))"), Contains("a query inside it is refused"));
    CHECK_THROWS_WITH(chosen("1 IN (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n)"),
                      Contains("a query inside it is refused"));
    CHECK_THROWS_WITH(chosen("gpus IN sqlite_schema"), Contains("refused") || Contains("it reads the table"));
    // Large texts, which only a limit of their own bounds.
    CHECK_THROWS_WITH(chosen("length(zeroblob(1000000000)) > 1"), Contains("too big"));
    CHECK_THROWS_WITH(chosen("scheme LIKE replace(hex(zeroblob(1000)), '0', '%')"),
                      Contains("pattern too complex"));
    // A single call that counts to its precision.
    CHECK_THROWS_WITH(chosen("scheme LIKE printf('%.*c', 2147483647, '%')"), Contains("it calls printf()"));
    CHECK_THROWS_WITH(chosen("FORMAT('%.*c', 2147483647, '%') = 1"), Contains("it calls "));
    // What looks like it and is none.
    CHECK(chosen("scheme = ')' OR scheme <> '--' /* (';' */ AND gpus = 1 -- )") == "100");
    CHECK(chosen("[gpus] = 1 OR `gpus` = 2 OR scheme = 'it''s'") == "110");
}

TEST_CASE("a field's name cannot steer the table that it is a column of") {
    const std::vector<CellFields> cells = {{{"dataset.a\" TEXT); DROP TABLE cell; --", std::int64_t{1}}}};
    CHECK(CellFilter(cells).where("gpus IS NULL") == std::vector<bool>{true});
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

TEST_CASE("what is true or false needs no comparison") {
    json dense = three[0], sparse = three[1];
    dense["model"]["sparse_features"] = false;
    sparse["model"]["sparse_features"] = true;
    const CellFields fields[] = {cell_fields(dense), cell_fields(sparse)};
    const CellFilter filter(fields);
    CHECK(filter.where("model.sparse_features") == std::vector<bool>{false, true});
    CHECK(filter.where("not model.sparse_features") == std::vector<bool>{true, false});
}

TEST_CASE("a slowdown is text, and none where none is declared") {
    json even = three[0], slowed = three[1];
    even["slowdown"] = {{"factors", json::object()}, {"jitter", 0.0}, {"label", "none"}};
    slowed["slowdown"] = {{"factors", {{3, 2.0}}}, {"jitter", 0.0}, {"label", "{3: 2}"}};
    const CellFields fields[] = {cell_fields(even), cell_fields(slowed)};
    const CellFilter filter(fields);
    CHECK(filter.where("slowdown = '{3: 2}'") == std::vector<bool>{false, true});
    CHECK(filter.where("slowdown = 'none'") == std::vector<bool>{true, false});
    CHECK(cell_fields(slowed).contains("slowdown.jitter") == false);
}

TEST_CASE("an expression has a value for each cell, empty where it is unknown or no number") {
    const std::vector<CellFields> cells{
        {{"a", 3.0}, {"b", 2.0}}, {{"a", 1.0}, {"b", 0.0}}, {{"a", 1.0}}, {{"a", 8.0}, {"b", 2.0}}};
    const CellFilter filter(cells);
    const auto quotients = filter.values("a / b");
    REQUIRE(quotients.size() == 4);
    CHECK(quotients[0] == 1.5);  // of numbers without a fraction, too
    CHECK(!quotients[1]);
    CHECK(!quotients[2]);
    CHECK(quotients[3] == 4);
    CHECK(!filter.values("'text'")[0]);
    CHECK(filter.values("max(a, b)")[3] == 8);
    CHECK(filter.values("sum(a)")[3] == 8);  // of one cell at a time
    CHECK_THROWS_WITH(filter.values("a / c"), Contains("there is no field 'c'"));
    CHECK_THROWS_WITH(filter.values("a) FROM cell; SELECT (b"), Contains("it ends early"));
    CHECK_THROWS_WITH(filter.values("(SELECT 1)"), Contains("expected an expression"));
}
