#include <filesystem>
#include <fstream>
#include <iostream>

#include <gnnbench/error.hpp>

#include "cli/options.hpp"
#include "core/existing_folder.hpp"

namespace gnnbench {

namespace {

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

int write_starter(const std::filesystem::path& path, bool force) {
    if (std::filesystem::exists(path) && !force)
        throw SpecError("'" + path.string() + "' exists already; name another file, or overwrite it with --force");
    require_folder_of(path, "the file");
    std::ofstream out(path);
    out << starter;
    out.close();
    if (!out) throw EnvironmentError("cannot write '" + path.string() + "'");
    std::cerr << "wrote " << path.string() << "; run it with: gnnbench run " << path.string() << '\n';
    return exit_ok;
}

}  // namespace

void add_init(CLI::App& app, const GlobalOptions&, Action& action) {
    CLI::App* command = app.add_subcommand("init", "Create a small example experiment");
    auto path = std::make_shared<std::filesystem::path>("experiment.yaml");
    auto force = std::make_shared<bool>(false);
    command->add_option("file", *path, "Where to (default: experiment.yaml)");
    command->add_flag("--force", *force, "Overwrite it if it exists");
    command->callback([&action, path, force] { action = [path, force] { return write_starter(*path, *force); }; });
}

}  // namespace gnnbench
