#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <data/npy.hpp>

namespace gnnbench {

struct PickleValue;
using PicklePtr = PickleValue*;  ///< into the Pickle that it belongs to

struct PickleNone {};
struct PickleMark {};
struct PickleGlobal {
    std::string name;
};  ///< one of the permitted ones
struct PickleDtype {
    std::string descr;
};  ///< "<f4"
struct PickleList {
    std::vector<PicklePtr> items;
};
struct PickleTuple {
    std::vector<PicklePtr> items;
};
struct PickleDict {
    std::vector<std::pair<PicklePtr, PicklePtr>> items;
};
struct PickleArray {
    std::shared_ptr<NpyArray> array;
};  ///< null until it is built
struct PickleCsr {  ///< scipy.sparse.csr_matrix
    std::int64_t rows = 0, cols = 0;
    std::vector<std::int64_t> indptr, indices;
    std::vector<float> data;
};

struct PickleValue {
    std::variant<PickleNone, PickleMark, bool, std::int64_t, double, std::string, PickleGlobal, PickleDtype,
                 PickleList, PickleTuple, PickleDict, PickleArray, PickleCsr>
        is;
};

/// A pickle's values. It owns them all in a flat list: a value may contain itself, or a million nested lists, and is
/// still destroyed without recursion.
struct Pickle {
    std::deque<PickleValue> values;
    PicklePtr root = nullptr;

    PicklePtr add(PickleValue value) { return &values.emplace_back(std::move(value)); }
};

/// Reads a Python pickle of protocol 2 or 3 that holds numbers, texts, lists, tuples, dictionaries, NumPy arrays
/// and SciPy CSR matrices. Nothing is executed: a pickle that names any other Python object is refused, with that
/// name. Throws DataError, beginning with `where`.
Pickle load_pickle(std::span<const std::byte> bytes, const std::string& where);

}  // namespace gnnbench
