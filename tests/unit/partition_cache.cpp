#include <algorithm>
#include <thread>

#include <catch2/catch.hpp>

#include "partition/cache.hpp"
#include "unit/data_support.hpp"

using namespace gnnbench;
namespace fs = std::filesystem;

namespace {

KeptPartition four(Part other) {
    return {.partition = {.parts = 3, .part_of = {0, other, 2, 0}, .column_part_of = {}, .order = {3, 2, 1, 0}},
            .wall_s = 1.5};
}

fs::path only_file(const fs::path& folder) {
    REQUIRE(std::distance(fs::directory_iterator(folder), {}) == 1);
    return fs::directory_iterator(folder)->path();
}

std::string contents(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a kept partition comes back as it was, under its key alone") {
    const test::TempFolder folder;
    const PartitionCache cache(folder / "partitions");
    CHECK_FALSE(cache.find("a", {.parts = 3}, {4}));
    cache.keep("a", four(1));
    CHECK(cache.holds("a"));
    CHECK_FALSE(cache.holds("b"));
    const auto found = cache.find("a", {.parts = 3}, {4});
    REQUIRE(found);
    CHECK(found->partition.part_of == std::vector<Part>{0, 1, 2, 0});
    CHECK(found->partition.order == std::vector<std::int32_t>{3, 2, 1, 0});
    CHECK(found->wall_s == 1.5);
    fs::copy(folder / "partitions" / "a.partition", folder / "partitions" / "b.partition");
    CHECK_FALSE(cache.find("b", {.parts = 3}, {4}));
}

TEST_CASE("a kept vertex cut comes back with the parts of its entries, to who needs one of such a graph") {
    const test::TempFolder folder;
    const PartitionCache cache(folder.path());
    KeptPartition cut = four(1);
    cut.partition.part_of_entry = {2, 0, 1};
    for (const auto& [need, graph] :
         {std::pair{PartitionNeed{.parts = 3}, GraphSize{4, 3}}, {{.parts = 3, .vertex_cut = true}, {4, 2}}}) {
        cache.keep("a", cut);
        CHECK_FALSE(cache.find("a", need, graph));
    }
    cache.keep("a", cut);
    const auto found = cache.find("a", {.parts = 3, .vertex_cut = true}, {4, 3});
    REQUIRE(found);
    CHECK(found->partition.part_of_entry == std::vector<Part>{2, 0, 1});
    CHECK(found->partition.order == std::vector<std::int32_t>{3, 2, 1, 0});
}

TEST_CASE("a kept partition of another need, or that holds what it must not, is not used") {
    const test::TempFolder folder;
    const PartitionCache cache(folder.path());
    const std::vector<std::pair<PartitionNeed, std::int64_t>> others = {
        {{.parts = 4}, 4}, {{.parts = 3}, 5}, {{.parts = 3, .column_parts = 3}, 4}};
    for (const auto& [need, vertices] : others) {
        cache.keep("a", four(1));
        CHECK_FALSE(cache.find("a", need, {vertices}));
    }
    cache.keep("a", four(3));
    CHECK_FALSE(cache.find("a", {.parts = 3}, {4}));
    CHECK_FALSE(cache.holds("a"));  // it is gone
}

TEST_CASE("a kept partition that was damaged, at any byte, is not used and goes") {
    const test::TempFolder folder;
    const PartitionCache cache(folder.path());
    cache.keep("a", four(1));
    const std::string whole = contents(only_file(folder.path()));
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (const bool cut : {false, true}) {
            std::string damaged = whole;
            if (cut)
                damaged.resize(at);
            else
                damaged[at] = static_cast<char>(damaged[at] ^ 4);
            folder.write("a.partition", damaged);
            INFO((cut ? "cut at " : "changed at ") << at);
            CHECK_FALSE(cache.find("a", {.parts = 3}, {4}));
            CHECK_FALSE(cache.holds("a"));
        }
    folder.write("a.partition", whole);
    CHECK(cache.find("a", {.parts = 3}, {4}));
}

TEST_CASE("kept partitions stay within their limit; those used last stay") {
    const test::TempFolder folder;
    const PartitionCache one(folder.path());
    one.keep("a", four(1));
    const auto bytes = static_cast<std::int64_t>(fs::file_size(only_file(folder.path())));
    const PartitionCache cache(folder.path(), 2 * bytes + bytes / 2);
    const auto age = [&](const std::string& key, int hours) {
        fs::last_write_time(folder / (key + ".partition"),
                            fs::file_time_type::clock::now() - std::chrono::hours(hours));
    };
    age("a", 3);
    cache.keep("b", four(1));
    age("b", 2);
    CHECK(cache.find("a", {.parts = 3}, {4}));  // used now
    folder.write("c.4711-0", "a draft of a killed process");
    fs::last_write_time(folder / "c.4711-0", fs::file_time_type::clock::now() - std::chrono::hours(2));
    cache.keep("c", four(1));
    CHECK(cache.holds("a"));
    CHECK_FALSE(cache.holds("b"));
    CHECK(cache.holds("c"));
    CHECK_FALSE(fs::exists(folder / "c.4711-0"));
    const PartitionCache tiny(folder / "tiny", 10);
    tiny.keep("a", four(1));
    CHECK_FALSE(tiny.holds("a"));
}

TEST_CASE("partitions are kept and found by several at once; a folder that cannot be is no error") {
    const test::TempFolder folder;
    std::vector<std::thread> all;
    std::atomic<int> wrong = 0, found = 0;
    for (int t = 0; t < 4; ++t)
        all.emplace_back([&] {
            const PartitionCache cache(folder.path());
            for (int i = 0; i < 50; ++i) {
                cache.keep("a", four(1));
                if (const auto p = cache.find("a", {.parts = 3}, {4}))
                    ++found, wrong += p->partition.part_of != four(1).partition.part_of;
            }
        });
    for (std::thread& t : all) t.join();
    CHECK(wrong == 0);
    CHECK(found > 0);
    const PartitionCache nowhere("/proc/no/such/folder");
    CHECK_NOTHROW(nowhere.keep("a", four(1)));
    CHECK_FALSE(nowhere.find("a", {.parts = 3}, {4}));
}
