// What a trial's lines become in the database.
#include <catch2/catch.hpp>

#include "record/database.hpp"
#include "record/merge.hpp"
#include "record/sqlite.hpp"
#include "record_rows.hpp"
#include "record_samples.hpp"

using namespace gnnbench;
using nlohmann::json;
using samples::everything;
using samples::rows;

TEST_CASE("notes of a trial's end replace those of its set-up; an end without notes leaves them") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    const auto notes_after = [&](const std::string& uuid, const json& end) {
        std::vector<json> lines = samples::whole_trial(uuid, samples::cell("plexus-3d", 1));
        lines[2]["notes"] = "grid: 2x1x1; dW products: not tuned yet";
        lines[8] = end;
        lines[8]["type"] = "end";
        lines[8]["trial"] = uuid;
        d.apply(lines);
        return rows(folder / "r.sqlite", "SELECT notes FROM trials WHERE trial = '" + uuid + "'")[0][0];
    };
    CHECK(notes_after("a", {{"status", "failed"}, {"reason", "a rank was lost"}}) ==
          "grid: 2x1x1; dW products: not tuned yet");
    CHECK(notes_after("b", {{"status", "ok"}, {"reason", ""}, {"notes", ""}}) ==
          "grid: 2x1x1; dW products: not tuned yet");
    CHECK(
        notes_after("c", {{"status", "ok"}, {"reason", ""}, {"notes", "grid: 2x1x1; dW products: layer 0 TN"}}) ==
        "grid: 2x1x1; dW products: layer 0 TN");
}

TEST_CASE("a number that fits no column breaks the contract, in every field of a trial and of its cell") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    for (const char* field : {"block", "gpus", "threads_per_rank", "seed", "epochs", "warmup"})
        for (const double number : {1e308, -1e308, 0.5}) {
            json line = samples::whole_trial("t1", samples::cell("mg-gcn", 2)).at(0);
            (line.contains(field) ? line : line.at("cell"))[field] = number;
            const std::vector<json> lines{line};
            const ApplyResult result = d.apply(lines);
            INFO(field << " = " << number);
            REQUIRE(result.problems.size() == 1);
            CHECK_THAT(result.problems[0], Catch::Contains(field));
        }
}

TEST_CASE("a cell without one of the fields that results show breaks the contract") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    const json whole = samples::whole_trial("t1", samples::cell("mg-gcn", 2)).at(0);
    for (const auto& [field, value] : whole.at("cell").items()) {
        json line = whole;
        line.at("cell").erase(field);
        const ApplyResult result = d.apply(std::vector{line});
        INFO(field);
        REQUIRE(result.problems.size() == 1);
        CHECK_THAT(result.problems[0], Catch::Contains("NOT NULL"));
    }
    CHECK(d.apply(std::vector{whole}).problems.empty());
}

TEST_CASE("a trial's summary, views and counted volumes, by hand") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const ApplyResult result = d.apply(samples::whole_trial("t1", samples::cell("mg-gcn", 2)));
    CHECK(result.lines == 10);
    CHECK(result.problems.empty());
    // The warm-up epoch (60 s) is no part of it; slowest ranks took 2, 3 and 7 s.
    CHECK(
        rows(path,
             "SELECT status, epoch_s, exposed_comm_s, sent_bytes_per_epoch, messages_per_epoch, measured_epochs, "
             "final_loss, test_accuracy, validation_accuracy, peak_memory_bytes, volume_as_stated FROM trials") ==
        json{{"ok", 3.0, 0.75, 100, 2, 3, 0.25, 0.8, nullptr, 1007, 1}});
    CHECK(
        rows(path, "SELECT edge_cut, synthetic, aggregated_input, approximation, device, log_tail FROM trials") ==
        json{{4, "graph, labels", 1, "", "Sample CPU", "last words"}});
    CHECK(rows(path, "SELECT rank, wall_s, exposed_comm_s, slowest_rank_s FROM epochs WHERE epoch = 2") ==
          json{{0, 3.0, 0.75, 3.0}, {1, 1.0, 0.25, 3.0}});
    CHECK(rows(path, "SELECT sum(seconds) FROM phases WHERE epoch = 3 AND rank = 0") == json{{7.0}});
    CHECK(rows(path, "SELECT sent_bytes, stated_sent_bytes, stated_messages FROM volumes WHERE epoch = 1") ==
          json{{100, 100, 1}, {0, 0, 1}});
    CHECK(rows(path, "SELECT memory_bytes, stated_memory_bytes FROM trial_rank ORDER BY rank") ==
          json{{500, 480}, {600, 600}});
    CHECK(rows(path,
               "SELECT rank, read_s, cut_s, exchange_s, prepare_s, read_bytes, cut_bytes, exchange_bytes, "
               "prepare_bytes, host_peak_bytes, setup_s FROM setups ORDER BY rank") ==
          json{{0, 0.5, 0.25, 0.125, 0.0625, 10, 20, 30, 40, 9000, 0.6},
               {1, 0.25, 0.125, 0.0625, 0.03125, 10, 20, 30, 40, 8000, 0.6}});
    CHECK(rows(path, "SELECT trial, ok_trials FROM latest JOIN cells USING (cell)") == R"([["t1", 1]])"_json);
}

