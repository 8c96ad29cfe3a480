#pragma once
#include <filesystem>
#include <span>
#include <string>

namespace gnnbench {

/// A file's ending, and what it stands for: {".md", "markdown"}.
struct Ending {
    const char* ending;
    const char* format;
};

/// What is written to `output`: the format that was asked for, else that of the file's ending, else `otherwise` where
/// there is no file. Throws SpecError for an ending that stands for nothing, and for one that contradicts `asked`.
std::string format_for(const std::filesystem::path& output, const std::string& asked,
                       std::span<const Ending> endings, const std::string& otherwise);

}  // namespace gnnbench
