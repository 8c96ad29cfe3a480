// What a command line that cannot be is answered, and what a shell may complete.
#include <catch2/catch.hpp>

#include <functional>
#include <set>

#include <gnnbench/error.hpp>

#include "cli/complete.hpp"
#include "cli/endings.hpp"
#include "cli/options.hpp"
#include "cli/ranges.hpp"
#include "cli/usage.hpp"

using namespace gnnbench;
using Catch::Contains;

namespace {

/// The program in small: the options that matter here.
struct SmallProgram {
    CLI::App app{"", "gnnbench"};
    std::string database, where, profile, file, dataset;
    std::vector<std::string> settings, generated;
    int jobs = 1;
    double margin = 0;
    bool as_json = false;

    SmallProgram() {
        app.require_subcommand(1);
        app.fallthrough();
        app.add_option("--database", database)->type_name("FILE");
        CLI::App* run = app.add_subcommand("run", "");
        run->add_option("experiment", file)->required()->type_name("EXPERIMENT");
        run->add_option("--set", settings)->take_all()->type_name("KEY=VALUE");
        run->add_option("--profile", profile);
        run->add_option("--where", where);
        run->add_option("-j,--jobs", jobs)->check(between(1, 1024));
        CLI::App* compare = app.add_subcommand("compare", "");
        compare->add_option("--margin", margin)->check(between(0, 1));
        CLI::App* data = app.add_subcommand("dataset", "");
        data->require_subcommand(1);
        data->add_subcommand("list", "")->add_flag("--json", as_json);
        CLI::App* generate = data->add_subcommand("generate", "");
        generate->add_option("generator", dataset)->check(one_of({"dcsbm", "rmat"}));
        generate->add_option("--set", generated)->take_all();
        app.add_subcommand("secret", "")->group("");
    }

    /// What the words are refused with; empty: nothing is wrong.
    std::string complaint(const std::vector<std::string>& words) {
        try {
            check_words(app, words);
            std::vector<std::string> reversed(words.rbegin(), words.rend());
            app.parse(reversed);
        } catch (const SpecError& error) {
            return error.what();
        } catch (const CLI::ParseError& error) {
            return usage_message(app, words, error);
        }
        return "";
    }
};

std::string complaint(const std::vector<std::string>& words) { return SmallProgram().complaint(words); }

}  // namespace

TEST_CASE("a word that is no command, and an option that is none, are answered by the nearest") {
    CHECK_THAT(complaint({"rnu", "a.yaml"}), Contains("there is no command 'rnu'; did you mean 'run'?"));
    CHECK_THAT(complaint({"dataset", "lst"}),
               Contains("gnnbench dataset expects one of list, generate; found 'lst'; did you mean 'list'?"));
    CHECK_THAT(complaint({"run", "a.yaml", "--jbos", "2"}),
               Contains("gnnbench run has no option --jbos; did you mean '--jobs'?"));
    CHECK_THAT(complaint({"run", "a.yaml", "--zzzzzzzz"}), Contains("gnnbench run --help lists them"));
    CHECK(complaint({"run", "a.yaml", "--jobs", "2"}).empty());
    CHECK(complaint({"--database", "run", "run", "a.yaml", "--where=gpus > 1"}).empty());
    CHECK(complaint({"run", "a.yaml", "--where", "--jbos"}).empty());  // a value, whatever it looks like
}

TEST_CASE("a key of the experiment given as an option is answered by --set") {
    CHECK(complaint({"run", "a.yaml", "--epochs", "5"}) ==
          "gnnbench run has no option --epochs; epochs is set by --set: use --set epochs=5");
    CHECK_THAT(complaint({"run", "a.yaml", "--epochs=7"}), Contains("use --set epochs=7"));
    CHECK_THAT(complaint({"run", "a.yaml", "--lr", "0.1"}), Contains("use --set train.lr=0.1"));
    CHECK_THAT(complaint({"run", "a.yaml", "--threads-per-rank", "2"}), Contains("use --set threads_per_rank=2"));
    CHECK_THAT(complaint({"run", "a.yaml", "--epoch", "5"}), Contains("did you mean --set epochs=5?"));
    CHECK_THAT(complaint({"dataset", "generate", "dcsbm", "--vertices", "10"}), Contains("use --set vertices=10"));
}

TEST_CASE("an option in the wrong place is sent to its command") {
    CHECK_THAT(complaint({"--jobs", "2", "run", "a.yaml"}),
               Contains("it is an option of gnnbench run: write it after the word run"));
    CHECK_THAT(complaint({"run", "a.yaml", "--margin", "0.1"}), Contains("gnnbench compare has one"));
    CHECK_THAT(complaint({"run", "a.yaml", "--epoch", "5"}), !Contains("has one"));
}

TEST_CASE("what CLI11 finds wrong is said in words") {
    CHECK_THAT(complaint({"run"}), Contains("gnnbench run expects the argument experiment"));
    CHECK_THAT(complaint({}), Contains("gnnbench expects a command: run, compare, dataset"));
    CHECK_THAT(complaint({"dataset"}), Contains("gnnbench dataset expects a command: list, generate"));
    CHECK_THAT(complaint({"run", "a.yaml", "b.yaml"}), Contains("gnnbench run takes no such argument: b.yaml"));
    CHECK_THAT(complaint({"run", "a.yaml", "--jobs"}), Contains("--jobs expects a value"));
    CHECK(complaint({"run", "a.yaml", "--jobs", "0"}) ==
          "--jobs: expected a number between 1 and 1024; found '0'");
    CHECK(complaint({"compare", "--margin", "3"}) == "--margin: expected a number between 0 and 1; found '3'");
    CHECK_THAT(complaint({"run", "a.yaml", "--jobs", "two"}),
               Contains("expected a number between 1 and 1024; found 'two'"));
}

