#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include <gnnbench/error.hpp>

#include "record/journal.hpp"
#include "record/journal_line.hpp"
#include "record_samples.hpp"

using namespace gnnbench;
using nlohmann::json;

namespace {

std::string content(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

void put(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::app | std::ios::binary) << text;
}

}  // namespace

TEST_CASE("a journal that cannot be made says which and why") {
    samples::Folder folder;
    put(folder / "file", "in the way");
    CHECK_THROWS_AS(Journal::create(folder / "file" / "results.sqlite"), EnvironmentError);
    CHECK_THROWS_WITH(Journal::create(folder / "file" / "results.sqlite"),
                      Catch::Contains("results.sqlite.journals"));
    CHECK_THROWS_WITH(WorkerJournal(folder / "none.jsonl"), Catch::Contains("none.jsonl: No such file"));
    CHECK_THROWS_AS(JournalTail(folder / "none.jsonl"), EnvironmentError);
}

TEST_CASE("no room on the disk: an error with path and cause, and nothing torn") {
    samples::Folder folder;
    Journal journal = Journal::create(folder / "r.sqlite");
    journal.append({{"type", "epoch"}, {"n", 1}});
    const std::string before = content(journal.path());
    // A limit on the file's size makes write(2) fall short and then fail, as a full disk does.
    const int code = samples::in_child([&] {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{before.size() + 10, before.size() + 10};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        WorkerJournal worker(journal.path());
        try {
            worker.append({{"type", "epoch"}, {"text", std::string(100, 'x')}});
            return 1;  // no error
        } catch (const EnvironmentError& e) {
            const std::string text = e.what();
            return text.find(journal.path().string()) == std::string::npos ? 2
                   : text.find("File too large") == std::string::npos      ? 3
                                                                           : 0;
        }
    });
    CHECK(code == 0);
    CHECK(content(journal.path()) == before);
}

TEST_CASE("a torn last line is no line, and the next append starts on a fresh one") {
    samples::Folder folder;
    Journal journal = Journal::create(folder / "r.sqlite");
    JournalTail tail(journal.path());
    journal.append({{"n", 1}});
    put(journal.path(), R"({"n": 2, "torn)");
    CHECK(tail.poll() == std::vector<json>{{{"n", 1}}});
    CHECK(tail.poll().empty());
    journal.append({{"n", 3}});
    CHECK(tail.poll() == std::vector<json>{{{"n", 3}}});
    CHECK(tail.damaged_lines() == 1);
    CHECK(tail.first_damage() == R"(line 2 is damaged, it is no JSON object: {"n": 2, "torn)");
    // A fresh reader sees the same.
    JournalTail second(journal.path());
    CHECK(second.poll() == std::vector<json>{{{"n", 1}}, {{"n", 3}}});
}

TEST_CASE("a line nested without end is a damaged one, and nothing is taken apart by recursion") {
    samples::Folder folder;
    Journal journal = Journal::create(folder / "r.sqlite");
    const std::size_t depth = 2'000'000;
    put(journal.path(), R"({"type": )" + std::string(depth, '[') + std::string(depth, ']') + "}\n");
    journal.append({{"n", 1}});
    JournalTail tail(journal.path());
    CHECK(tail.poll() == std::vector<json>{{{"n", 1}}});
    CHECK(tail.damaged_lines() == 1);
}

TEST_CASE("host and workers append to one journal without mixing lines") {
    samples::Folder folder;
    Journal journal = Journal::create(folder / "r.sqlite");
    const std::string filler(5000, 'x');
    std::vector<pid_t> children;
    for (int w = 0; w < 4; ++w) {
        children.push_back(::fork());
        if (children.back() == 0) {
            WorkerJournal worker(journal.path());
            for (int i = 0; i < 100; ++i) worker.append({{"worker", w}, {"i", i}, {"filler", filler}});
            ::_exit(0);
        }
    }
    for (int i = 0; i < 100; ++i) journal.append({{"worker", 4}, {"i", i}});
    for (const pid_t child : children) {
        int status = 1;
        ::waitpid(child, &status, 0);
        CHECK(status == 0);
    }
    JournalTail tail(journal.path());
    std::vector<int> next(5, 0);
    for (auto lines = tail.poll(1000); !lines.empty(); lines = tail.poll(1000))
        for (const json& line : lines) CHECK(line.at("i") == next[line.at("worker").get<std::size_t>()]++);
    CHECK(next == std::vector<int>{100, 100, 100, 100, 100});
    CHECK(tail.damaged_lines() == 0);
}

