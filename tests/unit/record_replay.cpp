#include <catch2/catch.hpp>

#include <signal.h>

#include <fstream>
#include <limits>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "record/claims.hpp"
#include "record/journal_line.hpp"
#include "record/query.hpp"
#include "record/replay.hpp"
#include "record_samples.hpp"

using namespace gnnbench;
using nlohmann::json;

namespace {

/// A host that writes the first `lines` lines of a trial, half of another one, and is killed.
void killed_host(const std::filesystem::path& database, const std::vector<json>& lines, std::size_t whole,
                 const std::function<void(Journal&)>& before = {}) {
    const int code = samples::in_child([&] {
        Journal journal = Journal::create(database);
        if (before) before(journal);
        for (std::size_t i = 0; i < whole; ++i) journal.append(lines[i]);
        if (whole < lines.size())
            std::ofstream(journal.path(), std::ios::app) << lines[whole].dump().substr(0, 20);
        ::raise(SIGKILL);
        return 0;
    });
    REQUIRE(code == 128 + SIGKILL);
}

std::string first_text(const std::filesystem::path& database, const std::string& sql) {
    return std::get<std::string>(query(database, sql).rows.at(0).at(0));
}
std::int64_t count(const std::filesystem::path& database, const std::string& sql) {
    return std::get<std::int64_t>(query(database, sql).rows.at(0).at(0));
}
std::size_t journals(const std::filesystem::path& database) {
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(journal_folder(database))) ++n;
    return n;
}

const CellRecord sample_cell = samples::cell("mg-gcn", 2);
const TrialKey key{sample_cell.digest, machine_fingerprint(samples::machine), 0};

}  // namespace

TEST_CASE("a dead host's journal is replayed and removed, a living one's is left alone") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    killed_host(path, samples::whole_trial("dead", sample_cell), 6);
    int ready[2], go[2];
    REQUIRE(::pipe(ready) == 0);
    REQUIRE(::pipe(go) == 0);
    const pid_t living = ::fork();
    if (living == 0) {
        Journal journal = Journal::create(path);
        journal.append(samples::trial("alive", sample_cell, 1));
        char c = 1;
        (void)!::write(ready[1], &c, 1);
        (void)!::read(go[0], &c, 1);
        ::_exit(0);
    }
    char c = 0;
    REQUIRE(::read(ready[0], &c, 1) == 1);
    Database d(path);
    const ReplayResult result = replay_dead_journals(d);
    CHECK(result.journals == 1);
    CHECK(result.lines == 6);
    CHECK(result.interrupted == std::vector<std::string>{"dead"});
    CHECK(result.problems.empty());
    CHECK(journals(path) == 1);
    CHECK(first_text(path, "SELECT status FROM trials") == "interrupted");
    CHECK(count(path, "SELECT max(epoch) FROM epochs") == 2);  // every whole line is there
    CHECK(std::get<double>(query(path, "SELECT epoch_s FROM trials").rows[0][0]) == 2.5);

    REQUIRE(::write(go[1], &c, 1) == 1);
    ::waitpid(living, nullptr, 0);
    CHECK(replay_dead_journals(d).interrupted == std::vector<std::string>{"alive"});
    CHECK(journals(path) == 0);
    CHECK(replay_dead_journals(d).journals == 0);
}

TEST_CASE("replay after the living host has applied its lines changes no outcome") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    const auto lines = samples::whole_trial("t1", sample_cell);
    Database d(path);
    d.apply(lines);
    killed_host(path, lines, lines.size() - 1);  // its outcome reached the database, but not the journal
    CHECK(replay_dead_journals(d).interrupted.empty());
    CHECK(first_text(path, "SELECT status FROM trials") == "ok");
}

TEST_CASE("a journal with a line that breaks the contract is kept aside") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    auto lines = samples::whole_trial("t1", sample_cell);
    lines[4].erase("epoch");
    killed_host(path, lines, lines.size());
    Database d(path);
    const ReplayResult result = replay_dead_journals(d);
    CHECK(result.problems.size() == 1);
    CHECK(result.lines == 9);
    CHECK(journals(path) == 1);
    CHECK(replay_dead_journals(d).journals == 0);
}

namespace {

/// A dead host's journal of exactly these bytes.
void left_journal(const std::filesystem::path& database, const std::string& bytes) {
    std::filesystem::create_directories(journal_folder(database));
    std::ofstream(journal_folder(database) / "there-1-x.jsonl", std::ios::binary) << bytes;
}
std::string as_lines(const std::vector<json>& lines) {
    std::string text;
    for (const json& line : lines) text += line.dump() + "\n";
    return text;
}

}  // namespace

