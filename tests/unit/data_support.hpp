#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <unistd.h>

#include <data/raw_dataset.hpp>

namespace gnnbench::test {

namespace fs = std::filesystem;

/// A folder of its own for each test, removed afterwards.
class TempFolder {
public:
    TempFolder() {
        auto pattern = (fs::temp_directory_path() / "gnnbench-data-XXXXXX").string();
        if (!::mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp failed");
        path_ = pattern;
    }
    TempFolder(const TempFolder&) = delete;
    ~TempFolder() { fs::remove_all(path_); }

    fs::path operator/(const std::string& name) const { return path_ / name; }
    const fs::path& path() const { return path_; }
    fs::path write(const std::string& name, const std::string& content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
        return path_ / name;
    }

private:
    fs::path path_;
};

/// Runs `action`, which must throw an E; returns its message.
template <class E, class Action>
std::string message_of(Action action) {
    try {
        action();
    } catch (const E& e) {
        return e.what();
    }
    FAIL("nothing was thrown, or something else");
    return {};
}

inline auto says(const std::string& part) { return Catch::Matchers::Contains(part); }

/// 0 → 1, 0 → 2, 1 → 2 and 3 alone; 2 features, 2 classes, 1 split.
inline RawDataset tiny_dataset() {
    RawDataset d;
    d.name = "tiny";
    d.graph.indptr = {0, 0, 1, 3, 3};
    d.graph.indices = {0, 0, 1};
    d.graph.listed_edges = 3;
    d.feature_count = 2;
    d.features = {0, 1, 2, 3, 4, 5, 6, 7};
    d.classes = 2;
    d.labels = {0, 1, 1, -1};
    d.splits = 1;
    d.masks = {Split::train, Split::validation, Split::test, Split::none};
    return d;
}

/// The folder of real datasets, or empty, with a reason printed.
inline fs::path shared_data() {
    const char* folder = std::getenv("GNNBENCH_SHARED_DATA");
    if (folder && fs::exists(fs::path(folder) / "README.md")) return folder;
    WARN("skipped: GNNBENCH_SHARED_DATA names no folder of real datasets");
    return {};
}

}  // namespace gnnbench::test
