#include <chrono>
#include <thread>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include <data/catalog.hpp>
#include <data/store.hpp>
#include <unit/data_support.hpp>

using namespace gnnbench;
using namespace gnnbench::test;
using nlohmann::json;

namespace {

const json small = {{"generate", "dcsbm"}, {"vertices", 300}, {"average_degree", 6}};

std::vector<std::string> steps;
void note(const std::string& step) { steps.push_back(step); }

}  // namespace

TEST_CASE("dataset mappings are checked") {
    TempFolder folder;
    Catalog catalog(folder.path());
    auto refused = [&](const json& source) {
        return message_of<SpecError>([&] { resolve_dataset(source, catalog); });
    };
    CHECK_THAT(refused(json::object()),
               says("expected one of the keys store, path, generate and expect, found 0"));
    CHECK_THAT(refused({{"store", "a"}, {"path", "b"}}), says("found 2"));
    CHECK_THAT(refused({{"store", "a"}, {"seed", 1}}), says("unknown key 'seed' beside store"));
    CHECK_THAT(refused({{"store", 3}}), says("'store' is 3, allowed is text"));
    CHECK_THAT(refused({{"generate", "dcsbm"}, {"vertexes", 3}}), says("did you mean 'vertices'"));
    CHECK_THAT(refused({{"generate", "dcsbm"}, {"split", -1}}), says("'split' is -1"));
    auto data_refused = [&](const json& source) {
        return message_of<DataError>([&] { resolve_dataset(source, catalog); });
    };
    CHECK_THAT(data_refused({{"path", "/nowhere/a.mtx"}}), says("there is no file /nowhere/a.mtx"));
    CHECK_THAT(data_refused({{"store", "cora"}}), says("it has none: import or generate one"));
    write_store(folder / "tiny", tiny_dataset());
    CHECK_THAT(data_refused({{"store", "tinny"}}), says("there is no dataset 'tinny'"));
    CHECK_THAT(data_refused({{"store", "tinny"}}), says("did you mean 'tiny'"));
    CHECK_THAT(message_of<SpecError>([&] { ensure_dataset({{"store", "tiny"}, {"split", 1}}, catalog); }),
               says("split 1 was asked"));
    CHECK_THAT(message_of<EnvironmentError>([&] { ensure_dataset(small, Catalog("/proc/datasets")); }),
               says("/proc/datasets"));
}

TEST_CASE("a dataset is made once") {
    TempFolder folder;
    Catalog catalog(folder / "data");
    auto planned = resolve_dataset(small, catalog);
    CHECK(planned.digest.empty());
    CHECK_FALSE(fs::exists(folder / "data"));
    steps.clear();
    auto made = ensure_dataset(small, catalog, note);
    CHECK(steps ==
          std::vector<std::string>{fmt::format("creating the folder {} for datasets", (folder / "data").string()),
                                   "generating dataset dcsbm-300x6"});
    CHECK(made.store == planned.store);
    CHECK(made.name == "dcsbm-300x6");
    CHECK(made.digest == Store::open(made.store).manifest().digest);
    auto again = ensure_dataset(small, catalog, note);
    CHECK(steps.size() == 2);
    CHECK(again.digest == made.digest);
    CHECK(resolve_dataset(small, catalog).digest == made.digest);

    auto spelled = small;  // the same, with a default written out and a real number for a whole one
    spelled["features"] = 64.0;
    CHECK(ensure_dataset(spelled, catalog, note).store == made.store);
    auto other = small;
    other["seed"] = 2;
    CHECK(resolve_dataset(other, catalog).store != made.store);
    CHECK(resolve_dataset(other, catalog).name != made.name);
    CHECK(ensure_dataset({{"store", "dcsbm-300x6"}}, catalog).digest == made.digest);
    CHECK(ensure_dataset({{"store", made.store.string()}}, Catalog("/nowhere")).digest == made.digest);
    REQUIRE(catalog.list().size() == 1);
    CHECK(catalog.list()[0].manifest.vertices == 300);
}

TEST_CASE("two at once make it once, and remains of a killed one go") {
    TempFolder folder;
    Catalog catalog(folder.path());
    auto store = resolve_dataset(small, catalog).store;
    auto remains = folder / (".making-" + store.filename().string() + "-1");
    fs::create_directories(remains);
    std::vector<std::string> first, second;
    std::string digests[2];
    std::thread a(
        [&] { digests[0] = ensure_dataset(small, catalog, [&](const auto& s) { first.push_back(s); }).digest; });
    std::thread b(
        [&] { digests[1] = ensure_dataset(small, catalog, [&](const auto& s) { second.push_back(s); }).digest; });
    a.join();
    b.join();
    CHECK(digests[0] == digests[1]);
    CHECK_FALSE(fs::exists(remains));
    first.insert(first.end(), second.begin(), second.end());
    CHECK(std::ranges::count(first, "generating dataset dcsbm-300x6") == 1);
}

TEST_CASE("no lock stays behind, whether a store was made or not") {
    TempFolder folder;
    Catalog catalog(folder / "data");
    const auto left = [&] {
        std::vector<std::string> names;
        for (const auto& item : fs::directory_iterator(folder / "data"))
            if (item.path().filename().string().starts_with(".")) names.push_back(item.path().filename());
        return names;
    };
    const auto damaged = folder.write("damaged.mtx", "no matrix\n");
    CHECK_THROWS_AS(ensure_dataset({{"path", damaged.string()}}, catalog), DataError);
    CHECK(left().empty());
    ensure_dataset(small, catalog);
    CHECK(left().empty());
}