TEST_CASE("ranges are said as a person says them") {
    CHECK(at_least(1)("0.5") == "expected a number of at least 1; found '0.5'");
    CHECK(above(0)("0") == "expected a number above 0; found '0'");
    CHECK(above(0, 1e9)("0.0005").empty());
    CHECK(above(0, 1e9)("1e9").empty());
    CHECK(above(0, 1e9)("2e9") == "expected a number above 0 and at most 1000000000; found '2e9'");
    CHECK(above(0, 1e9)("0") == "expected a number above 0 and at most 1000000000; found '0'");
    CHECK(at_least(1)("nan") == "expected a number of at least 1; found 'nan'");
    CHECK(between(0, 1)("0.5").empty());
    CHECK(one_of({"svg", "png", "pdf"})("pgn") ==
          "expected one of svg, png, pdf; found 'pgn'; did you mean 'png'?");
    CHECK(one_of({"svg", "png"})("png").empty());
}

TEST_CASE("a command is found by its words") {
    const SmallProgram program;
    CHECK(typed_name(command_of(program.app, {"dataset", "list"})) == "gnnbench dataset list");
    CHECK(typed_name(command_of(program.app, {"--database", "dataset", "run", "compare"})) == "gnnbench run");
    CHECK(typed_name(command_of(program.app, {})) == "gnnbench");
}

TEST_CASE("a file's ending decides, and an unknown one is refused") {
    constexpr Ending endings[] = {{".svg", "svg"}, {".pdf", "pdf"}};
    CHECK(format_for("a.svg", "", endings, "svg") == "svg");
    CHECK(format_for("A.PDF", "", endings, "svg") == "pdf");
    CHECK(format_for("", "", endings, "svg") == "svg");
    CHECK(format_for("", "pdf", endings, "svg") == "pdf");
    CHECK_THROWS_WITH(format_for("a.jpg", "", endings, "svg"),
                      "--output a.jpg: expected a file that ends in one of .svg, .pdf; found '.jpg'");
    CHECK_THROWS_WITH(format_for("figure", "", endings, "svg"), Contains("found no ending"));
    CHECK_THROWS_WITH(format_for("a.svg", "pdf", endings, "svg"), Contains("stands for svg, but --format is pdf"));
}

TEST_CASE("a shell is told the words that may follow") {
    const SmallProgram program;
    const auto words = [&](const std::vector<std::string>& typed) { return completions(program.app, typed); };
    using Words = std::vector<std::string>;
    CHECK(words({""}) == Words{"compare", "dataset", "run"});
    CHECK(words({"da"}) == Words{"dataset"});
    CHECK(words({"dataset", "l"}) == Words{"list"});
    CHECK(words({"run", "--j"}) == Words{"--jobs"});
    CHECK(words({"run", "a.yaml", "--set", "train.l"}) == Words{"train.lr="});
    CHECK(words({"run", ""}) == Words{":files"});
    CHECK(words({"dataset", "generate", "dc"}) == Words{"dcsbm"});
    CHECK(words({"--database", ""}) == Words{":files"});
    CHECK(words({"run", "--jobs", ""}).empty());
}

TEST_CASE("values of every command's options and arguments can be completed, or are declared to be anyone's own") {
    CLI::App app;
    GlobalOptions options;
    Action action;
    define_commands(app, options, action);
    // TEXT, which CLI11 calls a value that nothing was said of, is not among them.
    const std::set<std::string> own{"N",          "N,...",        "INT",         "UINT",      "FLOAT",
                                    "SECONDS",    "MS",           "SIZE",        "SEED",      "HASH",
                                    "EXPR",       "NAME",         "NAME,...",    "TITLE",     "WIDTH",
                                    "POINTS",     "ROW",          "SQL",         "PARTITION", "ACCOUNT",
                                    "OPTION",     "OPTION=VALUE", "PARAM=VALUE", "COMMAND",   "[NAME.]KEY=VALUE",
                                    "DOWNxACROSS"};
    int seen = 0;
    const std::function<void(const CLI::App&, const std::string&)> check = [&](const CLI::App& command,
                                                                               const std::string& path) {
        for (const CLI::Option* option : command.get_options()) {
            if (option->get_items_expected_max() == 0) continue;  // a flag
            ++seen;
            const std::string type = option->get_type_name();
            INFO(path << " " << option->get_name() << ": " << type);
            CHECK((has_completion(*option) || own.contains(type.substr(0, type.find(':')))));
        }
        for (const CLI::App* below : command.get_subcommands({})) check(*below, path + " " + below->get_name());
    };
    check(app, "gnnbench");
    CHECK(seen > 100);
}

TEST_CASE("an option's fixed words are those of its check") {
    CLI::App app;
    std::string format, number;
    CHECK(words_of(*app.add_option("--format", format)->check(one_of({"svg", "png"}))) ==
          std::vector<std::string>{"svg", "png"});
    CHECK(words_of(*app.add_option("--number", number)->check(between(0, 1))).empty());
}
