// Which clusters a batch has.
#include <numeric>
#include <set>

#include <catch2/catch.hpp>

#include <gnnbench/batches/source.hpp>

using namespace gnnbench;

namespace {

/// n clusters of one vertex each.
IndexMap singletons(Part n) {
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(n) + 1);
    std::iota(offsets.begin(), offsets.end(), 0);
    return {std::move(offsets), true, {}};
}

/// Clusters of worker r of p: runs, the first n mod p with one more.
std::set<Part> clusters_of_worker(Part n, Part p, Part r) {
    std::set<Part> all;
    const Part begin = r * (n / p) + std::min(r, n % p);
    for (Part c = begin; c < begin + n / p + (r < n % p ? 1 : 0); ++c) all.insert(c);
    return all;
}

}  // namespace

TEST_CASE("clusters that are divided among workers stay with them, each once an epoch") {
    for (const Part n : {1, 5, 12, 40})
        for (const Part workers : {1, 2, 3, 5})
            for (const std::int64_t per_batch : {1, 2, 3, 50})
                for (const bool shuffle : {false, true}) {
                    if (n < workers) continue;
                    INFO(n << " clusters, " << workers << " workers, " << per_batch << " a batch, shuffled "
                           << shuffle);
                    const IndexMap index = singletons(n);
                    const ClusterBatches batches(
                        index,
                        {.clusters_per_batch = per_batch, .shuffle = shuffle, .seed = 3, .workers = workers});
                    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
                        std::vector<std::set<Part>> trained(static_cast<std::size_t>(workers));
                        std::size_t total = 0;
                        for (std::int64_t b = 0; b < batches.batches(); ++b) {
                            const auto clusters = batches.clusters_of(epoch * batches.batches() + b);
                            CHECK(!clusters.empty());
                            CHECK(std::ssize(clusters) <= per_batch);
                            CHECK(std::ssize(clusters) <= batches.most_vertices());
                            trained[static_cast<std::size_t>(b % workers)].insert(clusters.begin(),
                                                                                  clusters.end());
                            total += clusters.size();
                        }
                        CHECK(total == static_cast<std::size_t>(n));
                        for (Part r = 0; r < workers; ++r)
                            CHECK(trained[static_cast<std::size_t>(r)] == clusters_of_worker(n, workers, r));
                    }
                }
}

TEST_CASE("a worker's clusters come in their order, or in another each epoch") {
    const IndexMap index = singletons(40);
    const auto order = [&](bool shuffle, std::int64_t epoch, std::int64_t worker) {
        const ClusterBatches batches(index, {.shuffle = shuffle, .seed = 3, .workers = 4});
        std::vector<Part> all;
        for (std::int64_t round = 0; round < 10; ++round)
            all.push_back(batches.clusters_of(epoch * 40 + round * 4 + worker).front());
        return all;
    };
    CHECK(order(false, 0, 1) == std::vector<Part>{10, 11, 12, 13, 14, 15, 16, 17, 18, 19});
    CHECK(order(false, 7, 1) == order(false, 0, 1));
    CHECK(order(true, 0, 1) != order(false, 0, 1));
    CHECK(order(true, 0, 1) != order(true, 1, 1));
    // Workers do not draw the same permutation of their places.
    auto of_second = order(true, 0, 2);
    for (Part& c : of_second) c -= 10;
    CHECK(of_second != order(true, 0, 1));
}
