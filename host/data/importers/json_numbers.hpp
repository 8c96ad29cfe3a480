#pragma once
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace gnnbench {

/// What a key of a JSON object holds: a number, or a list of numbers. `where` is its place in the file, for errors.
struct JsonNumbers {
    const std::string& key;
    std::span<const double> values;
    bool list = false;
    std::string where;
};

/// Reads an object of numbers and lists of numbers, compressed or not, as a stream: a list for each of a million
/// vertices would take gigabytes as a tree. A key that comes twice comes twice here. Throws DataError at anything
/// else.
void read_json_numbers(const std::filesystem::path& path, const std::function<void(const JsonNumbers&)>& entry);

}  // namespace gnnbench
