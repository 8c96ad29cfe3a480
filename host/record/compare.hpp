#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/verdict.hpp"

namespace gnnbench {

/// Trials of one cell on side A beside those of the matching cell on side B.
struct ComparedCell {
    std::string dataset, partitioner;
    std::string scheme_a, scheme_b;  ///< labels; equal unless schemes are compared
    int gpus = 1;
    std::string others;  ///< further fields that distinguish cells: "hidden=64, seed=1"
    std::int64_t trials_a = 0, trials_b = 0;
    std::int64_t pairs = 0;  ///< of them, those measured by turns (see interleaved_pairs)
    /// From the pairs alone; if the sides were measured at different times, from all trials, which gives no verdict.
    Comparison verdict;
    bool paired = true;
    std::optional<std::int64_t> bytes_a, bytes_b, messages_a,
        messages_b;  ///< per epoch; empty where trials differ
    bool oversubscribed = false;
    bool simulated_a = false, simulated_b = false;  ///< predicted by a model, not measured
};

/// Where a side's newest trial came from, as its provenance says.
struct SideSource {
    std::string file, profile;
    std::vector<std::string> overrides;
    std::string build, commit;
};

struct ComparedSides {
    std::string a, b;  ///< as given
    SideSource source_a, source_b;
    /// Fields whose values differ between the sides; cells are matched by the others.
    std::vector<std::string> compared_fields;
    std::vector<ComparedCell> cells;
    std::int64_t only_a = 0, only_b = 0;  ///< cells without a match on the other side
    std::int64_t other_graphs = 0;  ///< of those of A, the ones that B has with another graph of the same name
    std::string machine;            ///< that measured both
    /// Trials that count towards a side's experiment but were measured by other experiments.
    std::int64_t borrowed_a = 0, borrowed_b = 0;
    /// Cells whose sides were measured at different times.
    std::int64_t apart() const;
};

/// Reads both sides (see read_choice), narrowed by `where`, and judges every cell that is on both. The newest ok
/// trial of each number counts, on the machine of the newest trial of B; a verdict is of pairs measured by turns. Throws SpecError where a side has no
/// trials, both have the same, or a cell matches several.
ComparedSides compare_sides(const std::filesystem::path& database, const std::string& a, const std::string& b,
                            const std::string& where, const CompareRules& rules);

}  // namespace gnnbench
