#include "run/tagging.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "record/choice.hpp"
#include "record/query.hpp"

namespace gnnbench {

void check_tag(const std::string& tag) {
    if (tag.empty() || tag.find_first_of(",: \t") != std::string::npos)
        throw SpecError(fmt::format("expected a tag without blanks, ',' and ':'; found '{}'", tag));
}

RunTag::RunTag(Database& database, std::string experiment, std::string tag)
    : database_(database), experiment_(std::move(experiment)), tag_(std::move(tag)) {
    const QueryResult newest = query(database.path(), "SELECT coalesce(max(id), 0) FROM trial");
    last_before_ = std::get<std::int64_t>(newest.rows.at(0).at(0));
}

void RunTag::name_trials(const std::vector<std::string>& measured, Progress& progress) {
    if (tag_.empty()) return;
    const QueryResult recorded = query(database_.path(),
                                       "SELECT t.uuid FROM trial t JOIN experiment x ON x.id = t.experiment_id "
                                       "WHERE t.id > ?1 AND x.name = ?2 AND t.purpose = 'measure' "
                                       "AND t.status NOT IN ('running', 'interrupted', 'skipped') ORDER BY t.id",
                                       std::vector<SqlValue>{last_before_, experiment_});
    TrialChoice choice;
    for (const SqlRow& row : recorded.rows)  // some may be of another run of this experiment
        if (const auto& trial = std::get<std::string>(row.at(0)); std::ranges::count(measured, trial) > 0)
            choice.trials.push_back(trial);
    if (choice.trials.empty()) {
        progress.problem(
            fmt::format("nothing was measured, so nothing is tagged '{0}'; --rerun or --stale measures again, and "
                        "gnnbench results tag {0} --experiment {1} tags what there is",
                        tag_, experiment_));
        return;
    }
    const TagResult result = tag_trials(database_, tag_, choice, false);
    progress.message(fmt::format("{} trial{} tagged '{}'", result.changed, result.changed == 1 ? "" : "s", tag_));
}

}  // namespace gnnbench