TEST_CASE("an evaluation says what its score is of; of lines and rows that do not, it is accuracy") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    d.apply(samples::whole_trial("t1", samples::cell("mg-gcn", 2)));
    auto several = samples::whole_trial("t2", samples::cell("mg-gcn", 4));
    for (json& line : several)
        if (line.at("type") == "evaluation") line["metric"] = "micro-F1";
    d.apply(several);
    auto wrong = samples::whole_trial("t3", samples::cell("mg-gcn", 8));
    for (json& line : wrong)
        if (line.at("type") == "evaluation") line["metric"] = "luck";
    CHECK(d.apply(wrong).problems.size() == 1);
    CHECK(rows(path, "SELECT trial, metric, test FROM evaluations ORDER BY trial") ==
          json{{"t1", "accuracy", 0.8}, {"t2", "micro-F1", 0.8}});
    CHECK(rows(path, "SELECT trial, score_metric, test_accuracy FROM trials ORDER BY trial") ==
          json{{"t1", "accuracy", 0.8}, {"t2", "micro-F1", 0.8}, {"t3", nullptr, nullptr}});
}

TEST_CASE("applying lines again, in whole or in part, changes nothing") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    auto lines = samples::whole_trial("t1", samples::cell("mg-gcn", 2));
    lines.insert(lines.end() - 1, json{{"type", "verification"},
                                       {"trial", "t1"},
                                       {"status", "verified"},
                                       {"reason", ""},
                                       {"loss_error", 1e-7},
                                       {"gradient_error", 1e-6},
                                       {"volume_equal", true},
                                       {"sampled_vertices", 0},
                                       {"detail", ""}});
    d.apply(lines);
    const json before = everything(path);
    d.apply(lines);
    CHECK(everything(path) == before);
    for (const json& line : lines) {
        d.apply(std::vector<json>{line});
        CAPTURE(line.at("type"));
        CHECK(everything(path) == before);
    }
}

TEST_CASE("counted volume that differs from the stated one is seen") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    auto lines = samples::whole_trial("more", samples::cell("mg-gcn", 2));
    lines[5]["ranks"][0]["volume"][0]["sent_bytes"] = 101;
    d.apply(lines);
    lines = samples::whole_trial("missing", samples::cell("mg-gcn", 2));
    lines[5]["ranks"][1]["volume"] = json::array();
    d.apply(lines);
    lines = samples::whole_trial("unstated-row", samples::cell("mg-gcn", 2));
    lines[5]["ranks"][1]["volume"].push_back(samples::volume_row(8, 8, 1, "metadata"));
    d.apply(lines);
    lines = samples::whole_trial("nothing-stated", samples::cell("mg-gcn", 2));
    lines[2].erase("stated");
    d.apply(lines);
    CHECK(rows(path, "SELECT trial, volume_as_stated FROM trials ORDER BY trial") ==
          R"([["missing", 0], ["more", 0], ["nothing-stated", null], ["unstated-row", 0]])"_json);
}

TEST_CASE(
    "how old rows were is kept for each epoch and layer of schemes that say so, and imported with their trial") {
    const samples::Folder folder;
    const auto path = folder / "r.sqlite", other = folder / "other.sqlite";
    auto lines = samples::whole_trial("t1", samples::cell("pipegcn", 2));
    const auto age = [](int layer, const char* kind, int rows, int absent, json mean, int most) {
        return json{{"layer", layer},   {"kind", kind},        {"rows", rows},
                    {"absent", absent}, {"mean_epochs", mean}, {"most_epochs", most}};
    };
    lines[3]["row_ages"] = {age(0, "features", 6, 6, nullptr, 0), age(1, "gradients", 4, 1, 1.5, 2)};
    {
        Database d(path);
        CHECK(d.apply(lines).problems.empty());
        CHECK(d.apply(samples::whole_trial("t2", samples::cell("mg-gcn", 2))).problems.empty());
        auto wrong = samples::whole_trial("t3", samples::cell("pipegcn", 4));
        wrong[4]["row_ages"] = {age(0, "labels", 6, 6, nullptr, 0)};
        CHECK(d.apply(wrong).problems.size() == 1);
    }
    Database imported(other);
    import_results(imported, path);
    for (const auto& p : {path, other})
        CHECK(rows(p,
                   "SELECT trial, epoch, layer, kind, rows, absent, mean_epochs, most_epochs FROM staleness "
                   "ORDER BY layer") ==
              json{{"t1", 0, 0, "features", 6, 6, nullptr, 0}, {"t1", 0, 1, "gradients", 4, 1, 1.5, 2}});
}

