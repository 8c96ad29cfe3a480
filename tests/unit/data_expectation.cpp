// Datasets that are only expected: sizes, names, digests, and what is refused.
#include <cmath>

#include <data/catalog.hpp>
#include <data/expectation.hpp>

#include "data_support.hpp"

using namespace gnnbench;
using namespace gnnbench::test;
using Catch::Contains;
using nlohmann::json;

namespace {

std::string refused(const json& source) {
    return message_of<SpecError>([&] { expected_dataset(source); });
}

}  // namespace

TEST_CASE("expected datasets have the papers' sizes") {
    const auto entries_with_loops = [](const char* profile) {
        const ExpectedDataset d = expected_dataset({{"expect", profile}});
        CHECK(d.assumed);
        CHECK(mean_degree(d.degrees) == Approx(static_cast<double>(d.entries) / static_cast<double>(d.vertices)));
        return d.entries + d.vertices;
    };
    CHECK(entries_with_loops("isolate-3-8m") == 1317986044);
    CHECK(entries_with_loops("products-14m") == 245036907);
    CHECK(entries_with_loops("europe_osm") == 159021338);
    const ExpectedDataset papers =
        expected_dataset({{"expect", "papers100m"}, {"entries", 1615685872}, {"directed", true}, {"classes", 32}});
    CHECK(papers.vertices == 111059956);
    CHECK(papers.entries == 1615685872);
    CHECK(papers.directed);
    CHECK(papers.classes == 32);
    CHECK(papers.features == 128);
    CHECK(mean_degree(papers.degrees) == Approx(1615685872.0 / 111059956.0).epsilon(1e-7));
    CHECK_FALSE(expected_dataset({{"expect", "cora"}}).assumed);
    CHECK(expected_dataset({{"expect", "cora"}}).entries == 10556);
    CHECK(expected_dataset({{"expect", "cora"}, {"scale", 10}}).vertices == 27080);
}

TEST_CASE("an expected dataset's digest is of its content, and its name shows what is not the profile's") {
    const json plain = {{"expect", "arxiv"}}, named = {{"expect", "arxiv"}, {"name", "A"}},
               wider = {{"expect", "arxiv"}, {"features", 7}};
    CHECK(expected_dataset(plain).name == "expected-arxiv");
    CHECK(expected_dataset(named).name == "A");
    CHECK_THAT(expected_dataset(wider).name, Catch::StartsWith("expected-arxiv-"));
    CHECK(expected_dataset(plain).digest == expected_dataset(named).digest);
    CHECK(expected_dataset(plain).digest != expected_dataset(wider).digest);
    const TempFolder folder;
    const ResolvedDataset resolved = ensure_dataset(plain, Catalog(folder.path()));
    CHECK(resolved.digest == expected_dataset(plain).digest);
    CHECK(resolved.store.empty());
    CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("what cannot be expected is refused with what was found and what is allowed") {
    CHECK_THAT(refused({{"expect", "papers100"}}), Contains("known are") && Contains("papers100m"));
    CHECK_THAT(refused({{"expect", 3}}), Contains("'expect' is 3, allowed is text"));
    CHECK_THAT(refused({{"expect", "arxiv"}, {"localty", 0.5}}), Contains("locality"));
    CHECK_THAT(refused({{"expect", "arxiv"}, {"split", 1}}), Contains("one split"));
    CHECK_THAT(refused({{"expect", "arxiv"}, {"scale", 1e6}}), Contains("2 to 2147483647 are allowed"));
    CHECK_THAT(refused({{"expect", "cora"}, {"entries", 100000000}}), Contains("have at most 7330556 entries"));
    CHECK_THAT(refused({{"expect", "proteins"}}), Contains("0 features and 0 classes; give features and classes"));
    CHECK_THAT(refused({{"expect", "arxiv"}, {"locality", 0.9}, {"halo", 2}}), Contains("1.37 entries of each"));
    CHECK_THAT(refused({{"expect", "arxiv"}, {"locality", 0.9}, {"cut_growth", 0.1}}), Contains("locality_parts"));
}

TEST_CASE("localities grow with the number of parts by their powers, up to a partition at random") {
    const ExpectedDataset d = expected_dataset({{"expect", "arxiv"},
                                                {"locality", 0.9},
                                                {"halo", 0.5},
                                                {"locality_parts", 8},
                                                {"cut_growth", 0.5},
                                                {"halo_growth", 1}});
    REQUIRE(d.partitioned);
    CHECK(shares_at(*d.partitioned, 1).inside == 1);
    CHECK(shares_at(*d.partitioned, 8).inside == Approx(0.9));
    CHECK(*shares_at(*d.partitioned, 8).halo == Approx(0.5));
    CHECK(shares_at(*d.partitioned, 32).inside == Approx(0.8));
    CHECK(*shares_at(*d.partitioned, 32).halo == Approx(2));
    CHECK(shares_at(*d.partitioned, 100000).inside == Approx(1e-5));
    CHECK_FALSE(expected_dataset({{"expect", "arxiv"}}).partitioned);
}

TEST_CASE("imbalances grow with the number of parts by their powers, from 1 to that number") {
    const json source = {{"expect", "arxiv"},     {"locality", 0.9},         {"halo", 0.5},
                         {"locality_parts", 16},  {"nonzero_imbalance", 2},  {"nonzero_imbalance_growth", 0.5},
                         {"halo_imbalance", 1.5}, {"vertex_imbalance", 1.03}};
    const ExpectedDataset d = expected_dataset(source);
    CHECK(shares_at(*d.partitioned, 1).imbalance.even());
    CHECK(shares_at(*d.partitioned, 16).imbalance == PartImbalance{1.03, 2, 1.5});
    CHECK(shares_at(*d.partitioned, 64).imbalance.nonzeros == Approx(4));
    CHECK(shares_at(*d.partitioned, 64).imbalance.halo == 1.5);
    CHECK(shares_at(*d.partitioned, 2).imbalance.nonzeros == 1);  // 2 ÷ √8 is less
    json steep = source;
    steep["nonzero_imbalance_growth"] = -1.5;
    CHECK(shares_at(*expected_dataset(steep).partitioned, 2).imbalance.nonzeros == 2);  // of 2 parts at most
    // Imbalances of 1 are what there is without them.
    json even = {{"expect", "arxiv"}, {"locality", 0.9}, {"halo", 0.5}};
    const std::string digest = expected_dataset(even).digest;
    even["nonzero_imbalance"] = 1;
    CHECK(expected_dataset(even).digest == digest);
    CHECK(shares_at(*expected_dataset(even).partitioned, 16).imbalance.even());
}

TEST_CASE("imbalances that cannot be are refused") {
    CHECK_THAT(refused({{"expect", "arxiv"}, {"nonzero_imbalance", 2}}), Contains("needs locality and halo"));
    CHECK_THAT(refused({{"expect", "arxiv"}, {"locality", 0.9}, {"halo_imbalance_growth", 1}}),
               Contains("halo_imbalance_growth is of a partitioner's parts"));
    json source = {{"expect", "arxiv"}, {"locality", 0.9}, {"halo", 0.5}, {"nonzero_imbalance", 9}};
    CHECK_NOTHROW(expected_dataset(source));
    source["nonzero_imbalance_growth"] = 0.5;
    CHECK_THAT(refused(source), Contains("locality_parts"));
    source["locality_parts"] = 8;
    CHECK_THAT(refused(source), Contains("nonzero_imbalance is 9; of 8 parts the largest has at most 8 times"));
    source["nonzero_imbalance"] = 0.9;
    CHECK_THAT(refused(source), Contains("nonzero_imbalance"));
}
