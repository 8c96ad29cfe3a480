#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "plugin/library.hpp"
#include "plugin/scaffold.hpp"

using namespace gnnbench;
namespace fs = std::filesystem;
using Catch::Matchers::Contains;

namespace {

struct TemporaryFolder {
    fs::path path = fs::temp_directory_path() / ("gnnbench-scaffold-test-" + std::to_string(::getpid()));
    TemporaryFolder() { fs::create_directories(path); }
    ~TemporaryFolder() { fs::remove_all(path); }
};

std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("scaffold: names that cannot be used", "[plugin]") {
    TemporaryFolder folder;
    for (const char* name : {"", "My-Parts", "-parts", "parts-", "1parts", "my_parts", "../parts", "my parts"}) {
        INFO(name);
        CHECK_THROWS_AS(write_plugin_folder(PluginTemplate::partitioner, name, folder.path), SpecError);
    }
    CHECK(fs::is_empty(folder.path));
}

TEST_CASE("scaffold: a full folder, missing templates", "[plugin]") {
    TemporaryFolder folder;
    CHECK_THROWS_AS(write_plugin_folder(PluginTemplate::strategy, "mine", folder.path, folder.path / "nowhere"),
                    EnvironmentError);
    fs::create_directories(folder.path / "mine");
    std::ofstream(folder.path / "mine/notes") << "precious";
    CHECK_THROWS_WITH(write_plugin_folder(PluginTemplate::strategy, "mine", folder.path), Contains("not empty"));
    CHECK(text_of(folder.path / "mine/notes") == "precious");
}

TEST_CASE("scaffold: every mark is replaced, in names and in text", "[plugin]") {
    TemporaryFolder folder;
    const std::pair<PluginTemplate, const char*> all[] = {{PluginTemplate::strategy, "strategy"},
                                                          {PluginTemplate::workers, "strategy"},
                                                          {PluginTemplate::partitioner, "partitioner"},
                                                          {PluginTemplate::importer, "importer"}};
    for (const auto& [which, kind] : all) {
        const fs::path into = folder.path / std::to_string(static_cast<int>(which));
        CHECK(write_plugin_folder(which, "my-2nd-try", into) == into / "my-2nd-try");
        CHECK(fs::exists(into / "my-2nd-try/README.md"));
        CHECK_THAT(text_of(into / "my-2nd-try/my_2nd_try.cpp"), Contains("class My2ndTry final"));
        CHECK_THAT(text_of(into / "my-2nd-try/CMakeLists.txt"),
                   Contains("gnnbench_add_plugin(" + std::string(kind) + " my-2nd-try SOURCES my_2nd_try.cpp)"));
        for (const auto& entry : fs::directory_iterator(into / "my-2nd-try")) {
            INFO(entry.path());
            CHECK(entry.path().string().find('@') == std::string::npos);
            CHECK(text_of(entry.path()).find('@') == std::string::npos);
        }
    }
}