TEST_CASE("a line damaged inside a journal is reported, the journal kept, and its trial is not ok") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    const auto lines = samples::whole_trial("t1", sample_cell);
    std::string bytes = as_lines(lines);
    const std::size_t epoch = bytes.find(R"("epoch":2)");
    REQUIRE(epoch != std::string::npos);
    bytes[epoch] = '\x03';
    left_journal(path, bytes);
    Database d(path);
    const ReplayResult result = replay_dead_journals(d);
    REQUIRE(result.problems.size() == 1);
    CHECK_THAT(result.problems[0], Catch::Contains("there-1-x.jsonl") &&
                                       Catch::Contains("line 6 is damaged, it is no JSON object") &&
                                       Catch::Contains(".jsonl.damaged"));
    CHECK(std::filesystem::exists(journal_folder(path) / "there-1-x.jsonl.damaged"));
    CHECK(first_text(path, "SELECT status || ': ' || reason FROM trial") ==
          "failed: 3 of its 4 epochs are recorded: its journal lost the others");
    CHECK(count(path, "SELECT count(*) FROM epochs") == 6);  // what is whole is kept: three epochs of two ranks
}

TEST_CASE("a trial that stopped early has all its epochs up to its last, which an evaluation follows") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    CellRecord patient = sample_cell;
    patient.identity["train"]["patience"] = 2;
    patient.identity["epochs"] = 100;
    auto lines = samples::whole_trial("t1", patient);
    const auto without = [&](std::ptrdiff_t first, std::ptrdiff_t last) {  // epochs 0 to 3, then the evaluation
        lines.erase(lines.begin() + 3 + first, lines.begin() + 3 + last);
    };
    const auto judged = [&] {
        left_journal(path, as_lines(lines));
        Database d(path);
        CHECK(replay_dead_journals(d).problems.empty());
        CHECK(journals(path) == 0);
        return first_text(path, "SELECT status || ': ' || reason FROM trial");
    };
    const auto lost = [](int found, int expected) {
        return fmt::format("failed: {} of its {} epochs are recorded: its journal lost the others", found,
                           expected);
    };
    SECTION("whole") { CHECK(judged() == "ok: "); }
    SECTION("without one between") {
        without(2, 3);
        CHECK(judged() == lost(3, 4));
    }
    SECTION("without the last epoch") {
        without(3, 4);
        CHECK(judged() == lost(3, 4));
    }
    SECTION("without the last epoch and its evaluation") {
        without(3, 5);
        CHECK(judged() == lost(3, 101));
    }
    SECTION("without any") {
        without(0, 5);
        CHECK(judged() == lost(0, 101));
    }
    SECTION("without any but with the evaluation") {
        without(0, 4);
        CHECK(judged() == lost(0, 4));
    }
    SECTION("of independent workers, which never stop early") {
        json worker = lines[3]["ranks"][0];
        worker.update({{"type", "worker"},
                       {"trial", "t1"},
                       {"epoch", 0},
                       {"rank", 0},
                       {"warmup", true},
                       {"steps", 1},
                       {"samples", 10},
                       {"loss", 1.5},
                       {"end_s", 1.0},
                       {"averagings", json::array()}});
        lines[3] = std::move(worker);
        CHECK(judged() == lost(4, 101));
    }
}

TEST_CASE("a database rebuilt from a journal takes no line with a changed byte, its last one's end included") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    std::string bytes;
    for (const json& line : samples::whole_trial("t1", sample_cell)) bytes += journal_line(line) + "\n";
    Database d(path);
    SECTION("a digit of a time") {
        const std::size_t digit = bytes.find(R"("wall_s":7.0)");
        REQUIRE(digit != std::string::npos);
        bytes[digit + 9] = '1';
        left_journal(path, bytes);
        const ReplayResult result = replay_dead_journals(d);
        REQUIRE(result.problems.size() == 1);
        CHECK_THAT(result.problems[0], Catch::Contains("there-1-x.jsonl: line 7 is damaged, its checksum is not"));
        CHECK(first_text(path, "SELECT status FROM trial") == "failed");
        CHECK(count(path, "SELECT count(*) FROM epochs") == 6);
    }
    SECTION("the last line's end") {
        bytes.back() = 'x';
        left_journal(path, bytes);
        const ReplayResult result = replay_dead_journals(d);
        REQUIRE(result.problems.size() == 1);
        CHECK_THAT(result.problems[0], Catch::Contains("the end of the file is not part of a journal line"));
        CHECK(std::filesystem::exists(journal_folder(path) / "there-1-x.jsonl.damaged"));
    }
    SECTION("none") {
        left_journal(path, bytes);
        CHECK(replay_dead_journals(d).problems.empty());
        CHECK(first_text(path, "SELECT status FROM trial") == "ok");
    }
}