TEST_CASE("an import follows its file") {
    TempFolder folder;
    Catalog catalog(folder / "data");
    auto file = folder.write("g.txt", "0 1\n1 2\n");
    json source = {{"path", file.string()}};
    auto first = ensure_dataset(source, catalog);
    CHECK(first.name == "g");
    folder.write("g.txt", "0 1\n1 2\n2 0\n");
    auto second = ensure_dataset(source, catalog);
    CHECK(second.store != first.store);
    CHECK(Store::open(second.store).manifest().edges == 3);
    auto undirected = source;
    undirected["directed"] = false;
    undirected["name"] = "both ways";
    auto third = ensure_dataset(undirected, catalog);
    CHECK(third.name == "both ways");
    CHECK(Store::open(third.store).manifest().edges == 6);
    CHECK_THAT(message_of<DataError>([&] { catalog.find("g"); }), says("2 datasets named 'g'"));
}

TEST_CASE("the same bytes are the same dataset, wherever they lie and however old they are") {
    TempFolder folder;
    Catalog catalog(folder / "data");
    const auto file = folder.write("g.txt", "0 1\n1 2\n");
    const auto age = [](const fs::path& of) {
        fs::last_write_time(of, fs::file_time_type::clock::now() - std::chrono::hours(5));
    };
    const auto ensured = [&](const fs::path& path) { return ensure_dataset({{"path", path.string()}}, catalog); };
    const auto first = ensured(file);
    CHECK_FALSE(first.was_there);
    CHECK(ensured(file).was_there);
    age(file);
    const auto touched = ensured(file);
    CHECK(touched.store == first.store);
    CHECK(touched.was_there);
    fs::create_directory(folder / "copies");
    fs::copy_file(file, folder / "copies" / "g.txt");
    CHECK(ensured(folder / "copies" / "g.txt").store == first.store);
    CHECK(resolve_dataset({{"path", (folder / "copies" / "g.txt").string()}}, catalog).digest == first.digest);
    CHECK(catalog.find("g") == first.store);

    // Other bytes of the same size, and other options, are other datasets; so are the same bytes under another name.
    folder.write("copies/g.txt", "0 1\n2 1\n");
    const auto other = ensured(folder / "copies" / "g.txt");
    CHECK(other.store != first.store);
    CHECK_FALSE(other.was_there);
    CHECK(ensured(file).store == first.store);
    const auto both_ways = ensure_dataset({{"path", file.string()}, {"directed", false}, {"name", "g"}}, catalog);
    CHECK(both_ways.store != first.store);
    CHECK(ensure_dataset({{"path", file.string()}, {"name", "h"}}, catalog).name == "h");
    CHECK_THAT(message_of<DataError>([&] { catalog.find("g"); }), says("3 datasets named 'g'"));
}

TEST_CASE("a store that an older build imported is found, too, and learns of what bytes it is") {
    TempFolder folder;
    Catalog catalog(folder / "data");
    const auto file = folder.write("g.txt", "0 1\n1 2\n");
    const json source = {{"path", file.string()}};
    const auto made = ensure_dataset(source, catalog);
    // As the older build left it: in a folder named by the file's time, without a record.
    Manifest manifest = read_manifest(made.store / "manifest.json");
    manifest.imported = nullptr;
    const fs::path old = folder / "data" / "g-0123456789";
    fs::rename(made.store, old);
    std::ofstream(old / "manifest.json") << to_json(manifest).dump();
    const auto again = ensure_dataset(source, catalog);
    CHECK(again.store == old);
    CHECK(again.was_there);
    CHECK(again.digest == made.digest);
    CHECK(catalog.list().size() == 1);
    CHECK_FALSE(read_manifest(old / "manifest.json").imported.is_null());
    CHECK(resolve_dataset(source, catalog).store == old);
    // What it says there may be a stranger's.
    for (const json& nonsense : {json(7), json{{"how", 3}}, json{{"how", "a"}, {"files", {{{"path", 1}}}}}}) {
        manifest.imported = nonsense;
        std::ofstream(old / "manifest.json") << to_json(manifest).dump();
        CHECK(resolve_dataset(source, catalog).store != old);
    }
}

TEST_CASE("a store that somebody changed is found out, once it is asked for") {
    TempFolder folder;
    Catalog catalog(folder.path());
    auto made = ensure_dataset(small, catalog);
    auto labels = std::vector<std::int32_t>(300, 1);
    labels[17] = 99;
    write_npy<std::int32_t>(made.store / "labels.npy", labels, {300});
    fs::last_write_time(made.store / "labels.npy", fs::file_time_type::clock::now() + std::chrono::seconds(2));
    CHECK_THAT(message_of<DataError>([&] { ensure_dataset(small, catalog); }),
               says("label of vertex 17 is 99, allowed are 0 to 7"));
    CHECK_THAT(message_of<DataError>([&] { ensure_dataset({{"store", "dcsbm-300x6"}}, catalog); }),
               says("label of vertex 17"));
}

TEST_CASE("the environment says where datasets are") {
    ::setenv("GNNBENCH_DATA", "/somewhere", 1);
    CHECK(Catalog::at("").folder() == "/somewhere");
    CHECK(Catalog::at("here").folder() == "here");
    ::unsetenv("GNNBENCH_DATA");
    CHECK(Catalog::at("").folder() == "datasets");
}
