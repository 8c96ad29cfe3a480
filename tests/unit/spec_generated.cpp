// schemas/experiment.schema.json and docs/spec-reference.md are what the declarations say.
// To write them anew: GNNBENCH_REWRITE=1 ctest --test-dir build/release -R unit.spec
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "spec_fakes.hpp"

#include "spec/claims_file.hpp"
#include "spec/fields.hpp"
#include "spec/installed.hpp"
#include "spec/schema.hpp"
#include "spec/table_keys.hpp"

using namespace gnnbench;
namespace fs = std::filesystem;

namespace {

const fs::path root = GNNBENCH_SOURCE_DIR;

std::string contents(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Plugins of this build only, not of GNNBENCH_PLUGIN_PATH.
InstalledPlugins own_plugins() {
    const fs::path program = fs::read_symlink("/proc/self/exe");
    return InstalledPlugins(PluginCatalog({program.parent_path().parent_path() / "lib/gnnbench/plugins"}));
}

/// Compares, or writes where asked to. Shows the first line that differs.
void check_file(const fs::path& file, const std::string& expected) {
    if (std::getenv("GNNBENCH_REWRITE")) {
        fs::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << expected;
        WARN("wrote " << file.string());
        return;
    }
    const std::string found = contents(file);
    if (found == expected) return;
    std::istringstream a(found), b(expected);
    std::string line_a, line_b;
    int line = 0;
    do {
        ++line;
        line_a.clear();
        line_b.clear();
        std::getline(a, line_a);
        std::getline(b, line_b);
    } while (line_a == line_b);
    FAIL(file.string() << " is not what the declarations say, from line " << line << " on:\n  file:     " << line_a
                       << "\n  declared: " << line_b
                       << "\nTo write it anew: GNNBENCH_REWRITE=1 ctest -R unit.spec");
}

}  // namespace

TEST_CASE("the committed schema and reference are generated from the declarations") {
    const fs::path file = root / "schemas/experiment.schema.json";
    const std::string committed = contents(file);
    const auto previous = committed.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json::parse(committed);
    const InstalledPlugins plugins = own_plugins();
    const InstalledDatasets datasets{Catalog("/nowhere")};
    const auto schema = experiment_schema(plugins, datasets, previous);
    check_file(file, schema.dump(2) + "\n");
    check_file(root / "docs/spec-reference.md", reference_page(schema));
}

TEST_CASE("the committed schema and reference of tables are generated from the declarations") {
    check_file(root / "schemas/table.schema.json", table_schema().dump(2) + "\n");
    check_file(root / "docs/table-reference.md", table_reference_page());
}

TEST_CASE("the committed schema and reference of claims are generated from the declarations") {
    check_file(root / "schemas/claims.schema.json", claims_schema().dump(2) + "\n");
    check_file(root / "docs/claims.md", claims_reference_page());
}

TEST_CASE("every declared field is sound") {
    for (const Field& f : fields()) {
        INFO(f.path);
        CHECK((f.fallback == nullptr || f.computed == nullptr || f.access.given != nullptr));
        CHECK(std::string_view(f.help).find_last_of('.') != std::string_view(f.help).size() - 1);
        CHECK((f.type == FieldType::word) == !f.words.empty());
        CHECK((last_word(f.path) == f.path || find_section(section_of(f.path))));
    }
}

TEST_CASE("a plugin that is not built here keeps its entry in the schema") {
    const test::FakePlugins plugins;
    const test::FakeDatasets datasets;
    nlohmann::ordered_json previous;
    previous["definitions"]["kernel:fpga"] = {{"description", "elsewhere"},
                                              {"properties", nlohmann::json::object()}};
    const auto schema = experiment_schema(plugins, datasets, previous);
    CHECK(schema["definitions"]["kernel:fpga"]["description"] == "elsewhere");
    CHECK(schema["definitions"]["kernel"]["anyOf"][0]["enum"] == nlohmann::ordered_json({"cpu", "cuda", "fpga"}));
    CHECK(schema["definitions"]["scheme:mg-gcn"]["properties"]["depth"]["maximum"] == 8);
    CHECK(reference_page(schema).find("### fpga\n\nelsewhere\n") != std::string::npos);
}