TEST_CASE("bytes that are no UTF-8 do not stop a line") {
    samples::Folder folder;
    Journal journal = Journal::create(folder / "r.sqlite");
    journal.append({{"log_tail", "caf\xe9"}});
    JournalTail tail(journal.path());
    CHECK(tail.poll().at(0).at("log_tail") == "caf\xef\xbf\xbd");
}

TEST_CASE("a journal's folder is its owner's to write, whatever the umask") {
    samples::Folder folder;
    const mode_t before = ::umask(0);
    const Journal journal = Journal::create(folder / "r.sqlite");
    const auto job = create_job_journal(folder / "s.sqlite", "job");
    ::umask(before);
    for (const char* name : {"r.sqlite.journals", "s.sqlite.journals"})
        CHECK((std::filesystem::status(folder / name).permissions() & std::filesystem::perms::all) ==
              static_cast<std::filesystem::perms>(0755));
}

TEST_CASE("a journal lives as long as its host or one of its workers") {
    samples::Folder folder;
    std::filesystem::path path;
    {
        Journal journal = Journal::create(folder / "r.sqlite");
        path = journal.path();
        CHECK(DeadJournal(path).state() == DeadJournal::State::alive);
    }
    CHECK(DeadJournal(path).state() == DeadJournal::State::dead);
    {
        WorkerJournal worker(path);
        CHECK(DeadJournal(path).state() == DeadJournal::State::alive);
    }
    {
        const DeadJournal taken(path);
        CHECK(taken.state() == DeadJournal::State::dead);
        CHECK(DeadJournal(path).state() == DeadJournal::State::alive);  // only one replays it
        CHECK_THROWS_AS(WorkerJournal(path), EnvironmentError);
    }
    std::filesystem::remove(path);
    CHECK(DeadJournal(path).state() == DeadJournal::State::gone);
}

namespace {

/// The lines that a reader takes from a journal of these bytes, and how many it reports as damaged.
std::pair<std::vector<json>, std::int64_t> taken_from(const std::filesystem::path& path,
                                                      const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    JournalTail tail(path);
    auto lines = tail.poll();
    return {lines, tail.damaged_lines()};
}

}  // namespace

TEST_CASE("no changed bit of a line is accepted") {
    samples::Folder folder;
    const auto path = folder / "j.jsonl";
    // Floats, text that is escaped, an object in an object, and a line of nothing but its type.
    for (const json& line :
         {samples::epoch("t1", 1, false, 1.25, 2.5), samples::outcome("t1", "failed", "a \"b\"\n"),
          samples::trial("t1", samples::cell("mg-gcn", 2)), json{{"type", "x"}}}) {
        const std::string before = journal_line({{"n", 1}}) + "\n", after = journal_line({{"n", 3}}) + "\n";
        const std::string whole = journal_line(line) + "\n";
        REQUIRE(taken_from(path, before + whole + after).first == std::vector<json>{{{"n", 1}}, line, {{"n", 3}}});
        std::vector<std::size_t> accepted;
        for (std::size_t at = 0; at < whole.size(); ++at)
            for (int bit = 0; bit < 8; ++bit) {
                std::string changed = whole;
                changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
                const bool own_end = at + 1 == whole.size();
                if (!own_end && changed[at] != '\n') {
                    changed.pop_back();
                    if (read_journal_line(changed).object) accepted.push_back(at);
                    continue;
                }
                // Without its end a line takes the next one with it; a new end makes two of one.
                const auto [lines, damaged] = taken_from(path, before + changed + after);
                CHECK(damaged == (own_end ? 1 : 2));
                CHECK(lines.size() == (own_end ? 1 : 2));
            }
        CAPTURE(whole);
        CHECK(accepted == std::vector<std::size_t>());
    }
}

TEST_CASE("lines of older builds, which have no checksum, are read") {
    samples::Folder folder;
    const std::vector<json> lines = samples::whole_trial("t1", samples::cell("mg-gcn", 2));
    std::string bytes;
    for (const json& line : lines) bytes += line.dump() + "\n";
    const auto [read, damaged] = taken_from(folder / "j.jsonl", bytes + journal_line({{"n", 1}}) + "\n");
    CHECK(damaged == 0);
    REQUIRE(read.size() == lines.size() + 1);
    CHECK(std::equal(lines.begin(), lines.end(), read.begin()));
    CHECK(read.back() == json{{"n", 1}});
}
