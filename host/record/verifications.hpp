#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gnnbench {

namespace sqlite {
class Connection;
}

struct VerificationRecord {
    std::string trial, status, reason, detail;  ///< status: verified failed unverified
    std::optional<double> loss_error, gradient_error;
    std::optional<bool> volume_equal;
    std::int64_t sampled_vertices = 0;  ///< 0: the whole graph
};

/// The newest verification under the key; where the last try left none (it crashed), `unverified` with why.
std::optional<VerificationRecord> find_verification(const sqlite::Connection& connection, const std::string& key);

/// One combination of an experiment and what its verification found; status `unverified` where none was tried.
struct VerificationRow {
    std::string dataset, scheme, partitioner, kernel, precision;
    int gpus = 1;
    VerificationRecord found;
};
/// The combinations of an experiment's cells, each once, in its order.
std::vector<VerificationRow> read_verifications(const std::filesystem::path& database,
                                                const std::string& experiment);

}  // namespace gnnbench