TEST_CASE("bytes of a scheme that sends in some epochs alone are the mean over epochs") {
    const samples::Folder folder;
    const auto path = folder / "r.sqlite";
    auto lines = samples::whole_trial("t1", samples::cell("sancus", 2));
    for (const std::size_t epoch : {4, 6}) lines[epoch]["ranks"][0]["volume"][0]["sent_bytes"] = 0;
    lines[2].erase("stated");
    CHECK(Database(path).apply(lines).problems.empty());
    CHECK(rows(path, "SELECT sent_bytes_per_epoch FROM trials") == R"([[33]])"_json);  // 0, 100 and 0
}

TEST_CASE("epochs of independent workers overlap, so a trial's time is their mean") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    auto lines = samples::whole_trial("t1", samples::cell("gossip-gcn", 2));
    lines.erase(lines.begin() + 3, lines.begin() + 7);
    // Worker 1 holds a batch of epoch 1 until all others are done: epochs 1 to 3 end together, 9 s after warm-up.
    const auto leaves = [&](int rank, int epoch, double end_s) {
        json line = samples::epoch("t1", epoch, epoch == 0, 1, 1)["ranks"][0];
        line.update({{"type", "worker"},
                     {"trial", "t1"},
                     {"epoch", epoch},
                     {"rank", rank},
                     {"warmup", epoch == 0},
                     {"loss", 1.0},
                     {"steps", 1},
                     {"samples", 5},
                     {"end_s", end_s},
                     {"averagings", json::array()}});
        lines.insert(lines.end() - 3, line);
    };
    leaves(1, 0, 1), leaves(0, 0, 1), leaves(0, 1, 2), leaves(0, 2, 4), leaves(0, 3, 6), leaves(1, 1, 10);
    CHECK(d.apply(lines).problems.empty());
    CHECK(rows(folder / "r.sqlite", "SELECT wall_s FROM epoch WHERE NOT warmup ORDER BY epoch") ==
          R"([[9.0], [0.0], [0.0]])"_json);
    CHECK(rows(folder / "r.sqlite", "SELECT epoch_s FROM trials") == R"([[3.0]])"_json);
}

TEST_CASE("an epoch that ranks end at different times has the time that its line says, and a trial the mean") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    auto lines = samples::whole_trial("t1", samples::cell("allreduce-gcn", 2));
    // Slowest ranks took 2, 3 and 7 s, but the one that took 3 s had been ahead.
    for (json& line : lines)
        if (line["type"] == "epoch" && line["epoch"] == 2) line["wall_s"] = 2.5;
    CHECK(d.apply(lines).problems.empty());
    CHECK(rows(folder / "r.sqlite", "SELECT wall_s FROM epoch WHERE NOT warmup ORDER BY epoch") ==
          R"([[2.0], [2.5], [7.0]])"_json);
    CHECK(rows(folder / "r.sqlite", "SELECT epoch_s FROM trials") == json{{(2 + 2.5 + 7) / 3}});
}

TEST_CASE("a line that breaks the contract is named and left out whole") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    auto lines = samples::whole_trial("t1", samples::cell("mg-gcn", 2));
    lines[4]["ranks"][1]["volume"][0]["content"] = "gossip";
    lines[5].erase("ranks");
    lines[6]["trial"] = "unknown";
    lines[7]["type"] = "surprise";
    const ApplyResult result = d.apply(lines);
    CHECK(result.lines == 6);
    REQUIRE(result.problems.size() == 4);
    CHECK_THAT(result.problems[0], Catch::Contains("CHECK constraint"));
    CHECK_THAT(result.problems[1], Catch::Contains("ranks"));
    CHECK_THAT(result.problems[2], Catch::Contains("unknown"));
    CHECK_THAT(result.problems[3], Catch::Contains("surprise"));
    CHECK(rows(folder / "r.sqlite", "SELECT DISTINCT epoch FROM epochs") == json{{0}});
    CHECK(rows(folder / "r.sqlite", "SELECT status, epoch_s FROM trials") == R"([["ok", null]])"_json);
}
