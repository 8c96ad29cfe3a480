#include "plugin/scaffold.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "plugin/places.hpp"

namespace gnnbench {
namespace {

namespace fs = std::filesystem;

using Replacements = std::array<std::pair<std::string, std::string>, 3>;

void check_name(std::string_view name) {
    const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    const bool usable = !name.empty() && name.front() >= 'a' && name.front() <= 'z' && name.back() != '-' &&
                        std::all_of(name.begin(), name.end(), fits);
    if (!usable)
        throw SpecError(
            fmt::format("\"{}\" cannot name a plugin: small letters, digits and hyphens are allowed, a "
                        "letter first, as in my-scheme.",
                        name));
}

/// my-parts → MyParts
std::string class_name(std::string_view name) {
    std::string result;
    bool starts = true;
    for (char c : name) {
        if (c != '-') result += starts ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        starts = c == '-';
    }
    return result;
}

/// my-parts → my_parts
std::string file_name(std::string name) {
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

std::string filled(std::string text, const Replacements& replacements) {
    for (const auto& [mark, value] : replacements)
        for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size()))
            text.replace(at, mark.size(), value);
    return text;
}

constexpr std::array template_folders{"strategy", "workers", "partitioner", "importer"};

void write_filled(const fs::path& from, const fs::path& to, const Replacements& replacements) {
    std::ifstream in(from);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (!in.good() && !in.eof()) throw EnvironmentError(fmt::format("{} cannot be read.", from.string()));
    std::ofstream out(to);
    out << filled(text, replacements) << std::flush;
    if (!out) throw EnvironmentError(fmt::format("{} cannot be written.", to.string()));
}

}  // namespace

fs::path write_plugin_folder(PluginTemplate which, std::string_view name, const fs::path& into,
                             const fs::path& templates) {
    check_name(name);
    const fs::path from = templates / template_folders[usize(static_cast<int>(which))];
    std::error_code failure;
    if (!fs::is_directory(from, failure))
        throw EnvironmentError(
            fmt::format("the template folder {} is missing; install all of gnnbench, or run it from its "
                        "build tree.",
                        from.string()));

    const fs::path folder = into / name;
    if (fs::exists(folder, failure) && !fs::is_empty(folder, failure))
        throw SpecError(fmt::format(
            "{} exists and is not empty; choose another name, or another folder with --into.", folder.string()));
    fs::create_directories(folder, failure);
    if (failure) throw EnvironmentError(fmt::format("{} cannot be made: {}.", folder.string(), failure.message()));

    const std::string text(name);
    const Replacements replacements = {
        {{"@NAME@", text}, {"@CLASS@", class_name(text)}, {"@FILE@", file_name(text)}}};
    for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
        std::string target = filled(entry.path().filename().string(), replacements);
        if (target.ends_with(".in")) target.resize(target.size() - 3);
        write_filled(entry.path(), folder / target, replacements);
    }
    return folder;
}

fs::path write_plugin_folder(PluginTemplate which, std::string_view name, const fs::path& into) {
    return write_plugin_folder(which, name, into, share_folder() / "plugin-template");
}

}  // namespace gnnbench
