#include "cli/report_choice.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

#include "record/origin.hpp"
#include "run/definitions.hpp"
#include "run/judged_claims.hpp"
#include "spec/experiment_names.hpp"
#include "spec/table_definition.hpp"

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

/// A name in parts that compare as people sort: tables before figures, figure-9 before figure-10.
std::vector<std::pair<std::string, long>> sort_key(const fs::path& file) {
    const std::string stem = file.stem().string();
    std::vector<std::pair<std::string, long>> key{
        {file.parent_path().string(), stem.starts_with("figure") ? 1 : 0}};
    for (std::size_t at = 0; at < stem.size();) {
        std::size_t end = at;
        const bool number = std::isdigit(static_cast<unsigned char>(stem[at])) != 0;
        while (end < stem.size() && (std::isdigit(static_cast<unsigned char>(stem[end])) != 0) == number) ++end;
        const std::string part = stem.substr(at, end - at);
        key.emplace_back(number ? "" : part, number ? std::stol(part.substr(0, 9)) : 0);
        at = end;
    }
    return key;
}

/// Collects what is named, each experiment or definition once.
class Gathering {
public:
    explicit Gathering(const GlobalOptions& options) : recorded_(recorded_experiments(options.database)) {}

    void add(const std::string& named) {
        if (add_experiments({named})) return;
        if (const auto folder = find_experiment_folder(named))
            add_folder(*folder);
        else if (const auto definition = find_definition(named))
            add_definition(*definition);
        else if (!fs::is_regular_file(named) || !add_experiments(experiment_names(named)))
            refuse(named);
    }

    void add_everything() {
        if (recorded_.empty())
            throw SpecError(
                "the database has no experiment to report on; `gnnbench run` makes one, and a folder such as "
                "experiments/plexus can be named to see the published numbers alone");
        add_experiments(recorded_);
        for (const std::string& name : definition_names()) {
            const fs::path file = *find_definition(name);
            if (!shows_any(load_table_definition(file))) continue;
            files_.insert(file);
            add_claims_of(file.parent_path());
        }
    }

    ReportContents contents() const {
        ReportContents all{{files_.begin(), files_.end()}, {}, claims_};
        std::ranges::sort(all.definitions, {}, sort_key);
        for (const std::string& name : recorded_)
            if (experiments_.contains(name)) all.experiments.push_back(name);
        return all;
    }

private:
    bool shows_any(const TableDefinition& t) const {
        for (const char* profile : paper_profiles)
            for (const std::string& name : under_profile(t.experiments, profile))
                if (experiments_.contains(name)) return true;
        return false;
    }

    void add_definition(const fs::path& file) {
        files_.insert(file);
        const TableDefinition t = load_table_definition(file);
        for (const char* profile : paper_profiles) add_experiments(under_profile(t.experiments, profile));
    }

    void add_claims_of(const fs::path& folder) {
        if (const auto file = find_claims(folder.string())) claims_.insert(*file);
    }

    void add_folder(const fs::path& folder) {
        add_claims_of(folder);
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            if (entry.path().extension() != ".yaml") continue;
            if (find_definition(entry.path().string()))
                add_definition(entry.path());
            else
                add_experiments(experiment_names(entry.path()));
        }
    }

    /// Keeps those that were ever run; returns whether there are any.
    bool add_experiments(const std::vector<std::string>& names) {
        bool any = false;
        for (const std::string& name : names)
            if (std::ranges::find(recorded_, name) != recorded_.end()) any = true, experiments_.insert(name);
        return any;
    }

    [[noreturn]] void refuse(const std::string& named) const {
        std::vector<std::string> known = recorded_;
        const auto definitions = definition_names();
        known.insert(known.end(), definitions.begin(), definitions.end());
        throw SpecError(
            "expected an experiment of the database, a paper's table or figure, or a folder of those; '" + named +
            "' is none" + did_you_mean(named, known) +
            (fs::is_regular_file(named) ? " (gnnbench run would measure it)" : ""));
    }

    std::vector<std::string> recorded_;  ///< in the order in which they first ran
    std::set<fs::path> files_, claims_;
    std::set<std::string> experiments_;
};

}  // namespace

ReportContents chosen_contents(const std::vector<std::string>& named, const GlobalOptions& options) {
    Gathering gathering(options);
    for (const std::string& name : named) gathering.add(name);
    if (named.empty()) gathering.add_everything();
    return gathering.contents();
}

}  // namespace gnnbench
