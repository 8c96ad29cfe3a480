// gnnbench init: an experiment to begin with, or the folder of a paper.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "cli/options.hpp"
#include "core/existing_folder.hpp"

namespace gnnbench {

namespace {

namespace fs = std::filesystem;

constexpr const char* starter =
    R"yaml(# An experiment: every list under `matrix` multiplies. Check it with `gnnbench validate`, see what it
# would run with `gnnbench plan`, run it with `gnnbench run`.
name: starter
dataset: {generate: dcsbm, vertices: 5000, average_degree: 20, features: 32, classes: 8}
model: {layers: gcn, hidden: [64], activation: relu}
train: {optimizer: adam, lr: 0.01}
matrix:
  scheme: [serial, cagnet-1d, mg-gcn]   # gnnbench plugin list shows all
  partitioner: [random, metis]
  gpus: [1, 2]                          # as many ranks
kernel: cpu
epochs: 20
trials: 3
)yaml";

/// A file of templates/paper, compiled in.
struct PaperFile {
    std::string_view stem;
    const char* text;
};
constexpr PaperFile paper_files[] = {
#include "embedded_paper.inc"
};

struct InitChoice {
    fs::path path;
    std::string paper;
    bool force = false;
};

void write(const fs::path& path, const std::string& text) {
    std::ofstream out(path);
    out << text;
    out.close();
    if (!out) throw EnvironmentError("cannot write '" + path.string() + "'");
}

int write_starter(const fs::path& path, bool force) {
    if (fs::exists(path) && !force)
        throw SpecError("'" + path.string() + "' exists already; name another file, or overwrite it with --force");
    require_folder_of(path, "the file");
    write(path, starter);
    std::cerr << "wrote " << path.string() << "; run it with: gnnbench run " << path.string() << '\n';
    return exit_ok;
}

/// "%paper%" and "%folder%" replaced.
std::string filled(std::string text, const std::string& paper, const std::string& folder) {
    for (const auto& [mark, value] : {std::pair{std::string("%paper%"), paper}, {"%folder%", folder}})
        for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size()))
            text.replace(at, mark.size(), value);
    return text;
}

void check_name(const std::string& paper) {
    const bool usable = !paper.empty() && paper.front() != '-' && std::ranges::all_of(paper, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
    if (!usable)
        throw SpecError(fmt::format(
            "\"{}\" cannot name a paper's folder: small letters, digits and hyphens are allowed, as in mg-gcn",
            paper));
}

int write_paper(const fs::path& folder, const std::string& paper) {
    check_name(paper);
    std::error_code error;
    if (fs::exists(folder, error) && !fs::is_empty(folder, error))
        throw SpecError(fmt::format("'{}' is there and not empty; name another folder", folder.string()));
    fs::create_directories(folder, error);
    if (error) throw EnvironmentError(fmt::format("cannot make '{}': {}", folder.string(), error.message()));
    for (const PaperFile& file : paper_files) {
        const char* ending = file.stem == "README" ? ".md" : file.stem == "published" ? ".csv" : ".yaml";
        write(folder / (std::string(file.stem) + ending), filled(file.text, paper, folder.string()));
    }
    std::cerr << fmt::format(
        "wrote {0}: an experiment, a table, a figure, published.csv, claims.yaml and README.md; begin with: "
        "gnnbench "
        "run {0}\n",
        folder.string());
    return exit_ok;
}

int init(const InitChoice& choice) {
    if (choice.paper.empty())
        return write_starter(choice.path.empty() ? fs::path("experiment.yaml") : choice.path, choice.force);
    return write_paper(choice.path.empty() ? fs::path("experiments") / choice.paper : choice.path, choice.paper);
}

}  // namespace

void add_init(CLI::App& app, const GlobalOptions&, Action& action) {
    CLI::App* command = app.add_subcommand("init", "Create a small example experiment, or the folder of a paper");
    auto choice = std::make_shared<InitChoice>();
    command->add_option("file", choice->path, "Where to (default: experiment.yaml; with --paper experiments/NAME)")
        ->type_name("FILE");
    command
        ->add_option("--paper", choice->paper,
                     "A folder with an experiment, a table, a figure, and files for published numbers and claims")
        ->type_name("NAME");
    command->add_flag("--force", choice->force, "Overwrite the file if it exists");
    command->callback([&action, choice] { action = [choice] { return init(*choice); }; });
}

}  // namespace gnnbench
