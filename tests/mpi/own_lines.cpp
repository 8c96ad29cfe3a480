// Lines that ranks write of their own: at once where they reach the journal, by rank 0 after the training elsewhere.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gnnbench/transport.hpp>

#include "worker/records.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using nlohmann::json;

namespace {

/// A file that rank 0 makes, with a name that all ranks know.
std::filesystem::path shared_file(const ProcessGroup& world) {
    std::string path;
    if (world.rank() == 0) {
        path = (std::filesystem::temp_directory_path() / "gnnbench-own-lines-XXXXXX").string();
        const int fd = mkstemp(path.data());
        REQUIRE(fd >= 0);
        close(fd);
    }
    return world.all_gather(path).front();
}

std::vector<json> lines_of(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::vector<json> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
    return lines;
}

}  // namespace

TEST_CASE("ranks of one host reach the journal") { CHECK(on_host_of_rank_0(mpi_world())); }

TEST_CASE("every rank's own lines come into the journal once, with its trial") {
    const ProcessGroup world = mpi_world();
    const std::filesystem::path path = shared_file(world);
    {
        TrialRecord record(world, path.string(), "a-trial", world.rank() != 1);
        record.write_own("worker", {{"rank", world.rank()}, {"epoch", 0}});
        record.write_own("worker", {{"rank", world.rank()}, {"epoch", 1}});
        world.barrier();
        if (world.rank() == 0)
            for (const json& line : lines_of(path)) CHECK(line.at("rank") != 1);
        world.barrier();
        record.collect_own();
        record.collect_own();  // they are given away once
    }
    world.barrier();
    if (world.rank() == 0) {
        const std::vector<json> lines = lines_of(path);
        CHECK(lines.size() == 2 * static_cast<std::size_t>(world.size()));
        for (int r = 0; r < world.size(); ++r) {
            std::vector<int> epochs;
            for (const json& line : lines)
                if (line.at("rank") == r) epochs.push_back(line.at("epoch").get<int>());
            CHECK(epochs == std::vector<int>{0, 1});
        }
        for (const json& line : lines) {
            CHECK(line.at("trial") == "a-trial");
            CHECK(line.at("type") == "worker");
        }
        std::filesystem::remove(path);
    }
}

TEST_CASE("without a journal, nothing is kept or written") {
    const ProcessGroup world = mpi_world();
    TrialRecord record(world, "", "a-trial", false);
    record.write_own("worker", {{"rank", world.rank()}});
    record.collect_own();
    CHECK_FALSE(record.writes() != (world.rank() == 0));
}
