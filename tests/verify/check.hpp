#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include <gnnbench/transport.hpp>

#include "plugin/loader.hpp"
#include "verify/connectivity.hpp"
#include "verify/findings.hpp"
#include "verify/subjects.hpp"
#include "worker/verify/verified_training.hpp"

namespace gnnbench::verify {

/// Of each run of a cell's verification.
inline constexpr std::int64_t verified_epochs = 3;

/// Verifies cells of the product on all ranks of this launch, on the `cpu` kernel, as `gnnbench verify` does
/// (worker/verify/verified_training.hpp): against the serial float64 reference, what it states, every verb and message by
/// itself, and in float64; an approximate scheme without the reference. Partitions and references are made once.
class CellChecker {
public:
    /// References are kept in a folder. All but `references` must outlive it.
    CellChecker(const PluginCatalog& catalog, const Graphs& graphs, std::filesystem::path references,
                const ProcessGroup& world);

    /// Collective. Meaningful on rank 0.
    Finding check(const ProductCell& cell);

private:
    struct Divided {
        Partition partition;
        IndexMap index;
        Connectivity connectivity;
        std::string quality_problem;  ///< where the partition report counts another connectivity
    };
    const Divided& divided(const LoadedGraph& graph, const std::string& partitioner, const PartitionNeed& need);
    std::unique_ptr<Backend> make_backend(DType dtype, std::int64_t heads) const;
    const ReferenceResult& reference(const LoadedGraph& graph, const Subject& subject, bool trained_features);

    const PluginCatalog& catalog_;
    const Graphs& graphs_;
    std::filesystem::path references_;
    const ProcessGroup& world_;
    std::unique_ptr<BackendPlugin> backend_;
    std::map<std::tuple<std::string, std::string, Part, Part>, std::unique_ptr<Divided>> divided_;
    std::map<std::tuple<std::string, std::string, bool>, ReferenceResult> known_;  ///< by graph, layers
};

}  // namespace gnnbench::verify
