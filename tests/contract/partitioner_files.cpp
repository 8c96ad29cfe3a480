// Partitions from files and from other programs: what is read, and what is said of files and programs that do not fit.
#include <chrono>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "contract/partitioner_case.hpp"

using namespace gnnbench;
using namespace gnnbench::partitioners;
using Catch::Matchers::Contains;

namespace {

const graphs::NamedGraph six = graphs::without_edges(6);

/// What `file` makes of a text, in `parts` parts of six vertices.
Partition read(const std::string& text, Part parts, Candidate::Settings settings = {}) {
    const test::TempFolder folder;
    const Candidate c = candidate("file");
    settings.emplace_back("path", folder.write("graph.part", text).string());
    return c.partition(six.view(), {.parts = parts}, c.with(settings), 0);
}

/// A program that is a shell script.
class Program {
public:
    explicit Program(const std::string& script) {
        std::filesystem::permissions(folder_.write("program", "#!/bin/sh\n" + script),
                                     std::filesystem::perms::owner_all);
    }
    Partition run(Candidate::Settings settings = {}, const graphs::NamedGraph& g = six) const {
        const Candidate c = candidate("command");
        settings.emplace_back("program", (folder_.path() / "program").string());
        return c.partition(g.view(), {.parts = 2}, c.with(settings), 7);
    }
    const test::TempFolder& folder() const { return folder_; }

private:
    test::TempFolder folder_;
};

/// What the program is given as {graph}.
std::string written(const std::string& format, const std::string& weights, const graphs::NamedGraph& g) {
    const Program copies("cp \"$1\" \"$3\"; for v in $(seq $4); do echo 0; done > \"$1.part.$2\"");
    const auto copy = copies.folder().path() / "copy";
    copies.run({{"format", format},
                {"weights", weights},
                {"arguments", "{graph} {parts} " + copy.string() + " " + std::to_string(g.view().vertices())}},
               g);
    std::ifstream in(copy);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("file: METIS' lines, PaToH's vectors, Graph-VB's sizes", "[contract][partitioner]") {
    const std::vector<Part> expected = {0, 0, 1, 1, 1, 2};
    CHECK(read("0\n0\n1\n1\n1\n2\n", 3).part_of == expected);
    CHECK(read("0 0 1 1\r\n 1 2", 3).part_of == expected);
    CHECK(read("1 1 2 2 2 3\n", 3, {{"first", "1"}}).part_of == expected);
    CHECK(read("2 3\n1\n", 3, {{"format", "sizes"}}).part_of == expected);
    CHECK(read("2 3 0 1", 4, {{"format", "sizes"}}).part_of == std::vector<Part>{0, 0, 1, 1, 1, 3});
}

TEST_CASE("file: one of another graph is refused with its place", "[contract][partitioner]") {
    CHECK_THROWS_WITH(read("0\n0\n1\n1\n1\n", 3), Contains("has the parts of 5 vertices; the graph has 6"));
    CHECK_THROWS_WITH(read("0\n0\n1\n1\n1\n2\n0\n", 3),
                      Contains("graph.part:7: this is a part more than the graph has vertices, 6"));
    CHECK_THROWS_WITH(
        read("0\n0\n\n3\n", 3),
        Contains("graph.part:4: part 3 of vertex 2; 3 parts were asked for") && Contains("count from 1?"));
    CHECK_THROWS_WITH(read("0\n-1\n", 3), Contains("graph.part:2: part -1 of vertex 1"));
    CHECK_THROWS_WITH(read("0\nzero\n", 3), Contains("graph.part:2: expected a whole number, found 'zero'"));
    CHECK_THROWS_WITH(read("0 1.5", 3), Contains("graph.part:1: expected a whole number, found '1.5'"));
    CHECK_THROWS_WITH(read("99999999999999999999999999999999", 3),
                      Contains("graph.part:1: expected a whole number"));
    CHECK_THROWS_WITH(read("", 3), Contains("has the parts of 0 vertices; the graph has 6"));
    const Candidate::Settings sizes = {{"format", "sizes"}};
    CHECK_THROWS_WITH(read("2 2", 2, sizes), Contains("sizes that sum to 4; the graph has 6 vertices"));
    CHECK_THROWS_WITH(read("2\n5", 2, sizes),
                      Contains("graph.part:2: 5 vertices in part 1; the graph has 6, of which 4"));
    CHECK_THROWS_WITH(read("6", 2, sizes), Contains("has the sizes of 1 part; 2 were asked for"));
    CHECK_THROWS_WITH(read("3 3 0", 2, sizes), Contains("graph.part:1: there are sizes of more than the 2 parts"));
    CHECK_THROWS_WITH(read("-1 7", 2, sizes), Contains("-1 vertices in part 0"));
    const Candidate c = candidate("file");
    CHECK_THROWS_WITH(c.partition(six.view(), {.parts = 2}, c.with("path", "/no/such/file"), 0),
                      Contains("/no/such/file cannot be read: No such file"));
    CHECK_THROWS_WITH(c.partition(six.view(), {.parts = 2}, c.with("path", "/"), 0), Contains("it is a folder"));
    CHECK_THAT(c.partitioner->why_unsupported({6, 0, false}, {.parts = 2}, c.defaults()), Contains("path"));
}

TEST_CASE("file and command: their outside input is what the files hold", "[contract][partitioner]") {
    const test::TempFolder folder;
    for (const char* param : {"path", "program"}) {
        const Candidate c = candidate(std::string(param) == "path" ? "file" : "command");
        const auto digest = [&](const std::string& text) {
            return c.partitioner->outside_input(c.with(param, folder.write("x", text).string()));
        };
        CHECK(digest("0 1") == digest("0 1"));
        CHECK(digest("0 1") != digest("1 0"));
        CHECK(c.partitioner->outside_input(c.defaults()).empty());
    }
}

TEST_CASE("command: writes the graph as METIS, hMETIS or PaToH read it", "[contract][partitioner]") {
    // Row 0 holds 1 and 2, row 2 holds 1 and itself. A ∪ Aᵀ has the edges 0-1, 0-2, 1-2.
    const auto g = graphs::from_entries("three", 3, {{0, 1}, {0, 2}, {2, 1}, {2, 2}});
    CHECK(written("metis", "none", g) == "3 3\n 2 3\n 1 3\n 1 2\n");
    CHECK(written("metis", "nonzeros", g) == "3 3 010\n3 2 3\n1 1 3\n2 1 2\n");
    // Net j: column j of Â with its diagonal.
    CHECK(written("hmetis", "none", g) == "3 3\n1\n2 1 3\n3 1\n");
    CHECK(written("hmetis", "nonzeros", g) == "3 3 10\n1\n2 1 3\n3 1\n3\n1\n2\n");
    CHECK(written("patoh", "nonzeros", g) == "0 3 3 6 1\n0\n1 0 2\n2 0\n3\n1\n2\n");
}

TEST_CASE("command: arguments are filled in, and the output may have any name", "[contract][partitioner]") {
    const Program program("echo \"$@\" > \"$0.words\"; printf '2 2 2 1 1 1' > my.parts");
    const Partition p = program.run({{"arguments", "-k {parts} -e {imbalance} --seed={seed} -t {threads}"},
                                     {"output", "my.parts"},
                                     {"imbalance", "0.05"},
                                     {"first", "1"}});
    CHECK(p.part_of == std::vector<Part>{1, 1, 1, 0, 0, 0});
    std::ifstream in(program.folder().path() / "program.words");
    std::string words;
    std::getline(in, words);
    CHECK_THAT(words, Contains("-k 2 -e 0.05 --seed=7 -t "));
}

TEST_CASE("command: a program that fails, hangs or writes nonsense is told about", "[contract][partitioner]") {
    CHECK_THROWS_WITH(Program("echo no license; exit 3").run(),
                      Contains("ended with exit code 3. It printed:\nno license"));
    CHECK_THROWS_WITH(Program("kill -9 $$").run(), Contains("ended by signal 9"));
    CHECK_THROWS_WITH(Program("true").run(), Contains("ended well, but wrote no graph.part.2"));
    CHECK_THROWS_WITH(Program("echo 0 1 > \"$1.part.$2\"").run(), Contains("has the parts of 2 vertices"));
    CHECK_THROWS_WITH(Program("echo 0 1 0 1 0 5 > \"$1.part.$2\"").run(), Contains("graph.part.2:1: part 5"));
    const auto begin = std::chrono::steady_clock::now();
    CHECK_THROWS_WITH(Program("exec sleep 60").run({{"limit_s", "0.2"}}), Contains("did not end within 0.2 s"));
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
    const Candidate c = candidate("command");
    const test::TempFolder folder;
    const auto text = folder.write("text", "no program");
    CHECK_THROWS_WITH(c.partition(six.view(), {.parts = 2}, c.with("program", text.string()), 0),
                      Contains(text.string() + " is not a program"));
    std::filesystem::permissions(text, std::filesystem::perms::owner_all);
    CHECK_THROWS_WITH(c.partition(six.view(), {.parts = 2}, c.with("program", text.string()), 0),
                      Contains("cannot start " + text.string()));
    CHECK_THAT(c.partitioner->why_unsupported({6, 0, false}, {.parts = 2}, c.defaults()), Contains("program"));
}
