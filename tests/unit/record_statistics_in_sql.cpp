// median, percentile and stddev in SQL, and what is said of averages over verifications.
#include <catch2/catch.hpp>

#include <cmath>

#include <gnnbench/error.hpp>

#include "record/database.hpp"
#include "record/query.hpp"
#include "record/query_hints.hpp"
#include "record_rows.hpp"
#include "record_samples.hpp"

using namespace gnnbench;
using nlohmann::json;
using samples::rows;

namespace {

struct Empty {
    samples::Folder folder;
    std::filesystem::path path = folder / "r.sqlite";
    Database d{path};
    json one(const std::string& sql) const { return rows(path, sql)[0]; }
    /// `expression` of x over these rows: "(1), (NULL)".
    json over(const std::string& expression, const std::string& values) const {
        return one("WITH v(x) AS (VALUES " + values + ") SELECT " + expression + " FROM v")[0];
    }
};

}  // namespace

TEST_CASE("median, percentile and stddev of numbers") {
    const Empty db;
    CHECK(db.over("median(x)", "(3), (1), (2)") == 2);
    CHECK(db.over("median(x)", "(4), (1), (3), (2)") == 2.5);
    CHECK(db.over("percentile(x, 0)", "(5), (1), (3)") == 1);
    CHECK(db.over("percentile(x, 100)", "(5), (1), (3)") == 5);
    CHECK(db.over("percentile(x, 90)", "(0), (10)") == 9);
    CHECK(db.over("stddev(x)", "(2), (4), (4), (4), (5), (5), (7), (9)").get<double>() ==
          Approx(std::sqrt(32.0 / 7)));
    // Far from 0, where squares less the square of the sum would have no digit left.
    CHECK(db.over("stddev(x)", "(1e9 + 1), (1e9 + 2), (1e9 + 3)") == 1);
    CHECK(db.over("median(DISTINCT x)", "(1), (1), (1), (9)") == 5);
    CHECK(db.over("median(x) FILTER (WHERE x > 1)", "(1), (2), (4)") == 3);
}

TEST_CASE("NULL is left out; of nothing there is no number") {
    const Empty db;
    CHECK(db.over("median(x)", "(NULL), (1), (NULL), (3)") == 2);
    CHECK(db.over("median(x)", "(NULL)").is_null());
    CHECK(db.one("SELECT median(epoch_s), percentile(epoch_s, 50), stddev(epoch_s) FROM trials") ==
          json{nullptr, nullptr, nullptr});
    CHECK(db.over("stddev(x)", "(1)").is_null());
    CHECK(db.over("stddev(x)", "(1), (NULL)").is_null());
}

TEST_CASE("what is no number or percentage is refused") {
    const Empty db;
    CHECK_THROWS_AS(db.over("median(x)", "('ok')"), SpecError);
    CHECK_THROWS_WITH(db.over("median(x)", "(1), ('ok')"),
                      Catch::Contains("median(): expected numbers") && Catch::Contains("found 'ok'"));
    CHECK(db.over("median(x)", "('12')") == 12);
    CHECK_THROWS_WITH(db.over("percentile(x, 101)", "(1)"),
                      Catch::Contains("a percentage from 0 to 100") && Catch::Contains("found '101'"));
    CHECK_THROWS_WITH(db.over("percentile(x, NULL)", "(1)"),
                      Catch::Contains("a percentage from 0 to 100") && Catch::Contains("found NULL"));
    CHECK_THROWS_WITH(db.over("percentile(x, x)", "(1), (2)"),
                      Catch::Contains("the same percentage in every row") && Catch::Contains("found '2'"));
}

TEST_CASE("they follow a window, which rows leave") {
    const Empty db;
    CHECK(rows(db.path,
               "WITH v(i, x) AS (VALUES (1, 5), (2, NULL), (3, 1), (4, 5), (5, 9)) SELECT median(x) OVER w, "
               "stddev(x) OVER w FROM v WINDOW w AS (ORDER BY i ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)") ==
          json{{5.0, nullptr}, {5.0, nullptr}, {3.0, std::sqrt(8.0)}, {3.0, std::sqrt(8.0)}, {5.0, 4.0}});
}

TEST_CASE("averages over verifications are told, others are not") {
    Empty db;
    Database& d = db.d;
    d.register_experiment("sample", "", std::vector<CellRecord>{samples::cell("mg-gcn", 2)});
    d.apply(samples::whole_trial("t1", samples::cell("mg-gcn", 2)));
    const auto told = [&](const std::string& sql) { return averages_verifications(db.path, sql); };
    CHECK_FALSE(told("SELECT avg(epoch_s) FROM trials"));  // there is none
    auto lines = samples::whole_trial("v1", samples::cell("mg-gcn", 2));
    lines[0]["purpose"] = "verify";
    d.apply(lines);
    for (const char* sql :
         {"SELECT avg(epoch_s) FROM trials", "SELECT scheme, MEDIAN(slowest_rank_s) FROM epochs GROUP BY scheme",
          "WITH t AS (SELECT wall_s FROM trial) SELECT stddev(wall_s) FROM t",
          "SELECT percentile(seconds, 95) FROM phases WHERE phase = 'comm'"}) {
        CAPTURE(sql);
        CHECK(told(sql));
    }
    for (const char* sql :
         {"SELECT avg(epoch_s) FROM trials WHERE purpose = 'measure'",
          "SELECT purpose, avg(epoch_s) FROM trials GROUP BY purpose",
          "SELECT avg(e.wall_s) FROM epochs e WHERE e.purpose = 'measure'", "SELECT avg(epoch_s) FROM latest",
          "SELECT avg(t.wall_s) FROM counted_trials k JOIN trial t ON t.id = k.trial_id",
          "SELECT epoch_s FROM trials", "SELECT count(*) FROM trials", "SELECT avg(gpus) FROM cells",
          "SELECT avg( FROM trials"}) {
        CAPTURE(sql);
        CHECK_FALSE(told(sql));
    }
}
