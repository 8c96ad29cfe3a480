#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "verify/product.hpp"
#include "verify/subjects.hpp"

namespace gnnbench::verify {

/// What became of one cell.
struct Finding {
    Finding() = default;
    explicit Finding(const ProductCell& cell)
        : ranks(cell.ranks),
          graph(cell.graph),
          layers(cell.layers),
          strategy(cell.strategy),
          changed(cell.changed),
          partitioner(cell.partitioner),
          standing(cell.standing),
          reason(cell.reason) {}

    int ranks = 1;
    std::string graph, layers, strategy, changed, partitioner;
    Standing standing = Standing::runs;
    std::string reason;   ///< why it did not run, or what it approximates
    std::string problem;  ///< everything that disagreed; empty where all agreed
    /// A float32 gradient that was beyond the tolerance. No problem where every verb is within its bounds and float64
    /// agrees within its own, much smaller tolerance: it was rounding.
    std::string rounding;
    double float64_error = 0;                   ///< the largest error in float64
    double loss_error = 0, gradient_error = 0;  ///< largest over epochs and matrices
    std::int64_t connectivity = -1;             ///< Σ (λ − 1), where the volume was compared with it
    double wall_s = 0;

    /// "sa-1d (backward=return), sage, wiki-Vote, metis, 4 ranks"
    std::string name() const;
    void add_problem(const std::string& text) {
        if (!text.empty()) problem += (problem.empty() ? "" : "; ") + text;
    }
};

/// What one launch did: all its cells at one number of ranks.
struct LaunchFindings {
    int ranks = 1;
    std::string mpi, commit;
    std::string build;  ///< digest of the sources (launch/machine.hpp)
    double wall_s = 0;
    bool complete = false;  ///< it came to its end
    std::vector<AbsentGraph> absent;
    std::vector<Finding> cells;
};

/// The cells that launches of this build have left in `folder`: an interrupted one resumes after them. A file that
/// cannot be read counts as none.
std::vector<Finding> findings_so_far(const std::filesystem::path& folder, int ranks);

/// One launch's findings as a file of JSON lines, written while it runs. Replaces what is there, `so_far` included.
class FindingsFile {
public:
    FindingsFile(const std::filesystem::path& folder, int ranks, const std::string& mpi,
                 const std::vector<AbsentGraph>& absent);
    void add(const Finding& finding);
    /// The last line: without it the launch did not come to its end.
    void finish(double wall_s);

private:
    void write(const nlohmann::json& line);
    std::filesystem::path path_;
};

/// All launches of a folder, by number of ranks. Throws DataError where there are none or one is no such file.
std::vector<LaunchFindings> read_findings(const std::filesystem::path& folder);

}  // namespace gnnbench::verify
