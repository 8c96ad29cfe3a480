#include "command_line/command_line.hpp"

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <vector>

#include <CLI/CLI.hpp>

namespace gnnbench {
namespace {

template <class T>
concept List = requires(T values) { values.push_back(values.front()); } && !std::same_as<T, std::string>;

}  // namespace

struct CommandLine::Parser {
    CLI::App app;
};

CommandLine::CommandLine(const std::string& what_it_measures) : parser_(std::make_unique<Parser>()) {
    parser_->app.description(what_it_measures);
}
CommandLine::~CommandLine() = default;

template <class T>
CommandLine::Added CommandLine::add(const std::string& name, T& value, const std::string& help) {
    if constexpr (std::same_as<T, bool>)
        return Added(parser_->app.add_flag(name, value, help));
    else if constexpr (List<T>)
        return Added(parser_->app.add_option(name, value, help)->delimiter(','));
    else
        return Added(parser_->app.add_option(name, value, help));
}

template CommandLine::Added CommandLine::add(const std::string&, bool&, const std::string&);
template CommandLine::Added CommandLine::add(const std::string&, int&, const std::string&);
template CommandLine::Added CommandLine::add(const std::string&, std::int64_t&, const std::string&);
template CommandLine::Added CommandLine::add(const std::string&, std::uint64_t&, const std::string&);
template CommandLine::Added CommandLine::add(const std::string&, double&, const std::string&);
template CommandLine::Added CommandLine::add(const std::string&, std::string&, const std::string&);
template CommandLine::Added CommandLine::add(const std::string&, std::filesystem::path&, const std::string&);
template CommandLine::Added CommandLine::add(const std::string&, std::vector<int>&, const std::string&);
template CommandLine::Added CommandLine::add(const std::string&, std::vector<std::int64_t>&, const std::string&);
template CommandLine::Added CommandLine::add(const std::string&, std::vector<double>&, const std::string&);
template CommandLine::Added CommandLine::add(const std::string&, std::vector<std::string>&, const std::string&);

CommandLine::Added& CommandLine::Added::within(double first, double last) {
    static_cast<CLI::Option*>(option_)->check(CLI::Range(first, last));
    return *this;
}
CommandLine::Added& CommandLine::Added::positive() {
    static_cast<CLI::Option*>(option_)->check(CLI::PositiveNumber);
    return *this;
}
CommandLine::Added& CommandLine::Added::not_negative() {
    static_cast<CLI::Option*>(option_)->check(CLI::NonNegativeNumber);
    return *this;
}
CommandLine::Added& CommandLine::Added::one_of(std::initializer_list<const char*> words) {
    static_cast<CLI::Option*>(option_)->check(CLI::IsMember(std::vector<std::string>(words.begin(), words.end())));
    return *this;
}
CommandLine::Added& CommandLine::Added::existing_folder() {
    static_cast<CLI::Option*>(option_)->check(CLI::ExistingDirectory);
    return *this;
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
    try {
        parser_->app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return parser_->app.exit(error);
    }
    return {};
}

}  // namespace gnnbench
