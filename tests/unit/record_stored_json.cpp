// JSON in a stranger's database: damaged, or nested until recursion over it overflows the stack.
#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "record/choice.hpp"
#include "record/compare.hpp"
#include "record/comparison.hpp"
#include "record/database.hpp"
#include "record/origin.hpp"
#include "record/stored_json.hpp"
#include "record_samples.hpp"

using namespace gnnbench;

TEST_CASE("stored JSON that is damaged or nested too deep is null") {
    CHECK(stored_json(R"({"a": [1, {"b": 2}]})").at("a").at(1).at("b") == 2);
    CHECK(stored_json("{\"a\": ").is_null());
    CHECK(stored_json("").is_null());
    CHECK(stored_json(std::string(1'000'000, '[') + std::string(1'000'000, ']')).is_null());
    CHECK(stored_json<nlohmann::ordered_json>("[1]").size() == 1);
}

TEST_CASE("a cell nested without end ends no reader of its database") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    {
        Database d(path);
        const auto cell = samples::cell("serial", 1);
        d.register_experiment("sample", "name: sample", std::vector<CellRecord>{cell});
        d.apply(samples::whole_trial("t1", cell));
        d.connection().execute(
            "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; ALTER TABLE cell RENAME TO checked_cell; "
            "CREATE TABLE cell AS SELECT * FROM checked_cell",
            "be a stranger");
        d.connection().execute(
            "UPDATE cell SET identity = '{\"scheme\":{\"name\":\"serial\",\"params\":{\"x\":' || "
            "replace(hex(zeroblob(1000000)), '00', '[') || replace(hex(zeroblob(1000000)), '00', ']') || '}}}'",
            "nest a cell");
    }
    const auto survives = [](const auto& read) {
        return samples::in_child([&] {
            try {
                read();
            } catch (const Error&) {  // a message, which names what is wrong
            }
            return 0;
        });
    };
    CHECK(survives([&] {
              const Database d(path);
              chosen_trials(d.connection(), read_choice(d.connection(), "where:scheme = 'serial'"));
          }) == 0);
    CHECK(survives([&] { read_origin(path, "sample"); }) == 0);
    CHECK(survives([&] { read_comparison(path, "sample"); }) == 0);
    CHECK(survives([&] { compare_sides(path, "sample", "where:gpus = 1", "", {}); }) == 0);
}
