// A scheme that is a program: {name: …, command: [./program, word, …], approximation: …}.
#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "spec/values.hpp"

namespace gnnbench {

using Kind = YamlNode::Kind;
using Read = std::optional<FieldValue>;
namespace fs = std::filesystem;

namespace {

constexpr const char* shape = "expected a command as a list of words, or a program's name or path";

bool is_path(const std::string& word) {
    return word.starts_with("./") || word.starts_with("../") || word.starts_with("${");
}

/// Digest of the files that the words name, so that a changed program makes different cells.
std::string version_of(const std::vector<std::string>& written, const std::vector<std::string>& resolved) {
    std::string contents;
    for (std::size_t i = 0; i < written.size(); ++i) {
        std::error_code ignored;
        if (!is_path(written[i]) || !fs::is_regular_file(resolved[i], ignored)) continue;
        std::ifstream in(resolved[i], std::ios::binary);
        contents.append(std::istreambuf_iterator<char>(in), {});
    }
    return contents.empty() ? "" : fmt::format("{:016x}", XXH3_64bits(contents.data(), contents.size()));
}

bool is_valid_name(const std::string& name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '+';
    });
}

}  // namespace

Read ValueReader::program(const YamlNode& map, const std::string& key) const {
    static const std::string taken[] = {"approximation", "command", "name"};
    params({}, map, taken, "a program as scheme", key);
    const YamlNode& command = *map.find("command");
    std::vector<YamlNode> words = command.is(Kind::list) ? command.items : std::vector{command};
    PluginChoice choice;
    for (const YamlNode& word : words) {
        if (!word.scalar() || word.is(Kind::null) || word.text.empty()) {
            findings_.add(word.place, key + ".command", fmt::format("{}; found {}", shape, describe(word)));
            return {};
        }
        choice.command.push_back(word.text);
        choice.program.push_back(word.text);
        if (!is_path(word.text)) continue;
        const auto absolute = path(word, key + ".command");
        if (!absolute) return {};
        choice.program.back() = absolute->string();
    }
    if (words.empty()) {
        findings_.add(command.place, key + ".command", fmt::format("{}; found an empty list", shape));
        return {};
    }
    const YamlNode* name = map.find("name");
    choice.name = name && name->scalar() ? name->text : fs::path(choice.command.front()).stem().string();
    const Place place = name ? name->place : command.place;
    if (!is_valid_name(choice.name)) {
        findings_.add(
            place, key + ".name",
            fmt::format("expected letters, digits and -_.+ as the name of a program in tables; found '{}'",
                        choice.name));
        return {};
    }
    if (plugins_.find(PluginKind::strategy, choice.name)) {
        findings_.add(place, key + ".name",
                      fmt::format("there is a scheme '{}' already; give the program another name", choice.name));
        return {};
    }
    if (const YamlNode* inexact = map.find("approximation")) {
        if (!inexact->scalar() || inexact->text.empty()) {
            findings_.add(inexact->place, key + ".approximation",
                          fmt::format("expected what the program does not train exactly, in words; found {}",
                                      describe(*inexact)));
            return {};
        }
        choice.approximation = inexact->text;
    }
    choice.version = version_of(choice.command, choice.program);
    choice.label = choice.name;
    return Read(std::move(choice));
}

}  // namespace gnnbench
