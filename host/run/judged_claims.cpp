#include "run/judged_claims.hpp"

#include <algorithm>
#include <set>

#include "record/origin.hpp"
#include "report/report_origins.hpp"

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

constexpr const char* claims_name = "claims.yaml";

/// A table under the profile paper, and under each other one that has measured it.
std::vector<LoadedTable*> loaded(const TableDefinition& definition, const fs::path& database, JudgedClaims& all) {
    std::vector<LoadedTable*> under;
    for (const char* profile : {"paper", "", "small"}) {
        const bool recorded = !newest_of(database, under_profile(definition.experiments, profile)).empty();
        if (!recorded && !under.empty()) continue;  // the first has the simulated numbers
        all.tables.push_back(load_table_as(definition.file, profile, database));
        under.push_back(all.tables.back().get());
    }
    return under;
}

std::optional<std::size_t> index_of(const std::vector<TableLine>& lines, const std::string& name) {
    const auto found = std::ranges::find(lines, name, &TableLine::name);
    return found == lines.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - lines.begin()));
}

/// A number, or another result that decides something. A trial that was merely skipped or failed has none.
bool decides(const ResolvedCell& place) { return place.ours || place.word == "OOM" || !place.verdict.empty(); }

/// A simulated one, or a measured one under that profile; what has no profile goes with each. Null: there is none.
const ResolvedCell* place_of(const std::vector<LoadedTable*>& under, const std::string& row,
                             const std::string& column, EvidenceKind kind, const std::string& profile) {
    const auto r = index_of(under.front()->definition.rows, row),
               c = index_of(under.front()->definition.columns, column);
    if (!r || !c) return nullptr;
    if (kind == EvidenceKind::simulated) return under.front()->resolved.simulated_at(*r, *c);
    const ResolvedCell* first = nullptr;
    for (const std::string& wanted : {profile, std::string()})
        for (const LoadedTable* table : under) {
            if (table->resolved.profile != wanted) continue;
            const ResolvedCell& place = table->resolved.cells[*r][*c];
            if (decides(place)) return &place;
            if (!first) first = &place;
        }
    return first;
}

/// How many of a claim's places decide something.
std::size_t evidence(const PaperClaim& claim, const std::map<std::string, std::vector<LoadedTable*>>& under,
                     const std::string& profile) {
    std::size_t count = 0;
    for (const auto& [name, places] : claim.numbers)
        for (const std::string& row : places.rows)
            for (const std::string& column : places.columns) {
                const ResolvedCell* place =
                    place_of(under.at(places.table), row, column, EvidenceKind::measured, profile);
                count += place && decides(*place);
            }
    return count;
}

/// Of every trial of the tables' experiments.
std::map<std::int64_t, CellSource> all_sources(const JudgedClaims& claims, const fs::path& database) {
    std::set<std::string> experiments;
    for (const auto& table : claims.tables)
        for (const MeasuredCells* cells : {&table->measured, &table->simulated})
            experiments.insert(cells->experiments.begin(), cells->experiments.end());
    std::map<std::int64_t, CellSource> all;
    for (const std::string& name : experiments) {
        const ExperimentOrigin origin = read_origin(database, name);
        for (const CellOrigin& cell : origin.cells) {
            std::string command = run_command(origin.command);
            if (!cell.where.empty()) command += " --where " + shell_word(cell.where);
            for (const TrialOrigin& t : cell.trials)
                all.emplace(t.id, CellSource{cell.digest, command, {t.commit}, {t.started.substr(0, 10)}});
        }
    }
    return all;
}

void add_once(std::vector<std::string>& all, const std::string& text) {
    if (!text.empty() && std::ranges::find(all, text) == all.end()) all.push_back(text);
}

}  // namespace

std::vector<CellSource> sources_of(const ClaimVerdict& verdict, const JudgedClaims& claims) {
    std::map<std::string, CellSource> by_cell;
    for (const ResolvedCell* place : verdict.places)
        for (const ComparisonCell* cell : place->cells)
            for (const std::int64_t trial : cell->ok_trials) {
                const auto found = claims.sources.find(trial);
                if (found == claims.sources.end()) continue;
                const CellSource& one = found->second;
                CellSource& all =
                    by_cell.try_emplace(one.digest, CellSource{one.digest, one.command, {}, {}}).first->second;
                add_once(all.commits, one.commits.front());
                add_once(all.dates, one.dates.front());
            }
    std::vector<CellSource> cells;
    for (auto& [digest, cell] : by_cell) cells.push_back(std::move(cell));
    return cells;
}

std::unique_ptr<JudgedClaims> judged_claims(const fs::path& file, const fs::path& database, bool with_sources) {
    auto all = std::make_unique<JudgedClaims>();
    all->file = load_claims_file(file);
    std::map<std::string, std::vector<LoadedTable*>> under;
    for (const auto& [name, definition] : all->file.tables) under[name] = loaded(definition, database, *all);
    for (const PaperClaim& claim : all->file.claims) {
        // Measured numbers that are compared are of one profile: the paper's, if the small one has no more of them.
        const std::string profile =
            evidence(claim, under, "paper") >= evidence(claim, under, "small") ? "paper" : "small";
        const FindPlace find = [&](const std::string& table, const std::string& row, const std::string& column,
                                   EvidenceKind kind) {
            return place_of(under.at(table), row, column, kind, profile);
        };
        all->claims.push_back(judge(claim, find));
    }
    if (with_sources) all->sources = all_sources(*all, database);
    return all;
}

std::optional<fs::path> find_claims(const std::string& given) {
    std::error_code ignored;
    if (fs::is_regular_file(given, ignored)) return given;
    if (const auto folder = find_experiment_folder(given))
        if (fs::path file = *folder / claims_name; fs::is_regular_file(file, ignored)) return file;
    return std::nullopt;
}

std::vector<fs::path> claims_files() {
    std::map<std::string, fs::path> found;
    for (const fs::path& folder : experiment_folders()) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(folder, error)) {
            fs::path file = entry.path() / claims_name;
            if (fs::is_regular_file(file, error)) found.emplace(entry.path().filename().string(), std::move(file));
        }
    }
    std::vector<fs::path> files;
    for (auto& [name, file] : found) files.push_back(std::move(file));
    return files;
}

std::vector<std::string> claimed_papers() {
    std::vector<std::string> names;
    for (const fs::path& file : claims_files()) names.push_back(file.parent_path().filename().string());
    return names;
}

}  // namespace gnnbench
