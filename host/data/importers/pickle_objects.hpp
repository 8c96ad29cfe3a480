#pragma once
#include <string>

#include <data/importers/pickle.hpp>

namespace gnnbench {

/// "module name" of a Python object if it is one of those that data needs; otherwise a DataError that names it.
PickleGlobal admitted_global(const std::string& name, const std::string& where);
/// The result of calling it with a tuple of arguments: an array, element type, CSR matrix or dictionary, still empty.
PickleValue call_global(const PickleValue& callee, const PickleValue& arguments, const std::string& where);
/// Fills the result of call_global with its pickled state.
void build_object(PickleValue& object, const PickleValue& state, const std::string& where);

}  // namespace gnnbench
