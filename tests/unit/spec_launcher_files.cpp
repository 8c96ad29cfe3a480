// Files that declare launchers: what they may say, where they are found, and what is wrong with them.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include <gnnbench/temporary_folder.hpp>
#include "launch/declaration.hpp"
#include "launch/pattern.hpp"
#include "launch/placeholders.hpp"
#include "spec/launcher_file.hpp"
#include "spec/launcher_keys.hpp"

using namespace gnnbench;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const std::string direct =
    "about: mine\n"
    "hosts: others\n"
    "machine: {name: mine, cores: 4}\n"
    "start: {run: [run, '{worker}', '{request}']}\n";
const std::string jobs =
    "jobs:\n"
    "  submit: {run: [sub, '{script}'], find: '(?<id>[0-9]+)'}\n"
    "  ask: [{run: [ask], find: '(?<id>[0-9]+) (?<name>.*) (?<state>.)'}]\n"
    "  states: {running: [r]}\n"
    "  cancel: [kill, '{ids}']\n";

std::string wrong_with(const std::string& text) {
    try {
        read_launcher(text, "mine.yaml", "mine");
    } catch (const SpecError& error) {
        return error.what();
    }
    return "nothing";
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
    const std::size_t at = text.find(part);
    REQUIRE(at != std::string::npos);
    return text.replace(at, part.size(), by);
}

/// A folder of launcher files that GNNBENCH_LAUNCHER_PATH names while this lives.
struct SiteFolder {
    TemporaryFolder folder{"launchers"};
    SiteFolder() { setenv("GNNBENCH_LAUNCHER_PATH", folder.path().c_str(), 1); }
    ~SiteFolder() { unsetenv("GNNBENCH_LAUNCHER_PATH"); }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder.path() / name) << text;
    }
};

void same_as_file(const std::string& path, const std::string& expected) {
    const std::string file = std::string(GNNBENCH_SOURCE_DIR) + path;
    if (std::getenv("GNNBENCH_REWRITE")) std::ofstream(file) << expected;
    std::ifstream in(file);
    const std::string found((std::istreambuf_iterator<char>(in)), {});
    CHECK(found == expected);
}

}  // namespace

TEST_CASE("launcher files: those of the program can be read, and say what they are") {
    const std::vector<std::string> names = launcher_names();
    CHECK(names == std::vector<std::string>{"gridengine", "local", "pbs", "sbatch", "srun", "ssh"});
    for (const std::string& name : names) {
        CAPTURE(name);
        const LauncherDeclaration d = launcher_declaration(load_launcher(name));
        CHECK(d.name == name);
        CHECK(d.elsewhere == (name != "local"));
        CHECK(d.jobs.has_value() == (name == "sbatch" || name == "gridengine" || name == "pbs"));
    }
    // sbatch starts ranks as srun does.
    CHECK(load_launcher("sbatch").at("start") == load_launcher("srun").at("start"));
    CHECK(wrong_with(direct) == "nothing");
    CHECK(wrong_with(direct + jobs) == "nothing");
}

TEST_CASE("launcher files: an error says place, what was found and what is allowed") {
    const std::string text = direct + jobs;
    const auto says = [&](const std::string& part, const std::string& by, const std::string& what) {
        CAPTURE(part, by);
        CHECK_THAT(wrong_with(replaced(text, part, by)), Contains(what));
    };
    says("hosts: others", "hosts: those", "mine.yaml:2:8: hosts: found the text 'those'; allowed: this, others");
    says("hosts: others", "host: others", "mine.yaml:2:1: host: unknown key;");
    says("hosts: others", "host: others", "did you mean 'hosts'?");
    says("hosts: others", "", "hosts: is missing: Where ranks run");
    says("'{worker}', ", "", "start.run: expected the placeholder {worker} in it");
    says("'{worker}'", "'{workr}'", "mine.yaml:4:20: start.run: the placeholder {workr} is unknown;");
    says("'{worker}'", "'{workr}'", "did you mean 'worker'?");
    says("run: [sub, '{script}']", "run: sub",
         "jobs.submit.run: expected a command as a list of its words; found the text 'sub'");
    says("[0-9]+)'}\n  ask", "[0-9+)'}\n  ask", "jobs.submit.find: '(?<id>[0-9+)' is no regular expression");
    says("(?<name>.*)", ".*", "mine.yaml:7:28: jobs.ask[0].find: expected a pattern with the group (?<name>…)");
    says("(?<name>.*)", ".*", "found the groups: id, state");
    says("run: [ask], ", "", "jobs.ask[0].run: is missing: The program that is asked");
    says("ask: [{", "ask: {", "mine.yaml:");
    says("states: {running: [r]}", "states: {running: r}", "jobs.states.running: expected a list of texts");
    says("states: {running: [r]}", "states: {runninq: [r]}", "did you mean 'running'?");
    says("'{ids}'", "all", "jobs.cancel: expected the placeholder {ids} in it");
    says("'{script}'", "x", "jobs.submit.run: expected the placeholder {script} in it");
    says("cores: 4", "cores: 0",
         "machine.cores: expected an integer between 1 and 1,000,000; found the integer 0");
    says("machine: {name: mine, cores: 4}\n", "", "machine: is missing: which nodes ranks run on");
    says("hosts: others", "hosts: this", "jobs: expected `hosts: others` of a launcher with jobs");
    says("about: mine", "extends: sruhn\nabout: mine",
         "mine.yaml:1:10: extends: found the text 'sruhn'; allowed: ");
    CHECK_THAT(wrong_with("[a]"), Contains("expected a mapping; found a list"));
    CHECK_THAT(wrong_with("about: [\n"), Contains("mine.yaml:"));
    CHECK_THAT(wrong_with(""), Contains("expected a mapping"));
}

