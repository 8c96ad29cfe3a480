#pragma once
#include <string>

#include <data/importers/pickle.hpp>

namespace gnnbench {

/// "module name" of a Python object, when it is one of those that data needs; DataError naming it otherwise.
PickleGlobal admitted_global(const std::string& name, const std::string& where);
/// What calling it with a tuple of arguments makes: an array, element type, CSR matrix or dictionary, still empty.
PickleValue call_global(const PickleValue& callee, const PickleValue& arguments, const std::string& where);
/// Fills what call_global made with its pickled state.
void build_object(PickleValue& object, const PickleValue& state, const std::string& where);

}  // namespace gnnbench
