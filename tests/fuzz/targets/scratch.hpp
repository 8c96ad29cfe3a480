#pragma once
/// A folder for what a target writes, in memory where that can be, removed when the target ends.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

namespace gnnbench::fuzz {

class Scratch {
public:
    Scratch() {
        std::string pattern =
            (std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp") + std::string("/gnnbench-fuzz-XXXXXX");
        if (!::mkdtemp(pattern.data())) std::abort();
        path_ = pattern;
    }
    Scratch(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path write(const std::filesystem::path& name, std::string_view content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
        return path_ / name;
    }

private:
    std::filesystem::path path_;
};

}  // namespace gnnbench::fuzz
