#include <catch2/catch.hpp>

#include <gnnbench/volume.hpp>

using namespace gnnbench;
using namespace gnnbench::counting;

namespace {

Traffic over_ranks(int k, auto&& of_rank) {
    Traffic sum;
    for (int i = 0; i < k; ++i) sum += of_rank(i);
    return sum;
}

}  // namespace

TEST_CASE("blocks as equal as possible add up, the first ones larger") {
    CHECK(even_block_bytes(10, 4, 3, 0) == 16);
    CHECK(even_block_bytes(10, 4, 3, 1) == 12);
    CHECK(even_block_bytes(10, 4, 3, 2) == 12);
    CHECK(even_block_bytes(2, 4, 3, 2) == 0);
}

TEST_CASE("counting rules by hand: 12 bytes among 3 ranks, and 2 elements of 4 bytes") {
    CHECK(broadcast(12, 3, true) == Traffic{24, 0, 1});
    CHECK(broadcast(12, 3, false) == Traffic{0, 12, 1});
    CHECK(reduce(12, 3, true) == Traffic{0, 24, 1});
    CHECK(reduce(12, 3, false) == Traffic{12, 0, 1});
    CHECK(all_gather(12, 4, 3) == Traffic{8, 8, 1});
    CHECK(all_gather(12, 0, 3) == Traffic{0, 12, 1});
    CHECK(reduce_scatter(12, 4, 3) == Traffic{8, 8, 1});
    CHECK(all_reduce(12, 4, 3) == Traffic{16, 16, 1});
    CHECK(all_reduce(8, 0, 3) == Traffic{8, 8, 1});  // 2 elements: the third rank's block is empty
    const std::int64_t sent[] = {5, 7, 0}, received[] = {0, 9, 2};
    CHECK(all_to_all(sent, received, 1) == Traffic{5, 2, 1});
}

TEST_CASE("one rank alone, or no bytes, is no operation") {
    CHECK(broadcast(12, 1, true) == Traffic{});
    CHECK(all_reduce(12, 12, 1) == Traffic{});
    CHECK(all_gather(0, 0, 3) == Traffic{});
    CHECK(reduce_scatter(0, 0, 3) == Traffic{});
}

TEST_CASE("the ranks together receive what they send, for every operation, size and number of ranks") {
    for (const int k : {1, 2, 3, 4, 7, 8})
        for (const std::int64_t elements : {0, 1, 2, 5, 12, 100}) {
            const std::int64_t x = 4 * elements;
            const auto block = [&](int i) { return even_block_bytes(elements, 4, k, i); };
            const auto balanced = [&](const char* name, const Traffic& t) {
                INFO(name << " of " << x << " bytes among " << k << ": sent " << t.sent_bytes << ", received "
                          << t.received_bytes);
                CHECK(t.sent_bytes == t.received_bytes);
            };
            balanced("broadcast", over_ranks(k, [&](int i) { return broadcast(x, k, i == 0); }));
            balanced("reduce", over_ranks(k, [&](int i) { return reduce(x, k, i == 0); }));
            balanced("all-gather", over_ranks(k, [&](int i) { return all_gather(x, block(i), k); }));
            balanced("reduce-scatter", over_ranks(k, [&](int i) { return reduce_scatter(x, block(i), k); }));
            const Traffic ar = over_ranks(k, [&](int i) { return all_reduce(x, block(i), k); });
            balanced("all-reduce", ar);
            if (k > 1) CHECK(ar.sent_bytes == 2 * (k - 1) * x);
        }
}

TEST_CASE("a difference of volumes names the operation and both numbers") {
    const VolumeKey ids{CommOp::all_to_all, Content::metadata};
    const Volume moved{{ids, {4, 8, 1}}}, nothing{{ids, {}}};
    CHECK(difference(nothing, {}) == "");
    CHECK(difference(moved, moved) == "");
    CHECK(difference(moved, {}) ==
          "all-to-all metadata: stated 4 sent, 8 received, 1 messages; counted 0, 0, 0\n");
}

TEST_CASE("a bound on a volume is of payload, in each operation") {
    const auto volume = [](CommOp op, Content content, Traffic t) { return Volume{{{op, content}, t}}; };
    const StatedVolume bound{volume(CommOp::point_to_point, Content::payload, {80, 80, 2}),
                             StatedVolume::Means::at_most};
    CHECK(difference(bound, {}) == "");
    CHECK(difference(bound, bound.volume) == "");
    CHECK(difference(bound, volume(CommOp::one_sided, Content::metadata, {800, 800, 100})) == "");
    CHECK(difference(bound, volume(CommOp::point_to_point, Content::payload, {80, 88, 2})) ==
          "point-to-point payload: stated at most 80 sent, 80 received, 2 messages; counted 80, 88, 2\n");
    CHECK(difference(bound, volume(CommOp::broadcast, Content::payload, {8, 0, 1})) != "");
}
