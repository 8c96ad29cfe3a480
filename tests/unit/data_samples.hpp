#pragma once
/// Files in other programs' formats, made here: pieces of pickles, and .npz.
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <archive.h>
#include <archive_entry.h>
#include <catch2/catch.hpp>

#include <data/npy.hpp>
#include <data/text_input.hpp>
#include <unit/data_support.hpp>

namespace gnnbench::test {

/// Protocol 2, as Python 2 writes it.
namespace pickled {

using namespace std::string_literals;

inline const std::string start = "\x80\x02";
inline const std::string int_dtype =
    "cnumpy\ndtype\nU\x02i4K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"s;

/// An int32 array of up to 255 bytes; `shape` is the instructions that leave its shape on the stack.
inline std::string shaped_array(const std::string& shape, std::initializer_list<std::int32_t> values) {
    std::string bytes(values.size() * 4, '\0');
    if (!bytes.empty()) std::memcpy(bytes.data(), values.begin(), bytes.size());
    return "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01"s + "b\x87R(K\x01" + shape +
           int_dtype + "\x89U" + static_cast<char>(bytes.size()) + bytes + "tb";
}
inline std::string array(std::initializer_list<std::int32_t> values) {
    return shaped_array("K"s + static_cast<char>(values.size()) + "\x85", values);
}
inline std::string matrix(char rows, char columns, std::initializer_list<std::int32_t> values) {
    return shaped_array("K"s + rows + "K" + columns + "\x86", values);
}
/// A SciPy CSR matrix whose parts are given as instructions.
inline std::string csr(char rows, char columns, const std::string& indptr, const std::string& indices,
                       const std::string& data) {
    return "cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shapeK"s + rows + "K" + columns + "\x86U\x06indptr" +
           indptr + "U\x07indices" + indices + "U\x04"s + "data" + data + "ub";
}

}  // namespace pickled

/// `members`: names without .npy, and the .npy files.
inline void write_npz(const std::filesystem::path& file,
                      const std::vector<std::pair<std::string, std::filesystem::path>>& members) {
    auto a = archive_write_new();
    archive_write_set_format_zip(a);
    REQUIRE(archive_write_open_filename(a, file.c_str()) == ARCHIVE_OK);
    for (const auto& [name, path] : members) {
        auto bytes = read_all(path);
        auto entry = archive_entry_new();
        archive_entry_set_pathname(entry, (name + ".npy").c_str());
        archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_write_header(a, entry);
        archive_write_data(a, bytes.data(), bytes.size());
        archive_entry_free(entry);
    }
    archive_write_free(a);
}

/// An .npy file whose header says what it likes.
inline std::string npy_content(const std::string& descr, const std::string& shape, const std::string& elements,
                               bool fortran = false) {
    std::string text = "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
    text.append(63 - (10 + text.size()) % 64, ' ');
    using namespace std::string_literals;
    return "\x93NUMPY\x01"s + '\0' + static_cast<char>(text.size() + 1) + '\0' + text + "\n" + elements;
}

/// The elements of an array as bytes.
template <class T>
std::string bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// Arrays for an .npz; a name that is given again replaces what it had.
class NpzSample {
public:
    template <class T>
    NpzSample& array(const std::string& name, const std::vector<T>& values, std::vector<std::int64_t> shape) {
        write_npy<T>(place(name), values, std::move(shape));
        return *this;
    }
    NpzSample& content(const std::string& name, const std::string& npy) {
        place(name);
        folder_->write(name + ".npy", npy);
        return *this;
    }
    NpzSample& text(const std::string& name, const std::string& value) {
        return content(name, npy_content("|S" + std::to_string(value.size()), "()", value));
    }
    NpzSample& without(const std::string& name) {
        std::erase_if(members_, [&](const auto& m) { return m.first == name; });
        return *this;
    }
    void write(const std::filesystem::path& file) const { write_npz(file, members_); }

private:
    std::filesystem::path place(const std::string& name) {
        without(name);
        return members_.emplace_back(name, *folder_ / (name + ".npy")).second;
    }
    std::shared_ptr<TempFolder> folder_ = std::make_shared<TempFolder>();
    std::vector<std::pair<std::string, std::filesystem::path>> members_;
};

/// A matrix in compressed rows as scipy.sparse.save_npz writes it; every value is 1.
inline NpzSample scipy_csr(std::int64_t n, const std::vector<std::int32_t>& indptr,
                           const std::vector<std::int32_t>& indices) {
    NpzSample npz;
    npz.array<std::int32_t>("indices", indices, {std::ssize(indices)});
    npz.array<std::int32_t>("indptr", indptr, {std::ssize(indptr)}).text("format", "csr");
    npz.array<std::int64_t>("shape", {n, n}, {2});
    return npz.array("data", std::vector<float>(indices.size(), 1), {std::ssize(indices)});
}

}  // namespace gnnbench::test