TEST_CASE("a journal of random bytes is reported and kept") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    const auto bytes =
        GENERATE(std::string("\x7f\x02 no line"), std::string("\x01\x02\n\x03\n"), std::string("{\"a\": \x01"));
    left_journal(path, bytes);
    Database d(path);
    CHECK(replay_dead_journals(d).problems.size() == 1);
    CHECK(std::filesystem::exists(journal_folder(path) / "there-1-x.jsonl.damaged"));
    CHECK(replay_dead_journals(d).journals == 0);
}

TEST_CASE("what a journal's lines say is judged before it is stored") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    const auto changed = [](std::size_t line, const char* key, const json& value) {
        auto lines = samples::whole_trial("t1", sample_cell);
        lines[line][key] = value;
        return lines;
    };
    auto negative = samples::whole_trial("t1", sample_cell);
    negative[4]["ranks"][0]["wall_s"] = -1;
    auto bytes = samples::whole_trial("t1", sample_cell);
    bytes[4]["ranks"][0]["volume"][0]["sent_bytes"] = -100;
    auto phase = samples::whole_trial("t1", sample_cell);
    phase[4]["ranks"][0]["phases"]["spmm"] = -0.5;
    const auto lines = GENERATE_COPY(values<std::vector<json>>(
        {changed(4, "epoch", std::numeric_limits<std::int64_t>::min()), changed(4, "epoch", 1e300),
         changed(4, "epoch", -1), changed(4, "epoch", std::numeric_limits<std::uint64_t>::max()),
         changed(1, "ranks", std::int64_t{1} << 40), changed(1, "ranks", -1), negative, bytes, phase}));
    left_journal(path, as_lines(lines));
    Database d(path);
    const ReplayResult result = replay_dead_journals(d);
    REQUIRE(result.problems.size() == 1);
    CHECK_THAT(result.problems[0], Catch::Contains("expected"));
    CHECK(count(path, "SELECT count(*) FROM epoch WHERE epoch NOT BETWEEN 0 AND 3") == 0);
}

TEST_CASE("a claim keeps others out until it is released, and is judged anew then") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    Journal mine = Journal::create(path), theirs = Journal::create(path);
    CHECK(claim_trial(d, mine, key, 0).state == ClaimState::claimed);
    CHECK(claim_trial(d, mine, key, 0).state == ClaimState::claimed);
    const Claim refused = claim_trial(d, theirs, key, 0);
    CHECK(refused.state == ClaimState::held_by_other);
    CHECK_THAT(refused.holder, Catch::Contains("process " + std::to_string(::getpid())));
    release_trial(d, theirs, key);  // not theirs to release
    CHECK(claim_trial(d, theirs, key, 0).state == ClaimState::held_by_other);
    CHECK(claim_trial(d, theirs, {key.cell_digest, key.machine, 1}, 0).state == ClaimState::claimed);

    d.apply(samples::whole_trial("t1", sample_cell));
    release_trial(d, mine, key);
    CHECK(claim_trial(d, theirs, key, 0).state == ClaimState::done_by_other);
    CHECK(claim_trial(d, theirs, key, 1).state == ClaimState::claimed);  // --rerun: it knew of that one
}

TEST_CASE("a dead process's claim is taken over, after what it measured was replayed") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    {
        Database make(path);
    }
    const auto lines = samples::whole_trial("t1", sample_cell);
    const auto claims = [&](Journal& journal) {
        Database d(path);
        claim_trial(d, journal, key, 0);
    };
    SECTION("it had finished the trial") {
        killed_host(path, lines, lines.size(), claims);
        Database d(path);
        Journal mine = Journal::create(path);
        CHECK(claim_trial(d, mine, key, 0).state == ClaimState::done_by_other);
    }
    SECTION("it had not") {
        killed_host(path, lines, 5, claims);
        Database d(path);
        Journal mine = Journal::create(path);
        CHECK(claim_trial(d, mine, key, 0).state == ClaimState::claimed);
        CHECK(first_text(path, "SELECT status FROM trials") == "interrupted");
    }
    SECTION("its journal is gone") {
        killed_host(path, lines, 0, claims);
        std::filesystem::remove_all(journal_folder(path));
        Database d(path);
        Journal mine = Journal::create(path);
        CHECK(claim_trial(d, mine, key, 0).state == ClaimState::claimed);
    }
}

