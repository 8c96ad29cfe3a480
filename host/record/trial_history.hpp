#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/database.hpp"

namespace gnnbench {

/// Time and memory of past trials on one machine, to estimate those of others.
class TrialHistory {
public:
    TrialHistory(const Database& database, const std::string& machine_fingerprint);

    struct Estimate {
        double trial_s = 0;                  ///< launch to end
        std::int64_t peak_memory_bytes = 0;  ///< of the rank that needs most; 0: unknown
        bool same_cell = false;  ///< of this cell; else of cells with the same dataset, scheme, ranks and widths
    };
    struct Setting {
        std::string cell_digest, dataset_digest, scheme, kernel;
        std::vector<std::int64_t> hidden;   ///< widths
        std::int64_t gpus = 1, epochs = 0;  ///< epochs with warm-up
    };
    /// Empty if nothing similar was measured.
    std::optional<Estimate> of(const Setting& cell) const;

private:
    struct Sum {
        double trial_s = 0, epoch_s = 0, beside_epochs_s = 0;
        std::int64_t peak_memory_bytes = 0, cells = 0;
    };
    static std::string similarity_key(const std::string& dataset_digest, const std::string& scheme,
                                      const std::string& kernel, std::int64_t gpus, const std::string& hidden);
    std::map<std::string, Sum> by_digest_, by_likeness_;
};

}  // namespace gnnbench
