#pragma once
/// An input imported twice, in memory and with so little of it that its edges are sorted on disk: both give one store, byte by
/// byte, or one error.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include <data/import.hpp>
#include <data/store.hpp>

namespace gnnbench::test {

/// What an import of an input of some kilobytes may hold: all of it, and a graph of some 50,000 vertices.
inline constexpr std::uint64_t enough_bytes = 2 << 20;

struct Imported {
    bool outside = false;
    std::string error;        ///< its message; empty: none
    bool of_machine = false;  ///< an EnvironmentError: it does not fit
};

inline Imported import_into(const std::filesystem::path& store, const std::filesystem::path& input,
                            const std::string& format, const nlohmann::json& options, std::uint64_t bytes) {
    Imported result;
    try {
        const RawDataset data =
            import_file(input, format, options, {.memory_bytes = bytes, .folder = store.parent_path()});
        result.outside = data.outside != nullptr;
        write_store(store, data);
    } catch (const EnvironmentError& e) {
        result.error = e.what();
        result.of_machine = true;
    } catch (const DataError& e) {
        result.error = e.what();
    }
    return result;
}

inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    for (const auto& item : std::filesystem::directory_iterator(folder))
        names.push_back(item.path().filename().string());
    std::ranges::sort(names);
    return names;
}

inline std::string bytes_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The first difference between two stores; empty: none.
inline std::string difference(const std::filesystem::path& held, const std::filesystem::path& outside) {
    const auto names = names_in(held);
    if (const auto others = names_in(outside); names != others)
        return fmt::format("the stores' files are {} from memory and {} from disk", fmt::join(names, " "),
                           fmt::join(others, " "));
    for (const auto& name : names)
        if (bytes_of(held / name) != bytes_of(outside / name)) return name + " differs";
    return {};
}

/// With little memory alone an input may be refused: by its size, or for a line longer than what is read at once.
inline bool is_of_little_memory(const Imported& result) {
    return (result.of_machine && result.error.find("--memory") != std::string::npos) ||
           result.error.find("a line of more than") != std::string::npos;
}

/// Throws LogicError where both ways differ, and the error that an import with all memory gives, if it does. Whether edges were
/// sorted on disk. `folder`: of the stores alone, of which nothing is left.
inline bool import_both_ways(const std::filesystem::path& input, const std::string& format,
                             const nlohmann::json& options, std::uint64_t little_bytes,
                             const std::filesystem::path& folder) {
    struct Cleared {
        const std::filesystem::path& folder;
        ~Cleared() {
            std::error_code ignored;
            for (const char* name : {"held", "outside"}) std::filesystem::remove_all(folder / name, ignored);
        }
    } const cleared{folder};
    const Imported outside = import_into(folder / "outside", input, format, options, little_bytes);
    const Imported held = import_into(folder / "held", input, format, options, enough_bytes);
    if (names_in(folder).size() > 2) throw LogicError("an import left something beside its store");
    if (held.of_machine) {
        if (outside.error.empty())
            throw LogicError("it fits into little memory, but not into more: " + held.error);
    } else if (!is_of_little_memory(outside) && outside.error != held.error) {
        throw LogicError(fmt::format("from memory: '{}'\nfrom disk: '{}'", held.error, outside.error));
    } else if (held.error.empty() && outside.error.empty()) {
        if (const auto found = difference(folder / "held", folder / "outside"); !found.empty())
            throw LogicError(found);
    }
    if (!held.error.empty()) throw DataError(held.error);
    return outside.outside;
}

}  // namespace gnnbench::test
