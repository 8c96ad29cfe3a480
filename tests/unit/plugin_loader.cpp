#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>

#include "contract/graphs.hpp"
#include "plugin/agreement.hpp"
#include "plugin/description.hpp"
#include "plugin/loader.hpp"

using namespace gnnbench;
namespace fs = std::filesystem;
using Catch::Matchers::Contains;

namespace {

const fs::path fixtures = GNNBENCH_TEST_PLUGINS;

fs::path fixture(const std::string& name) { return fixtures / ("libpartitioner_" + name + ".so"); }

/// A folder of this test's own, removed with it.
struct TemporaryFolder {
    fs::path path = fs::temp_directory_path() / ("gnnbench-plugin-test-" + std::to_string(::getpid()));
    TemporaryFolder() { fs::create_directories(path); }
    ~TemporaryFolder() { fs::remove_all(path); }
};

std::string refusal(const std::string& name) {
    try {
        PluginLibrary::open(fixture(name), PluginKind::partitioner, name);
    } catch (const PluginError& e) {
        return e.what();
    }
    return {};
}

const ListedPlugin& entry(const std::vector<ListedPlugin>& list, const fs::path& file) {
    for (const ListedPlugin& p : list)
        if (p.file == file) return p;
    throw LogicError("not listed");
}

}  // namespace

TEST_CASE("loader: another interface version is refused, both versions named", "[plugin]") {
    const std::string said = refusal("other_api");
    CHECK_THAT(said, Contains(fixture("other_api").string()));
    CHECK_THAT(said, Contains("version 4711"));
    CHECK_THAT(said, Contains("version " + std::to_string(GNNBENCH_CORE_VERSION)));
    CHECK_THAT(said, Contains("Rebuild"));
}

TEST_CASE("loader: another version of a toolkit is refused where a plugin links it, and only there", "[plugin]") {
    const std::string said = refusal("other_training");
    CHECK_THAT(said, Contains("version 4711 of the plugin interface's training"));
    CHECK_THAT(said, Contains("has version " + std::to_string(GNNBENCH_TRAINING_VERSION)));
    CHECK_THAT(said, Contains("Rebuild"));

    const auto of = [](std::vector<std::string> libraries) {
        FileDescription file = read_description(fixture("good")).value();
        file.libraries = std::move(libraries);
        return why_not_loaded(file);
    };
    const std::string training = "libgnnbench_training.so.", batches = "libgnnbench_batches.so.";
    CHECK(of({"libc.so.6", training + std::to_string(GNNBENCH_TRAINING_VERSION)}).empty());
    CHECK_THAT(of({batches + "0", "libc.so.6"}), Contains("version 0 of the plugin interface's batches"));
    CHECK_THAT(of({training + std::to_string(GNNBENCH_TRAINING_VERSION) + "0"}), Contains("training"));
}

TEST_CASE("loader: another build is refused, both builds named", "[plugin]") {
    const std::string said = refusal("other_build");
    CHECK_THAT(said, Contains("[compiler of tomorrow]"));
    CHECK_THAT(said, Contains(GNNBENCH_BUILD_ID));
}

TEST_CASE("loader: a library that is no plugin is refused with what is missing", "[plugin]") {
    CHECK_THAT(refusal("no_info"), Contains("exports no gnnbench_plugin_info"));
    CHECK_THAT(refusal("wrong_magic"), Contains("does not begin with"));
    CHECK_THAT(refusal("no_create"), Contains("exports no gnnbench_plugin_create"));
    CHECK_THAT(refusal("misnamed"), Contains("partitioner \"something-else\""));
    CHECK_THAT(refusal("there_is_no_such_file"), Contains("cannot be opened"));
}

TEST_CASE("loader: a missing symbol is refused at once, and blamed on the version where that differs",
          "[plugin]") {
    CHECK_THAT(refusal("unresolved"), Contains("nowhere_to_be_found"));
    CHECK_THAT(refusal("unresolved_other_api"), Contains("version 4711"));
}

