#pragma once
#include <string>

#include <nlohmann/json.hpp>

#include "core/json_nesting.hpp"

namespace gnnbench {

/// JSON text of a database, which may be a stranger's: null where it is damaged, or nested deeper than any of ours.
template <class Json = nlohmann::json>
Json stored_json(const std::string& text) {
    Json value = nested_deeper(text) ? Json() : Json::parse(text, nullptr, false);
    return value.is_discarded() ? Json() : value;
}

}  // namespace gnnbench
