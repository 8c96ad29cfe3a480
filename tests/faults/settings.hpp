#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "data/store.hpp"
#include "faults/training_case.hpp"

namespace gnnbench::faults {

/// A row of healthy_settings.csv: a training without a fault.
struct HealthySetting {
    int number = 0;  ///< of the row, from 1
    std::string graph;
    LayerKind layers = LayerKind::gcn;
    std::vector<std::int64_t> hidden;
    Normalisation normalisation = Normalisation::symmetric;
    Activation activation = Activation::relu;
    double dropout = 0;
    OptimizerKind optimizer = OptimizerKind::adam;
    double learning_rate = 0.01;
    std::string scheme;
    int ranks = 1;
    std::string text;  ///< the row

    ModelSpec model(const DatasetView& data) const;
    TrainSpec train() const;
};

/// Throws DataError where a row is not as the head says.
std::vector<HealthySetting> read_settings(const std::filesystem::path& csv);

/// The graphs of the list: real ones where they are there, and else a generated one in the place of each. Stores are
/// made below a folder. Collective.
class SettingGraphs {
public:
    /// `shared`: the folder of real datasets, or empty.
    SettingGraphs(std::filesystem::path shared, std::filesystem::path stores)
        : shared_(std::move(shared)), stores_(std::move(stores)) {}
    DatasetView view(const std::string& name, const ProcessGroup& world);
    /// Whether the real one is there, or it is a generated one by itself.
    bool is_itself(const std::string& name) const;

private:
    std::filesystem::path shared_, stores_;
    std::map<std::string, Store> opened_;
};

/// Verifies it on the `cpu` kernel.
VerifiedTraining verify(const HealthySetting& s, const DatasetView& data, const std::string& scheme,
                        Injected injected, const ProcessGroup& world);

}  // namespace gnnbench::faults