TEST_CASE("loader: a file that is no library is refused and breaks no other", "[plugin]") {
    TemporaryFolder folder;
    const fs::path broken = folder.path / "libpartitioner_broken.so";
    std::ofstream(broken) << "not a library\n";
    fs::copy_file(fixture("good"), folder.path / "libpartitioner_good.so");
    std::ofstream(folder.path / "README") << "no plugin by its name\n";

    const PluginCatalog catalog({folder.path});
    const auto list = catalog.list();
    REQUIRE(list.size() == 2);
    CHECK_THAT(entry(list, broken).refused, Contains(broken.string()));
    CHECK(entry(list, folder.path / "libpartitioner_good.so").usable());
    CHECK_NOTHROW(catalog.partitioner("good"));
    CHECK_THROWS_AS(catalog.partitioner("broken"), PluginError);
}

TEST_CASE("loader: a library that was cut short is refused, wherever it was cut", "[plugin]") {
    TemporaryFolder folder;
    const fs::path cut = folder.path / "libpartitioner_good.so";
    const auto whole = fs::file_size(fixture("good"));
    for (const auto size : {whole / 64, whole / 8, whole / 3, whole / 2, whole - 1}) {
        fs::copy_file(fixture("good"), cut, fs::copy_options::overwrite_existing);
        fs::resize_file(cut, size);
        INFO(size << " of " << whole << " bytes");
        CHECK_THROWS_AS(PluginLibrary::open(cut, PluginKind::partitioner, "good"), PluginError);
    }
}

TEST_CASE("loader: what is no plugin by its file runs nothing", "[plugin]") {
    ::unsetenv("GNNBENCH_TEST_CONSTRUCTED");
    CHECK_THROWS_WITH(PluginLibrary::open(fixtures / "hostile/libpartitioner_constructed.so",
                                          PluginKind::partitioner, "constructed"),
                      Contains("exports no gnnbench_plugin_info"));
    CHECK(std::getenv("GNNBENCH_TEST_CONSTRUCTED") == nullptr);
}

TEST_CASE("loader: a pipe or a folder with a plugin's name is refused, and not waited for", "[plugin]") {
    TemporaryFolder folder;
    const fs::path pipe = folder.path / "libpartitioner_pipe.so", inner = folder.path / "libpartitioner_folder.so";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    fs::create_directory(inner);
    CHECK_THROWS_WITH(PluginLibrary::open(pipe, PluginKind::partitioner, "pipe"), Contains("no regular file"));
    CHECK_THROWS_WITH(PluginLibrary::open(inner, PluginKind::partitioner, "folder"), Contains("no regular file"));
}

TEST_CASE("loader: damaged headers of a library are refused or opened, and crash nothing", "[plugin]") {
    TemporaryFolder folder;
    std::ifstream in(fixture("good"), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    const fs::path damaged = folder.path / "libpartitioner_good.so";
    for (std::size_t at = 0; at < 64 + 6 * 56; ++at) {  // the header and the first segments
        std::string bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ 0xff);
        std::ofstream(damaged, std::ios::binary) << bytes;
        try {
            read_description(damaged);  // reads data only; whether the loader would take it is another question
        } catch (const PluginError&) {
        }
    }
    CHECK(read_description(fixture("good")).value().info.core_version == GNNBENCH_CORE_VERSION);
    CHECK_FALSE(read_description(fixture("no_info")).has_value());
}

TEST_CASE("loader: a folder that anyone can write to is told", "[plugin]") {
    TemporaryFolder folder;
    fs::permissions(folder.path, fs::perms::owner_all);
    CHECK(exposed_folders({folder.path, folder.path / "missing"}).empty());
    fs::permissions(folder.path, fs::perms::all);
    const auto said = exposed_folders({folder.path});
    REQUIRE(said.size() == 1);
    CHECK_THAT(said[0], Contains("anyone can write to the plugin folder " + folder.path.string()));
}

