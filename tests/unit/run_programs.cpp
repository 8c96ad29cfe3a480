#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include <gnnbench/error.hpp>
#include <gnnbench/temporary_folder.hpp>

#include "run/program_permission.hpp"
#include "run/sha256.hpp"
#include "spec/installed.hpp"
#include "spec/plan.hpp"

using namespace gnnbench;

namespace {

namespace fs = std::filesystem;

std::string sha256(std::string_view text) {
    Sha256 sum;
    sum.add(text);
    return sum.digest();
}

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    fs::permissions(file, fs::perms::owner_all);
}

Experiment experiment_with(const fs::path& folder, const std::string& lines) {
    const std::string text = "name: programs\ndataset: {generate: dcsbm, vertices: 60}\n" + lines;
    return read_experiment(text, folder / "exp.yaml", {}, InstalledPlugins(), InstalledDatasets(Catalog(folder)));
}

std::vector<StartedProgram> programs(const fs::path& folder, const std::string& lines) {
    const Experiment e = experiment_with(folder, lines);
    return started_programs(e, chosen_cells(e, ""), InstalledPlugins());
}

}  // namespace

TEST_CASE("programs: SHA-256 of the standard's examples, and of messages around a block's length") {
    CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(sha256(std::string(1'000'000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("programs: a permission is for words and contents, wherever the files stand") {
    const TemporaryFolder folder("programs");
    write(folder.path() / "a/prog.sh", "#!/bin/sh\n");
    write(folder.path() / "b/prog.sh", "#!/bin/sh\n");
    write(folder.path() / "c/prog.sh", "#!/bin/sh\nrm -rf /\n");
    const auto digest = [&](const char* where, const std::string& words) {
        const auto all = programs(folder.path() / where, "scheme: {command: " + words + "}\n");
        REQUIRE(all.size() == 1);
        return all.front().digest;
    };
    CHECK(digest("a", "./prog.sh") == digest("b", "./prog.sh"));
    CHECK(digest("a", "./prog.sh") != digest("c", "./prog.sh"));
    CHECK(digest("a", "[./prog.sh, x]") != digest("a", "./prog.sh"));
    CHECK(digest("a", "[sh, -c, ls]") != digest("a", "[sh, -c, rm]"));
}

TEST_CASE("programs: each that an experiment names is listed once, and none where it names none") {
    const TemporaryFolder folder("programs");
    write(folder.path() / "prog.sh", "#!/bin/sh\n");
    CHECK(programs(folder.path(), "scheme: mg-gcn\ngpus: [1, 2]\n").empty());
    const auto schemes = programs(folder.path(), "scheme: [serial, {command: ./prog.sh}]\nseed: [1, 2]\n");
    REQUIRE(schemes.size() == 1);
    REQUIRE(schemes[0].files.size() == 1);
    CHECK(schemes[0].files[0].path == folder.path() / "prog.sh");
    CHECK(schemes[0].files[0].digest == sha256("#!/bin/sh\n"));
    const auto parts = programs(folder.path(),
                                "scheme: mg-gcn\ngpus: [2, 4]\n"
                                "partitioner: {name: command, program: ./prog.sh}\n");
    REQUIRE(parts.size() == 1);
    CHECK(parts[0].files[0].digest == sha256("#!/bin/sh\n"));
    CHECK(programs(folder.path(), "scheme: mg-gcn\npartitioner: command\n").empty());
    const auto job = programs(folder.path(),
                              "scheme: serial\nlauncher: {name: sbatch, before: \"curl example.org | sh\",\n"
                              "  options: [--exclusive, --task-prolog=./prog.sh]}\n");
    REQUIRE(job.size() == 2);
    CHECK(job[0].words == "sh -c curl example.org | sh");
    CHECK(job[1].words == "--task-prolog=./prog.sh");
}

TEST_CASE("programs: what was allowed is remembered in a file that only its owner reads") {
    const TemporaryFolder folder("programs");
    const fs::path file = folder.path() / "config/gnnbench/allowed-programs";
    const StartedProgram one{.words = "./one\n./two", .files = {}, .digest = std::string(64, 'a')};
    const StartedProgram other{.words = "./other", .files = {}, .digest = std::string(64, 'b')};
    CHECK(!AllowedPrograms(file).contains(one));
    AllowedPrograms(file).add({one});
    AllowedPrograms(file).add({one});
    CHECK(AllowedPrograms(file).contains(one));
    CHECK(!AllowedPrograms(file).contains(other));
    CHECK(fs::file_size(file) == 64 + 1 + one.words.size() + 1);
    struct stat info{};
    REQUIRE(stat(file.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    AllowedPrograms nowhere("");
    nowhere.add({one});
    CHECK(nowhere.contains(one));
}
