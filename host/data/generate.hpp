#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <gnnbench/params.hpp>

#include <data/raw_dataset.hpp>

namespace gnnbench {

/// "bter", "configuration", "dcsbm" …
std::vector<std::string> generator_kinds();
/// One line.
std::string generator_summary(std::string_view kind);
/// Its parameters. Throws SpecError on an unknown kind.
std::span<const ParamDecl> generator_params(std::string_view kind);

/// As tables show it: kind and size, "dcsbm-20000x40", and a digest of other parameters that are not the default.
std::string generated_name(const std::string& kind, const nlohmann::json& given);

/// What decides its content, as JSON: kind, version, parameters, and what it reads.
nlohmann::json generator_identity(const std::string& kind, const nlohmann::json& given);

/// Makes a graph with features, labels and masks; everything in it is listed in `synthetic`. The same parameters
/// give the same dataset on any number of threads. `given` are generator_params(kind), others are SpecErrors.
RawDataset generate(const std::string& kind, const nlohmann::json& given);

}  // namespace gnnbench
