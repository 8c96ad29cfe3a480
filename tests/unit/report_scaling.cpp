// Scaling analysis: the formulas by hand, then the same in a table.
#include <catch2/catch.hpp>

#include "report/paper_table.hpp"
#include "report/scaling.hpp"
#include "report/table_render.hpp"
#include "report_samples.hpp"

using namespace gnnbench;
using Catch::Contains;
using Kind = Crossover::Kind;

namespace {

/// One trial for each cell: its epoch's time, and its partitioning's.
struct Sample {
    MeasuredCells measured;
    std::vector<std::pair<double, double>> times_s;

    ComparisonCell& add(const std::string& scheme, int gpus, const std::string& partitioner, double epoch_s,
                        double partition_s = 0) {
        ComparisonCell c = samples::compared(scheme, gpus, partitioner, {epoch_s}, 10);
        c.fields = {{"scheme", scheme}, {"gpus", std::to_string(gpus)}, {"partitioner", partitioner}};
        c.ok_trials.push_back(std::ssize(times_s));
        times_s.emplace_back(epoch_s, partition_s);
        return measured.cells.emplace_back(std::move(c));
    }
    void add_failed(const std::string& scheme, int gpus, const std::string& partitioner) {
        ComparisonCell c = samples::ended(scheme, gpus, partitioner, "oom", "too large");
        c.fields = {{"scheme", scheme}, {"gpus", std::to_string(gpus)}, {"partitioner", partitioner}};
        measured.cells.push_back(std::move(c));
    }
    /// The first place of a table of one row, x, with these fields.
    ResolvedCell first(const std::string& where, const std::string& cell) {
        definition_ = read_table_definition(
            "title: T\nsource: S\nrows: [x]\ncolumns:\n  - {name: c, where: " + where + ", cell: " + cell + "}\n",
            "p/t.yaml", "");
        table_ = resolve(definition_, measured, "", [&](std::int64_t trial, const Measure& m) {
            const auto& [epoch_s, partition_s] = times_s.at(static_cast<std::size_t>(trial));
            return std::optional(m.metric == "partition_s" ? partition_s : epoch_s);
        });
        return table_.cells[0][0];
    }
    std::string text() const { return render(paper_table(table_), OutputFormat::text); }

private:
    TableDefinition definition_;
    ResolvedTable table_;
};

constexpr const char* over_serial = "{scheme: serial, gpus: 1, partitioner: none}";

std::string against(const std::string& how, const std::string& base) {
    return "{metric: epoch_s, " + how + ": " + base + "}";
}

bool has_remark(const ResolvedCell& place, const std::string& part) {
    return std::any_of(place.remarks.begin(), place.remarks.end(),
                       [&](const std::string& r) { return r.find(part) != std::string::npos; });
}

std::string mistake(const std::string& cell) {
    try {
        read_table_definition("title: T\nsource: S\nrows: [x]\ncolumns: [c]\ncell: " + cell + "\n", "p/t.yaml",
                              "");
    } catch (const ExperimentError& e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("Karp and Flatt's fraction") {
    CHECK_FALSE(karp_flatt(1, 1));  // of one device there is none
    CHECK_FALSE(karp_flatt(0.5, 0.5));
    CHECK(*karp_flatt(4, 4) == Approx(0).margin(1e-15));  // linear
    CHECK(*karp_flatt(1, 4) == Approx(1));                // nothing gained
    CHECK(*karp_flatt(2, 4) == Approx(1.0 / 3));          // (1/2 - 1/4) / (3/4)
    CHECK(*karp_flatt(8, 4) == Approx(-1.0 / 6));         // more than linear: (1/8 - 1/4) / (3/4)
    // Amdahl's law with a serial tenth: 1 / (0.1 + 0.9 / 8) on 8 devices.
    CHECK(*karp_flatt(1 / (0.1 + 0.9 / 8), 8) == Approx(0.1));
    CHECK(efficiency(3, 4) == 0.75);
}

TEST_CASE("where one curve goes below another") {
    const auto of = [](std::vector<CurvePoint> points) { return crossover(points); };
    CHECK(of({}).kind == Kind::unknown);
    CHECK(of({{1, 2, 1}}).kind == Kind::unknown);
    CHECK(of({{1, 1, 1}, {2, 3, 3}}).kind == Kind::unknown);
    CHECK(of({{1, 2, 1}, {2, 3, 1}}).kind == Kind::never);
    CHECK(of({{1, 1, 2}, {2, 1, 3}}).kind == Kind::always);
    CHECK(of({{1, 2, 1}, {2, 1, 1}}).kind == Kind::never);  // reached, not overtaken
    // Twice as long on 1, half as long on 4: halfway in the logarithm, so on 2.
    const Crossover c = of({{1, 2, 1}, {4, 1, 2}});
    CHECK(c.kind == Kind::overtakes);
    CHECK(c.at == Approx(2));
    CHECK((c.interpolated && c.before == 0 && c.after == 1 && c.times == 1));
    CHECK(of({{1, 1, 2}, {4, 2, 1}}).kind == Kind::falls_behind);
    const Crossover at_a_point = of({{1, 2, 1}, {3, 1, 1}, {4, 1, 2}});
    CHECK(at_a_point.at == 3);
    CHECK_FALSE(at_a_point.interpolated);
    const Crossover twice = of({{1, 2, 1}, {4, 1, 2}, {16, 2, 1}});
    CHECK((twice.kind == Kind::overtakes && twice.times == 2));
    CHECK(twice.at == Approx(2));
}

TEST_CASE("epochs after which partitioning has come back") {
    CHECK_FALSE(payback_epochs(1, 0));
    CHECK_FALSE(payback_epochs(1, -0.1));
    CHECK(payback_epochs(-1, 0.1) == 0);
    CHECK(*payback_epochs(3, 0.25) == Approx(12));
}

TEST_CASE("a definition that sets a number against nothing sensible says so") {
    CHECK_THAT(mistake("{metric: epoch_s, speed_up_over: {gpus: 1}, overtakes: {scheme: a}}"),
               Contains("overtakes: conflicts with speed_up_over"));
    CHECK_THAT(mistake("{metric: setup_s, pays_back_over: {partitioner: random}}"),
               Contains("the metric has to be epoch_s; found setup_s"));
    CHECK_THAT(mistake("{metric: vertices, karp_flatt_over: {gpus: 1}}"),
               Contains("is of times; vertices is none"));
    CHECK_THAT(mistake("{metric: epoch_s, overtakes: {gpus: 1}}"), Contains("runs over gpus itself"));
    CHECK_THAT(mistake("{metric: epoch_s, unit: ms, efficiency_over: {gpus: 1}}"), Contains("'ms' is no unit of"));
    CHECK(mistake("{metric: epoch_s, unit: '%', efficiency_over: {gpus: 1}}").empty());
    CHECK(mistake("{metric: sent_bytes_per_epoch, overtakes: {scheme: a}}").empty());
}

TEST_CASE("scaling is empty where its base was never measured, and says how the base ended") {
    Sample s;
    s.add("a", 4, "random", 0.5);
    for (const char* how : {"speed_up_over", "efficiency_over", "karp_flatt_over", "pays_back_over"}) {
        INFO(how);
        const ResolvedCell place = s.first("{scheme: a, gpus: 4}", against(how, over_serial));
        CHECK_FALSE(place.ours);
        CHECK((place.word.empty() && place.verdict.empty() && place.remarks.empty()));
    }
    CHECK_FALSE(s.first("{scheme: a}", against("overtakes", "{scheme: b}")).ours);
    s.add_failed("serial", 1, "none");
    const ResolvedCell place = s.first("{scheme: a, gpus: 4}", against("efficiency_over", over_serial));
    CHECK(place.word == "OOM");
    CHECK(has_remark(place, "its baseline: oom: too large"));
}

TEST_CASE("efficiency and the serial fraction in a table") {
    Sample s;
    s.add("serial", 1, "none", 1);
    s.add("a", 2, "random", 0.5);
    s.add("a", 4, "random", 0.5).oversubscribed = true;
    const auto value = [&](int gpus, const char* how, const char* base = over_serial) {
        const ResolvedCell place = s.first("{scheme: a, gpus: " + std::to_string(gpus) + "}", against(how, base));
        REQUIRE(place.ours);
        CHECK(has_remark(place, "oversubscribed") == (gpus == 4));
        return place.ours->median;
    };
    CHECK(value(2, "efficiency_over") == Approx(1));
    CHECK(value(2, "karp_flatt_over") == Approx(0).margin(1e-15));
    CHECK(value(4, "speed_up_over") == Approx(2));
    CHECK(value(4, "efficiency_over") == Approx(0.5));
    CHECK(value(4, "karp_flatt_over") == Approx(1.0 / 3));
    CHECK_THAT(s.text(), Contains("x | 0.333 a"));
    // Over two devices, four are twice as many.
    CHECK(value(4, "efficiency_over", "{gpus: 2}") == Approx(0.5));
    CHECK(value(4, "karp_flatt_over", "{gpus: 2}") == Approx(1));
    s.measured.cells[0].fields["threads_per_rank"] = "4";
    CHECK(has_remark(s.first("{scheme: a, gpus: 4}", against("efficiency_over", over_serial)), "devices differ"));
    CHECK_FALSE(has_remark(s.first("{scheme: a, gpus: 4}", against("efficiency_over", "{gpus: 2}")), "alike"));
    s.first("{scheme: a, gpus: 4}", "{metric: epoch_s, unit: '%', decimals: 1, efficiency_over: {gpus: 2}}");
    CHECK_THAT(s.text(), Contains("numbers in %") && Contains("x | 50.0"));
}

TEST_CASE("overtaking in a table names what it leans on") {
    Sample s;
    for (const auto& [gpus, a_s, b_s] : {std::tuple(1, 2.0, 1.0), {4, 1.0, 2.0}, {8, 0.5, 2.0}}) {
        s.add("a", gpus, "random", a_s).oversubscribed = gpus == 8;
        s.add("b", gpus, "random", b_s);
    }
    s.add("a", 16, "random", 9);  // b was not measured there
    ResolvedCell place = s.first("{scheme: a}", against("overtakes", "{scheme: b}"));
    REQUIRE(place.ours);
    CHECK(place.ours->median == Approx(2));
    CHECK(has_remark(place, "interpolated"));
    CHECK_FALSE(has_remark(place, "oversubscribed"));  // 8 is not what the number rests on
    CHECK_THAT(s.text(), Contains("numbers in devices") && Contains("x | 2.00"));
    place = s.first("{scheme: b}", against("overtakes", "{scheme: a}"));
    CHECK(place.ours->median == Approx(2));
    CHECK(has_remark(place, "ahead below that number"));
    s.first("{scheme: a, gpus: [4, 8]}", against("overtakes", "{scheme: b}"));  // gpus is what it runs over
    CHECK_THAT(s.text(), Contains("x | 2.00"));
    for (auto& [epoch_s, partition_s] : s.times_s) epoch_s = epoch_s == 2 ? 2 : 0.5;
    s.measured.cells.erase(s.measured.cells.begin(), s.measured.cells.begin() + 2);
    place = s.first("{scheme: a}", against("overtakes", "{scheme: b}"));
    CHECK(place.verdict == "always");
    CHECK(has_remark(place, "oversubscribed"));
    CHECK_THAT(s.text(), Contains("x | always"));
    CHECK(s.first("{scheme: b}", against("overtakes", "{scheme: a}")).verdict == "never");
}

TEST_CASE("payback in a table") {
    Sample s;
    s.add("a", 4, "random", 0.5, 0.25);
    s.add("a", 4, "metis", 0.25, 3.25);
    const std::string over_random = against("pays_back_over", "{partitioner: random}");
    const ResolvedCell place = s.first("{scheme: a, gpus: 4, partitioner: metis}", over_random);
    REQUIRE(place.ours);
    CHECK(place.ours->median == Approx(12));  // 3 s over 0.25 s
    CHECK_THAT(s.text(), Contains("numbers in epochs") && Contains("x | 12.0"));
    s.times_s[1].first = 0.5;
    CHECK(s.first("{scheme: a, gpus: 4, partitioner: metis}", over_random).verdict == "never");
    s.times_s[1] = {0.25, 0.125};
    CHECK(s.first("{scheme: a, gpus: 4, partitioner: metis}", over_random).ours->median == 0);
}
