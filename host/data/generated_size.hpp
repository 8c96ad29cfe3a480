#pragma once
#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// What a generator would make, known before it does.
struct GeneratedSize {
    std::string name;  ///< as tables show it
    std::int64_t vertices = 0;
    std::int64_t entries = 0;      ///< stored ones, about; never more than its parameters allow
    std::int64_t features = 0;     ///< per vertex
    std::int64_t store_bytes = 0;  ///< on disk
    std::int64_t peak_bytes = 0;   ///< memory while it is made, at least
    std::string
        unreachable;  ///< what was asked for and cannot be: "average_degree 500 asks for …"; empty: nothing
};

/// `given`: as for generate(). Throws the same SpecErrors.
GeneratedSize generated_size(const std::string& kind, const nlohmann::json& given);

}  // namespace gnnbench
