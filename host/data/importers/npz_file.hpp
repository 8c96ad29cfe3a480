#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <data/npy.hpp>

namespace gnnbench {

/// Arrays of an .npz, with errors that name file and array.
class NpzFile {
public:
    /// Reads the wanted arrays. A large archive is read by several of these, one after the other.
    NpzFile(const std::filesystem::path& path, const std::vector<std::string>& wanted);

    bool has(const std::string& name) const { return arrays_.contains(name); }
    const NpyArray& at(const std::string& name) const;
    /// The array, of the given shape; an extent of −1 may be anything.
    const NpyArray& shaped(const std::string& name, const std::vector<std::int64_t>& shape) const;
    const std::string& file() const { return file_; }

private:
    std::string file_;
    std::vector<std::string> names_;  ///< of all arrays of the archive, read or not
    std::map<std::string, NpyArray> arrays_;
};

}  // namespace gnnbench