TEST_CASE("eight processes share 40 trials: each is run once, though some are killed") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    constexpr int trials = 40;
    const auto host = [&](int h, bool dies) {
        Database d(path);
        Journal journal = Journal::create(path);
        for (int done = 0; done < trials;) {
            done = 0;
            for (int n = 0; n < trials; ++n) {
                const TrialKey k{key.cell_digest, key.machine, n};
                const Claim claim = claim_trial(d, journal, k, 0);
                done += claim.state == ClaimState::done_by_other;
                if (claim.state != ClaimState::claimed) continue;
                const std::string uuid = std::to_string(h) + "-" + std::to_string(n);
                const auto lines = samples::whole_trial(uuid, sample_cell, n);
                for (const json& line : lines) {
                    if (dies && n % 7 == h && line.at("type") == "evaluation") ::raise(SIGKILL);
                    journal.append(line);
                }
                if (dies && n % 5 == h) ::raise(SIGKILL);  // finished, but not applied
                d.apply(lines);
                release_trial(d, journal, k);
                ++done;
            }
        }
        journal.remove();
        return 0;
    };
    std::vector<pid_t> children;
    for (int h = 0; h < 8; ++h) {
        children.push_back(::fork());
        if (children.back() == 0) {
            int code = 1;
            try {
                code = host(h, h < 4);
            } catch (const std::exception& e) {
                (void)!::write(2, e.what(), std::strlen(e.what()));
            }
            ::_exit(code);
        }
    }
    for (std::size_t h = 0; h < children.size(); ++h) {
        int status = 1;
        ::waitpid(children[h], &status, 0);
        if (h >= 4) CHECK(status == 0);
    }
    Database d(path);
    replay_dead_journals(d);
    CHECK(count(path, "SELECT count(*) FROM trials WHERE status = 'ok'") == trials);
    CHECK(count(path, "SELECT count(DISTINCT number) FROM trials WHERE status = 'ok'") == trials);
    CHECK(count(path, "SELECT count(*) FROM trials WHERE status NOT IN ('ok', 'interrupted')") == 0);
    CHECK(count(path, "SELECT count(*) FROM claim") == 0);
    CHECK(first_text(path, "PRAGMA integrity_check") == "ok");
    CHECK(journals(path) == 0);
}

TEST_CASE("a job's journal is alive until its job is collected") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const auto journal = create_job_journal(path, "1a2b3c4d-0");
    const std::string name = journal.filename().string();
    CHECK(claim_trial(d, name, key, 0).state == ClaimState::claimed);
    Journal mine = Journal::create(path);
    CHECK(claim_trial(d, mine, key, 0).state == ClaimState::held_by_other);  // though nobody has it open
    CHECK(replay_dead_journals(d).journals == 0);

    const auto lines = samples::whole_trial("t1", sample_cell);
    const auto end_of = [](const std::string& trial) {
        return TrialOutcome{trial, TrialStatus::timeout, "Slurm's job 12 ended TIMEOUT", "", utc_now(), 3};
    };
    {
        WorkerJournal job(journal);
        for (std::size_t i = 0; i < 6; ++i) job.append(lines[i]);
        CHECK(collect_journal(d, journal, end_of).journals == 0);  // a process has it
    }
    const ReplayResult collected = collect_journal(d, journal, end_of);
    CHECK(collected.journals == 1);
    CHECK(collected.interrupted.empty());
    CHECK(first_text(path, "SELECT status || ': ' || reason FROM trial") ==
          "timeout: Slurm's job 12 ended TIMEOUT");
    CHECK(count(path, "SELECT max(epoch) FROM epochs") == 2);
    CHECK(count(path, "SELECT count(*) FROM claim") == 0);
    CHECK(collect_journal(d, journal, end_of).journals == 0);  // it is gone
    CHECK(claim_trial(d, mine, key, 1).state == ClaimState::claimed);
}