TEST_CASE("launcher files: the user's and the site's folders count, in this order, and no other") {
    const SiteFolder site;
    site.write("mine.yaml", direct);
    site.write("Not a name.yaml", direct);
    site.write("sbatch.yaml", "extends: sbatch\nabout: ours\nmachine: {name: 'Slurm {cluster}/ours'}\n");
    CHECK(load_launcher("mine").at("about") == "mine");
    // A site changes a few keys of a launcher that comes with the program.
    const nlohmann::json ours = load_launcher("sbatch");
    CHECK(ours.at("about") == "ours");
    CHECK(ours.at("machine").at("name") == "Slurm {cluster}/ours");
    CHECK(ours.at("machine").at("ask").size() == 2);
    CHECK(ours.at("jobs").at("cancel").at(0) == "scancel");
    site.write("gpus.yaml", replaced(direct, "cores: 4", "cores: 4, gpus: True"));
    CHECK(load_launcher("gpus").at("machine").at("gpus") == true);
    fs::remove(site.folder.path() / "gpus.yaml");
    CHECK(launcher_names().size() == 7);
    // What stands beside an experiment, or is named by a path, runs nothing.
    const fs::path before = fs::current_path();
    const TemporaryFolder beside("beside");
    std::ofstream(beside.path() / "evil.yaml") << direct;
    fs::create_directories(beside.path() / "launchers");
    std::ofstream(beside.path() / "launchers/evil.yaml") << direct;
    fs::current_path(beside.path());
    for (const std::string& name : {std::string("evil"), std::string("./evil.yaml"), std::string("launchers/evil"),
                                    (beside.path() / "evil.yaml").string()})
        CHECK_THROWS_WITH(load_launcher(name), Contains("there is no launcher '" + name + "'; allowed: "));
    fs::current_path(before);
    setenv("GNNBENCH_LAUNCHER_PATH", "launchers", 1);
    CHECK_THROWS_WITH(launcher_folders(),
                      Contains("expected folders that begin with '/'") && Contains("'launchers'"));
}

TEST_CASE("launcher files: they do not extend each other for ever") {
    const SiteFolder site;
    site.write("a.yaml", "extends: b\nabout: a\n");
    site.write("b.yaml", "extends: a\nabout: b\n");
    CHECK_THROWS_WITH(load_launcher("a"), Contains("launchers extend each other"));
    site.write("c.yaml", "extends: c\nabout: c\n");
    CHECK_THROWS_WITH(load_launcher("c"), Contains("extends: found the text 'c'"));
}

TEST_CASE("launcher files: an entry whose placeholder has no value is left out of a command") {
    const Values values{{"ranks", {"4"}}, {"ids", {"1", "2"}}, {"none", {}}};
    using Texts = std::vector<std::string>;
    CHECK(filled({{"-n", "{ranks}"}, {"-q", "{partition}"}, {"x{ranks}y"}, {"{ids}"}}, values) ==
          Texts{"-n", "4", "x4y", "1", "2"});
    CHECK(filled({{"gpus={gpus|0}"}, {"{none}"}, {""}, {"a{ids}"}}, values) == Texts{"gpus=0", "", "a1 2"});
    // Braces of other programs stay.
    CHECK(filled({{"awk '{print $1}' {A} {a b} ${HOME}"}}, values) == Texts{"awk '{print $1}' {A} {a b} ${HOME}"});
    setenv("GNNBENCH_TEST_VALUE", "v", 1);
    CHECK(filled({{"{env.GNNBENCH_TEST_VALUE}"}, {"{env.GNNBENCH_TEST_NONE}"}}, values) == Texts{"v"});
    unsetenv("GNNBENCH_TEST_VALUE");
    CHECK(filled_text("a {partition} {ranks}", values) == "a  4");
}

TEST_CASE("launcher files: patterns are told from what is none, and end") {
    CHECK(why_no_pattern("(?<id>[0-9]+)").empty());
    CHECK_THAT(why_no_pattern("(a"), Contains("'(a' is no regular expression"));
    CHECK(matches_of("^(?<a>x)(?<b>y)?$", "x\nxy\n").size() == 2);
    CHECK_FALSE(matches_of("^(?<a>x)(?<b>y)?$", "x\n").front().contains("b"));
    CHECK(matches_of("a.b", "a\nb").empty());
    CHECK_THROWS_AS(is_found("(a+)+(b+)+(a+)+$", std::string(5000, 'a') + std::string(5000, 'b') + "c"),
                    EnvironmentError);
}

TEST_CASE("launcher files: schema and reference page are what they are read by") {
    same_as_file("/schemas/launcher.schema.json", launcher_schema().dump(2) + "\n");
    same_as_file("/docs/launcher-reference.md", launcher_reference_page());
}