TEST_CASE("loader: an unknown name says what is near and what there is", "[plugin]") {
    const PluginCatalog catalog({fixtures});
    CHECK_THROWS_WITH(catalog.find(PluginKind::partitioner, "goood"),
                      Contains("did you mean 'good'?") && Contains("other_api"));
    CHECK_THROWS_WITH(catalog.find(PluginKind::strategy, "serial"),
                      Contains(fixtures.string()) && Contains("GNNBENCH_PLUGIN_PATH"));
}

TEST_CASE("loader: an empty or missing folder holds nothing", "[plugin]") {
    const PluginCatalog catalog({fixtures / "there-is-no-such-folder"});
    CHECK(catalog.list().empty());
    CHECK(catalog.names(PluginKind::partitioner).empty());
}

TEST_CASE("loader: a good plugin tells about itself and works after its catalog is gone", "[plugin]") {
    std::unique_ptr<Partitioner> partitioner;
    PluginDescription good;
    {
        const PluginCatalog catalog({fixtures});
        good = catalog.find(PluginKind::partitioner, "good");
        partitioner = catalog.partitioner("good");
    }
    CHECK(good.version == "1.2.3");
    CHECK(good.file == fixture("good"));
    REQUIRE(good.params.size() == 2);
    CHECK(std::string(good.params[0].name) == "tries");
    CHECK(std::string(good.params[1].name) == "order");  // from the host, to every partitioner
    const Params params(good.params);
    CHECK(params.integer("tries") == 4);

    const std::vector<std::int64_t> indptr = {0, 0, 0};
    const DatasetView data = graphs::bare({.indptr = indptr, .indices = {}, .weights = {}});
    const Partition p =
        partitioner->partition({.dataset = data, .model = {}, .need = {.parts = 3}, .params = params});
    CHECK(p.parts == 3);
    CHECK(p.part_of == std::vector<Part>{0, 0});
}

TEST_CASE("loader: the first folder wins, and the list tells what it hides", "[plugin]") {
    TemporaryFolder folder;
    const fs::path first = folder.path / "libpartitioner_good.so";
    fs::copy_file(fixture("good"), first);
    const PluginCatalog catalog({folder.path, fixtures, folder.path});

    CHECK(catalog.find(PluginKind::partitioner, "good").file == first);
    const auto list = catalog.list();
    CHECK(entry(list, first).usable());
    CHECK(entry(list, fixture("good")).shadowed_by == first);
    CHECK_FALSE(entry(list, fixture("good")).usable());
}

TEST_CASE("loader: GNNBENCH_PLUGIN_PATH is searched before the program's own folder", "[plugin]") {
    ::setenv("GNNBENCH_PLUGIN_PATH", "/one::/two:", 1);
    const auto folders = plugin_folders();
    ::unsetenv("GNNBENCH_PLUGIN_PATH");
    REQUIRE(folders.size() == 3);
    CHECK(folders[0] == "/one");
    CHECK(folders[1] == "/two");
    CHECK(folders[2].string().ends_with("lib/gnnbench/plugins"));
    CHECK(plugin_folders().size() == 1);
}

TEST_CASE("agreement: a rank that failed or differs is named to all", "[plugin]") {
    CHECK_THAT(disagreement({"ok a", "failed: no such file", "ok a"}),
               Contains("rank 1 of 3") && Contains("no such file"));
    CHECK_THAT(disagreement({"ok a", "ok a", "ok b"}),
               Contains("rank 2") && Contains("\"ok b\"") && Contains("\"ok a\""));
    CHECK(disagreement({"ok a", "ok a"}).empty());
    CHECK(disagreement({}).empty());
}

TEST_CASE("agreement: a report names version and content, or the reason", "[plugin]") {
    const PluginCatalog catalog({fixtures});
    const std::vector<PluginRequest> good = {{PluginKind::partitioner, "good"}};
    const std::vector<PluginRequest> bad = {{PluginKind::partitioner, "good"},
                                            {PluginKind::partitioner, "other_api"}};
    CHECK_THAT(load_report(catalog, good), Contains("partitioner good 1.2.3, file digest "));
    CHECK(load_report(catalog, good) == load_report(catalog, good));
    CHECK_THAT(load_report(catalog, bad), Contains("failed: ") && Contains("4711"));
}
