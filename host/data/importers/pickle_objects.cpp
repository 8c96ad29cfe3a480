#include <data/importers/pickle_objects.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench {

namespace {

struct Admitted {
    const char* name;
    enum Meaning { reconstruct, ndarray, dtype, csr, defaultdict, list } meaning;
};
constexpr std::array admitted{
    Admitted{"numpy.core.multiarray _reconstruct", Admitted::reconstruct},
    Admitted{"numpy._core.multiarray _reconstruct", Admitted::reconstruct},
    Admitted{"numpy ndarray", Admitted::ndarray},
    Admitted{"numpy dtype", Admitted::dtype},
    Admitted{"scipy.sparse.csr csr_matrix", Admitted::csr},
    Admitted{"scipy.sparse._csr csr_matrix", Admitted::csr},
    Admitted{"collections defaultdict", Admitted::defaultdict},
    Admitted{"__builtin__ list", Admitted::list},
    Admitted{"builtins list", Admitted::list},
};

[[noreturn]] void fail(const std::string& where, const std::string& finding) {
    throw DataError(fmt::format("{}: a pickled {}", where, finding));
}

std::optional<Admitted::Meaning> meaning(const PickleValue& value) {
    auto global = std::get_if<PickleGlobal>(&value.is);
    if (!global) return std::nullopt;
    for (const auto& a : admitted)
        if (global->name == a.name) return a.meaning;
    return std::nullopt;
}

template <class T>
const T& get(const std::vector<PicklePtr>& items, std::size_t i, const std::string& where, const char* what) {
    if (i < items.size())
        if (auto value = std::get_if<T>(&items[i]->is)) return *value;
    fail(where, fmt::format("{} is not what NumPy or SciPy writes", what));
}

std::vector<std::int64_t> as_shape(const PickleTuple& tuple, const std::string& where) {
    std::vector<std::int64_t> shape;
    for (std::size_t i = 0; i < tuple.items.size(); ++i) {
        shape.push_back(get<std::int64_t>(tuple.items, i, where, "shape"));
        if (shape.back() < 0) fail(where, "shape is negative");
    }
    return shape;
}

/// (version, byte order, …).
void build_dtype(PickleDtype& type, const PickleTuple& state, const std::string& where) {
    const auto& order = get<std::string>(state.items, 1, where, "element type");
    if (order != "<" && order != "|" && order != "=")
        fail(where, fmt::format("array has elements of byte order '{}'; little-endian ones are read", order));
    type.descr.front() = order == "|" ? '|' : '<';
}

/// (version, shape, element type, columns first?, bytes).
void build_array(PickleArray& array, const PickleTuple& state, const std::string& where) {
    const auto& bytes = get<std::string>(state.items, 4, where, "array");
    NpyHeader header;
    header.shape = as_shape(get<PickleTuple>(state.items, 1, where, "array"), where);
    header.descr = get<PickleDtype>(state.items, 2, where, "array").descr;
    header.fortran_order = get<bool>(state.items, 3, where, "array");
    auto first = reinterpret_cast<const std::byte*>(bytes.data());
    array.array = std::make_shared<NpyArray>(header, std::vector<std::byte>(first, first + bytes.size()), where);
}

const PickleValue& member(const PickleDict& dict, const std::string& name, const std::string& where) {
    for (const auto& [key, value] : dict.items)
        if (auto text = std::get_if<std::string>(&key->is); text && *text == name) return *value;
    fail(where, fmt::format("csr_matrix has no member {}", name));
}

const NpyArray& array_member(const PickleDict& dict, const std::string& name, const std::string& where) {
    auto array = std::get_if<PickleArray>(&member(dict, name, where).is);
    if (!array || !array->array) fail(where, fmt::format("csr_matrix has a {} that is not an array", name));
    return *array->array;
}

void build_csr(PickleCsr& csr, const PickleDict& state, const std::string& where) {
    auto tuple = std::get_if<PickleTuple>(&member(state, "_shape", where).is);
    auto shape = tuple ? as_shape(*tuple, where) : std::vector<std::int64_t>{};
    if (shape.size() != 2) fail(where, "csr_matrix has a _shape that is not a pair of numbers");
    csr.rows = shape[0];
    csr.cols = shape[1];
    csr.indptr = array_member(state, "indptr", where).as<std::int64_t>();
    csr.indices = array_member(state, "indices", where).as<std::int64_t>();
    csr.data = array_member(state, "data", where).as<float>();
    auto nonzeros = static_cast<std::int64_t>(csr.indices.size());
    if (csr.rows > INT32_MAX || csr.cols > INT32_MAX)
        fail(where, fmt::format("csr_matrix is {} × {}; at most {} rows and columns are allowed", csr.rows,
                                csr.cols, INT32_MAX));
    bool rows_fit = static_cast<std::int64_t>(csr.indptr.size()) == csr.rows + 1 && csr.indptr.front() == 0 &&
                    csr.indptr.back() == nonzeros && std::ranges::is_sorted(csr.indptr);
    if (!rows_fit || csr.data.size() != csr.indices.size())
        fail(where, "csr_matrix has arrays of inconsistent lengths");
    if (!std::ranges::all_of(csr.indices, [&](auto c) { return c >= 0 && c < csr.cols; }))
        fail(where, fmt::format("csr_matrix of {} columns has a column index out of range", csr.cols));
}

}  // namespace

PickleGlobal admitted_global(const std::string& name, const std::string& where) {
    if (std::ranges::any_of(admitted, [&](const auto& a) { return name == a.name; })) return {name};
    auto dotted = name;
    std::ranges::replace(dotted, ' ', '.');
    fail(where,
         fmt::format(
             "object is {}, which is refused: only NumPy arrays, SciPy CSR matrices, dict and list are data; "
             "anything else could run code",
             dotted));
}

PickleValue call_global(const PickleValue& callee, const PickleValue& arguments, const std::string& where) {
    auto tuple = std::get_if<PickleTuple>(&arguments.is);
    auto what = meaning(callee);
    if (!tuple || !what) fail(where, "call of an object that is not a type");
    const auto& args = tuple->items;
    PickleValue made{PickleNone{}};
    if (*what == Admitted::reconstruct && !args.empty() && meaning(*args[0]) == Admitted::ndarray)
        made.is = PickleArray{};
    else if (*what == Admitted::csr && args.empty())
        made.is = PickleCsr{};
    else if (*what == Admitted::list && args.empty())
        made.is = PickleList{};
    else if (*what == Admitted::defaultdict && args.size() == 1 && meaning(*args[0]) == Admitted::list)
        made.is = PickleDict{};
    else if (*what == Admitted::dtype)
        made.is = PickleDtype{"<" + get<std::string>(args, 0, where, "element type")};
    else
        fail(where, "object is not constructed as NumPy and SciPy do");
    return made;
}

void build_object(PickleValue& object, const PickleValue& state, const std::string& where) {
    auto tuple = std::get_if<PickleTuple>(&state.is);
    auto dict = std::get_if<PickleDict>(&state.is);
    if (auto type = std::get_if<PickleDtype>(&object.is); type && tuple) return build_dtype(*type, *tuple, where);
    if (auto array = std::get_if<PickleArray>(&object.is); array && tuple)
        return build_array(*array, *tuple, where);
    if (auto csr = std::get_if<PickleCsr>(&object.is); csr && dict) return build_csr(*csr, *dict, where);
    fail(where, "state does not belong to its object");
}

}  // namespace gnnbench
