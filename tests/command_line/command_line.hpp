#pragma once
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

namespace gnnbench {

/// The command line of a benchmark. CLI11 behind it is compiled once, since its headers cost every file that includes them
/// nine seconds (docs/decisions/compile-time.md).
class CommandLine {
public:
    explicit CommandLine(const std::string& what_it_measures);
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;
    ~CommandLine();

    /// One option, to which the values that are allowed may be added.
    class Added {
    public:
        Added& within(double first, double last);
        Added& positive();
        Added& not_negative();
        Added& one_of(std::initializer_list<const char*> words);
        Added& existing_folder();

    private:
        friend class CommandLine;
        explicit Added(void* option) : option_(option) {}
        void* option_;
    };

    /// `value` keeps what it has where the option is not given, and must live until parse(). A list is written with commas,
    /// a bool without a value. For the types that command_line.cpp names.
    template <class T>
    Added add(const std::string& name, T& value, const std::string& help);

    /// Nothing, or the exit code after --help or a mistake, which has been printed.
    [[nodiscard]] std::optional<int> parse(int argc, char** argv);

private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
};

}  // namespace gnnbench
