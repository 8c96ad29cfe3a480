#pragma once
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "record/database.hpp"

namespace gnnbench {

/// Selects measured trials: those that satisfy every given condition.
struct TrialChoice {
    std::vector<std::string> trials;  ///< UUIDs, or how they begin; empty: any
    /// Selects an experiment's own trials and, for numbers of a cell that it did not measure itself, those of other
    /// experiments (see the view counted_trials, which has the newest of each).
    std::string experiment;
    std::string tag;
    std::string commit;  ///< of the build that measured it, or how it begins
    std::string where;   ///< expression over the cell's fields (see CellFilter)
    bool nothing_given() const {
        return trials.empty() && experiment.empty() && tag.empty() && commit.empty() && where.empty();
    }
};

/// "tag:v1", "experiment:quickstart", "commit:1a2b", "where:scheme = 'mg-gcn'", or several with commas between,
/// `where:` last. A word alone is a tag, an experiment or a commit, whichever there is. Throws SpecError where it is
/// none.
TrialChoice read_choice(const sqlite::Connection& connection, const std::string& text);

/// Row ids of the cells for which an expression over their fields holds. Throws SpecError as CellFilter does.
std::set<std::int64_t> cells_where(const sqlite::Connection& connection, const std::string& where);
/// The same of an experiment's cells; all of them where the expression is empty. Throws SpecError for an unknown experiment.
std::set<std::int64_t> cells_of(const sqlite::Connection& connection, const std::string& experiment,
                                const std::string& where);

/// Row ids of the trials, ascending. Throws SpecError where a trial, an experiment, a tag or a field does not exist.
std::vector<std::int64_t> chosen_trials(const sqlite::Connection& connection, const TrialChoice& choice);
/// Their UUIDs, in the order in which they were recorded.
std::vector<std::string> chosen_uuids(const std::filesystem::path& database, const TrialChoice& choice);
/// The UUID with this prefix. Throws SpecError if there is none or there are several.
std::string whole_uuid(const std::filesystem::path& database, const std::string& begins);

struct TagResult {
    std::int64_t meant = 0, changed = 0;  ///< trials
};
/// Gives trials a name, or takes it away.
TagResult tag_trials(Database& database, const std::string& name, const TrialChoice& choice, bool remove);

}  // namespace gnnbench
