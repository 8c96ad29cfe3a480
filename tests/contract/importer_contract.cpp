// What every importer plugin must keep. Each file in the folder that GNNBENCH_CONTRACT_SAMPLES names, and the template's example,
// is imported by the plugin that recognises it.
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gnnbench/error.hpp>
#include <gnnbench/importer.hpp>

#include "data/import.hpp"
#include "data/external_graph.hpp"
#include "data/store.hpp"
#include "plugin/loader.hpp"
#include "unit/data_support.hpp"

using namespace gnnbench;
using namespace gnnbench::test;
using nlohmann::json;

namespace {

struct Sample {
    std::string format;
    fs::path file;
};

std::vector<Sample> samples() {
    std::vector<fs::path> folders = {GNNBENCH_IMPORTER_SAMPLES};
    if (const char* own = std::getenv("GNNBENCH_CONTRACT_SAMPLES")) folders.emplace_back(own);
    std::vector<Sample> found;
    const PluginCatalog catalog;
    for (const auto& folder : folders)
        for (const auto& item : fs::directory_iterator(folder))
            for (const auto& name : catalog.names(PluginKind::importer))
                if (catalog.importer(name)->recognises(item.path())) found.push_back({name, item.path()});
    return found;
}

std::string bytes_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("contract: importers can be used, and recognise nothing that is not there", "[contract][importer]") {
    const PluginCatalog catalog;
    const TempFolder folder;
    REQUIRE(!catalog.names(PluginKind::importer).empty());
    for (const auto& name : catalog.names(PluginKind::importer)) {
        INFO(name);
        const auto importer = catalog.importer(name);
        CHECK_FALSE(importer_summary(name).empty());
        CHECK(std::ranges::any_of(importer_params(name),
                                  [](const ParamDecl& p) { return p.name == std::string("loops"); }));
        for (const fs::path& nothing :
             {fs::path(), fs::path("/"), folder.path(), folder / "gone", folder.write("empty", "")})
            CHECK_FALSE(importer->recognises(nothing));
        CHECK_THROWS_AS(import_file(folder / "gone", name, json::object()), Error);
    }
}

TEST_CASE("contract: an importer's sample gives one store, valid, within little memory too",
          "[contract][importer]") {
    REQUIRE(!samples().empty());
    for (const auto& [format, file] : samples()) {
        INFO(format << " " << file);
        const TempFolder stores;
        const json options = {{"features", 3}};
        for (const auto& input : import_inputs(file, format)) CHECK(fs::exists(input));
        const auto digest = write_store(stores / "a", import_file(file, format, options)).digest;
        Store::open(stores / "a").check();
        CHECK(write_store(stores / "b", import_file(file, format, options)).digest == digest);
        const auto little = import_file(file, format, options, {.memory_bytes = 100, .folder = stores.path()});
        CHECK(little.outside);
        CHECK(write_store(stores / "c", little).digest == digest);
    }
}

TEST_CASE("contract: a file that was cut is refused or another, never more than that", "[contract][importer]") {
    for (const auto& [format, file] : samples()) {
        const auto whole = bytes_of(file);
        const TempFolder folder;
        for (std::size_t cut = 0; cut < 64; ++cut) {
            const auto name = file.filename().string();
            const auto path = folder.write(name, whole.substr(0, whole.size() * cut / 64));
            INFO(format << " " << name << ", the first " << fs::file_size(path) << " bytes");
            try {
                write_store(folder / "store", import_file(path, format, {{"features", 2}}));
            } catch (const DataError& e) {
                CHECK_THAT(e.what(), says(name));
            }
        }
    }
}

TEST_CASE("contract: the host validates what an importer gives", "[contract][importer]") {
    const TempFolder folder;
    const auto problem = [&](const std::string& text, const json& options = json::object()) {
        return message_of<DataError>(
            [&] { write_store(folder / "s", import_file(folder.write("a.sample-lines", text), "", options)); });
    };
    CHECK_THAT(problem("3 0\n0 3\n"), says("a.sample-lines:2: expected vertices below 3"));
    CHECK_THAT(problem("3 1\n0 1 2\n0 1 2\n", {{"repeats", "error"}}),
               says("edge 0 → 1") && says("is listed again"));
    for (const char* mode : {"short", "negative", "beyond", "twice", "throws", "features", "masks", "labels"}) {
        INFO(mode);
        const auto path = folder.write("a.sample-wrong", mode);
        CHECK_THAT(
            message_of<DataError>([&] { write_store(folder / "s", import_file(path, "", json::object())); }),
            says("a.sample-wrong"));
    }
    CHECK_THAT(message_of<SpecError>([&] { problem("3 0\n", {{"firstid", 1}}); }),
               says("did you mean 'first_id'?"));
    const auto one = import_file(folder.write("a.sample-lines", "3 0\n1 2\n3 3\n"), "",
                                 {{"first_id", 1}, {"directed", "false"}, {"loops", "drop"}, {"reverse", true}});
    CHECK(one.graph.indices == std::vector<std::int32_t>{1, 0});
    CHECK(one.graph.loops_dropped == 1);
    CHECK(one.options.at("format") == "sample-lines");
}
