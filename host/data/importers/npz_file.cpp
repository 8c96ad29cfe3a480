#include <data/importers/npz_file.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include <data/importers/zip.hpp>

namespace gnnbench {

NpzFile::NpzFile(const std::filesystem::path& path, const std::vector<std::string>& wanted)
    : file_(path.string()), arrays_(read_npz(path, [&](const std::string& name) {
          names_.push_back(name);
          return std::ranges::find(wanted, name) != wanted.end();
      })) {}

const NpyArray& NpzFile::at(const std::string& name) const {
    auto found = arrays_.find(name);
    if (found == arrays_.end())
        throw DataError(fmt::format("{}: array '{}' is missing; it has {}", file_, name, fmt::join(names_, ", ")));
    return found->second;
}

const NpyArray& NpzFile::shaped(const std::string& name, const std::vector<std::int64_t>& shape) const {
    const auto& array = at(name);
    const auto& found = array.shape();
    bool fits = found.size() == shape.size();
    for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] < 0 || shape[i] == found[i];
    if (!fits)
        throw DataError(fmt::format("{}: array '{}' has shape ({}), expected ({}) where -1 is any", file_, name,
                                    fmt::join(found, ", "), fmt::join(shape, ", ")));
    return array;
}

}  // namespace gnnbench
