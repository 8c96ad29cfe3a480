#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <gnnbench/params.hpp>
#include <gnnbench/part_imbalance.hpp>

#include <data/profile.hpp>

namespace gnnbench {

/// A dataset of which only its profile is known, {"expect": profile, …parameters}: for simulated ranks, which ask for sizes
/// of blocks alone (docs/simulation.md).
struct ExpectedDataset {
    /// How a partitioner that knows the graph places vertices, as a function of the number of parts.
    struct Partitioned {
        double inside = 0;
        std::optional<double> halo;  ///< nothing: what independent edges need
        std::int64_t parts = 0;      ///< at which both hold; 0: at any number
        double cut_growth = 0, halo_growth = 0;
        PartImbalance imbalance = {};                ///< at so many parts
        PartImbalance imbalance_growth = {0, 0, 0};  ///< exponents
    };
    std::string name;  ///< as tables show it
    std::string digest;
    std::int64_t vertices = 0;
    std::int64_t entries = 0;  ///< of an undirected edge both directions; without self-loops
    bool directed = false;
    DegreeProfile degrees;
    std::int64_t features = 0;
    std::int32_t classes = 0;
    std::optional<Partitioned> partitioned;  ///< nothing: only a partition at random can be expected
    bool assumed = false;                    ///< of the degrees, no source has more than their mean
};

const char* expectation_summary();
std::span<const ParamDecl> expectation_params();
/// `source`: the mapping, with the keys `expect` and, if given, `name`. Throws SpecError.
ExpectedDataset expected_dataset(const nlohmann::json& source);
bool is_expected(const nlohmann::json& source);

/// At so many parts: the share of edges that stay in their part, and rows that parts need of others for each vertex.
struct PartShares {
    double inside = 1;
    std::optional<double> halo = {};
    PartImbalance imbalance = {};
};
PartShares shares_at(const ExpectedDataset::Partitioned& partitioned, std::int64_t parts);

}  // namespace gnnbench
