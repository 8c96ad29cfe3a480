#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/comparison.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {

/// The measurements behind a table of several experiments.
struct MeasuredCells {
    std::vector<std::string> experiments;  ///< those of the requested experiments that were ever run
    std::string machine, kernels;          ///< the machine of the newest trial of all experiments
    std::int64_t other_machines = 0;
    std::vector<ComparisonCell> cells;
};
/// No cells if the database does not exist or has none of the experiments. `where`: an expression over cells' fields; empty: all
/// cells.
MeasuredCells read_measured(const std::filesystem::path& database, std::span<const std::string> experiments,
                            const std::string& where = "");

/// The experiment among `experiments` whose trial is newest; empty if none was run.
std::string newest_of(const std::filesystem::path& database, std::span<const std::string> experiments);

/// Numbers of single trials.
class MetricReader {
public:
    explicit MetricReader(const std::filesystem::path& database);
    /// Names as in spec's metrics(). Empty where the trial has no such number. Throws LogicError for other names.
    std::optional<double> read(std::int64_t trial, const std::string& metric) const;
    /// Seconds of measured epochs up to the first evaluation whose test score is at least `score`; empty where none is.
    std::optional<double> training_s_until(std::int64_t trial, double score) const;

private:
    std::optional<double> product_s(std::int64_t trial) const;

    std::filesystem::path database_;
    sqlite::Connection connection_;
};

/// The newest trial with spans among these, as its UUID; empty if there is none.
std::string traced_among(const std::filesystem::path& database, std::span<const std::int64_t> trials);

}  // namespace gnnbench
