#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cli/usage.hpp"

namespace gnnbench {

void add_help(CLI::App& app, const GlobalOptions&, Action& action) {
    CLI::App* command = app.add_subcommand("help", "Describe a command, as its --help does");
    auto words = std::make_shared<std::vector<std::string>>();
    command->add_option("command", *words, "A command: run, dataset import (default: the list of all)")
        ->type_name("COMMAND");
    command->callback([&app, &action, words] {
        action = [&app, words] {
            check_words(app, *words);
            const CLI::App& described = command_of(app, *words);
            std::cout << described.get_formatter()->make_help(&described, typed_name(described),
                                                              CLI::AppFormatMode::Normal);
            return exit_ok;
        };
    });
}

}  // namespace gnnbench
