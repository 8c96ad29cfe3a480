#include "cli/endings.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

namespace gnnbench {

std::string format_for(const std::filesystem::path& output, const std::string& asked,
                       std::span<const Ending> endings, const std::string& otherwise) {
    if (output.empty()) return asked.empty() ? otherwise : asked;
    std::string ending = output.extension().string(), format;
    std::ranges::transform(ending, ending.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    std::vector<std::string> allowed;
    for (const Ending& e : endings) {
        if (ending == e.ending) format = e.format;
        allowed.emplace_back(e.ending);
    }
    if (format.empty())
        throw SpecError(fmt::format("--output {}: expected a file that ends in one of {}; found {}",
                                    output.string(), fmt::join(allowed, ", "),
                                    ending.empty() ? "no ending" : "'" + ending + "'"));
    if (!asked.empty() && asked != format)
        throw SpecError(fmt::format("--output {}: the ending stands for {}, but --format is {}; give one of them",
                                    output.string(), format, asked));
    return format;
}

}  // namespace gnnbench
