// A scheme that is a program.
#include <filesystem>
#include <fstream>

#include "spec_fakes.hpp"

#include "spec/cell.hpp"

using namespace gnnbench;
using namespace gnnbench::test;
namespace fs = std::filesystem;

namespace {

std::string with(const std::string& scheme) {
    return "name: p\ndataset: {generate: grid, vertices: 9}\nmodel: {layers: gcn}\ngpus: 2\npartitioner: metis\n"
           "scheme: " +
           scheme + "\n";
}

}  // namespace

TEST_CASE("a program that cannot be meant is told") {
    CHECK(complaint(with("{command: []}")).find("found an empty list") != std::string::npos);
    CHECK(complaint(with("{command: {a: 1}}")).find("expected a command as a list of words") != std::string::npos);
    CHECK(complaint(with("{command: [a, []]}")).find("expected a command as a list of words") !=
          std::string::npos);
    CHECK(complaint(with("{command: ./a.py, name: serial}")).find("there is a scheme 'serial' already") !=
          std::string::npos);
    CHECK(complaint(with("{command: ./a.py, name: 'a b'}")).find("found 'a b'") != std::string::npos);
    CHECK(complaint(with("{command: ./a.py, overlap: true}")).find("no parameter 'overlap'") != std::string::npos);
    CHECK(complaint(with("{command: ./a.py, approximation: }"))
              .find("expected what the program does not train exactly") != std::string::npos);
    CHECK(complaint("name: p\ndataset: cora\nscheme: serial\nkernel: {command: ./a}\n")
              .find("a mapping without 'name'") != std::string::npos);
}

TEST_CASE("a program's words are kept as written, and its paths made absolute beside them") {
    const Experiment e =
        read(with("{command: [python3, ./train.py, --data=./x, 3], name: mine}"), {}, "", "/exp/e.yaml");
    REQUIRE(e.cells.size() == 1);
    const PluginChoice& scheme = e.cells[0].scheme;
    CHECK(scheme.is_program());
    CHECK(scheme.label == "mine");
    CHECK(scheme.command == std::vector<std::string>{"python3", "./train.py", "--data=./x", "3"});
    CHECK(scheme.program == std::vector<std::string>{"python3", "/exp/train.py", "--data=./x", "3"});
    CHECK(e.cells[0].partitioner.label == "none");
    CHECK(read(with("{command: [./train.py, --bias, True]}")).cells[0].scheme.command.at(2) == "True");
    CHECK(read(with("{command: ../other/train.py}"), {}, "", "/exp/e.yaml").cells[0].scheme.name == "train");
}

TEST_CASE("another folder is the same cell; other words, another name or another program are not") {
    const auto digest = [](const std::string& scheme, const std::string& file) {
        return cell_digest(read(with(scheme), {}, "", file).cells[0]);
    };
    const std::string one = digest("{command: [./a, x]}", "/one/e.yaml");
    CHECK(one == digest("{command: [./a, x]}", "/two/e.yaml"));
    CHECK(one != digest("{command: [./a, y]}", "/one/e.yaml"));
    CHECK(one != digest("{command: [./a, x], name: b}", "/one/e.yaml"));
    CHECK(one != digest("{command: [./a, x], approximation: batches}", "/one/e.yaml"));

    const fs::path folder = fs::temp_directory_path() / ("gnnbench-program-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    std::ofstream(folder / "a") << "first";
    const std::string before = digest("{command: [./a, x]}", folder / "e.yaml");
    std::ofstream(folder / "a") << "second";
    CHECK(before != digest("{command: [./a, x]}", folder / "e.yaml"));
    fs::remove_all(folder);
}

TEST_CASE("a worker reads what the host wrote of a program") {
    const Cell cell = read(with("{command: [./a, x], approximation: batches}"), {}, "", "/one/e.yaml").cells[0];
    CHECK(program_approximation(cell) == "batches");
    const Cell again = cell_from_json(to_json(cell, JsonFor::worker));
    CHECK(again.scheme.command == cell.scheme.command);
    CHECK(again.scheme.program == cell.scheme.program);
    CHECK(program_approximation(again) == "batches");
    CHECK(cell_digest(again) == cell_digest(cell));
    CHECK(to_json(cell, JsonFor::identity).at("scheme").count("program") == 0);
}
