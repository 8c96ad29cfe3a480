// Ranks check a store's blocks together: every block is some rank's, and what one of them finds all of them throw.
#include <fstream>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <gnnbench/error.hpp>
#include <gnnbench/process_group.hpp>
#include <gnnbench/temporary_folder.hpp>

#include "unit/data_support.hpp"
#include "worker/store_share.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using gnnbench::test::tiny_dataset;

namespace {

/// Nothing where all blocks are what was written.
std::string problem_of(const std::string& store, const ProcessGroup& group) {
    try {
        check_shares(Store::open(store), group, 1);
    } catch (const DataError& e) {
        return e.what();
    }
    return {};
}

}  // namespace

TEST_CASE("a damaged block fails all ranks, whoever reads it") {
    const ProcessGroup world = mpi_world();
    const TemporaryFolder folder("shares");
    const std::string store = world.all_gather((folder.path() / "s").string())[0];
    if (world.rank() == 0) write_store(store, tiny_dataset());
    world.barrier();
    CHECK(problem_of(store, world).empty());
    // Opening looks at the ends of row pointers itself.
    const std::vector<std::pair<const char*, int>> bytes_from_end{
        {"features.npy", 1}, {"indices.npy", 1},           {"indptr.npy", 16},          {"labels.npy", 1},
        {"masks.npy", 1},    {"transpose_indices.npy", 1}, {"transpose_indptr.npy", 16}};
    for (const auto& [file, from_end] : bytes_from_end) {
        const auto flip = [&, name = file, place = from_end] {
            world.barrier();
            if (world.rank() == 0) {
                std::fstream io(store + "/" + name, std::ios::in | std::ios::out | std::ios::binary);
                io.seekg(-place, std::ios::end);
                const char byte = static_cast<char>(io.get());
                io.seekp(-place, std::ios::end);
                io.put(static_cast<char>(byte ^ 0x10));
            }
            world.barrier();
        };
        flip();
        const std::string found = problem_of(store, world);
        CHECK_THAT(found, Catch::Contains(std::string(file) + ": bytes 0 to"));
        for (const std::string& other : world.all_gather(found)) CHECK(other == found);
        flip();
        CHECK(problem_of(store, world).empty());
    }
}
