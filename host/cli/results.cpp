// gnnbench results list | show | tag | export | import: what the database holds, for people and other programs.
#include <filesystem>
#include <fstream>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

#include "cli/archive.hpp"
#include "cli/experiment_options.hpp"
#include "cli/endings.hpp"
#include "cli/formats.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/ranges.hpp"
#include "core/existing_folder.hpp"
#include "record/choice.hpp"
#include "record/merge.hpp"
#include "record/migrations.hpp"
#include "record/query.hpp"
#include "report/rows.hpp"
#include "run/tagging.hpp"

namespace gnnbench {

namespace {

using nlohmann::json;

/// Adds the options that select trials.
void add_choice_options(CLI::App& command, TrialChoice& choice) {
    command.add_option("--experiment", choice.experiment, "Of this experiment")->type_name("MEASURED");
    command.add_option("--tag", choice.tag, "With this tag")->type_name("TAG");
    command.add_option("--commit", choice.commit, "Measured by a build of this commit")->type_name("HASH");
    add_where_option(command, choice.where);
}

std::vector<std::string> uuids(const GlobalOptions& options, const TrialChoice& choice) {
    Database::for_reading(options.database);  // migrates its schema, so that the table of tags exists
    return chosen_uuids(options.database, choice);
}

std::vector<SqlValue> as_argument(const std::vector<std::string>& trials) { return {json(trials).dump()}; }

// --- list ---------------------------------------------------------------------------------------------------

void add_list(CLI::App& results, const GlobalOptions& options, Action& action) {
    CLI::App* command = results.add_subcommand("list", "Measured trials, what was recorded last first");
    auto choice = std::make_shared<TrialChoice>();
    auto most = std::make_shared<std::int64_t>(50);
    add_choice_options(*command, *choice);
    command->add_option("--limit", *most, "Rows at most; 0: all (default: 50)")->check(at_least(0));
    const auto format = add_format_options(*command);
    command->callback([=, &options, &action] {
        action = [=, &options] {
            require_database(options.database);
            const auto trials = uuids(options, *choice);
            std::vector<SqlValue> arguments = as_argument(trials);
            arguments.emplace_back(*most == 0 ? std::int64_t{-1} : *most);
            const QueryResult rows = query(
                options.database,
                "SELECT substr(t.uuid, 1, 8) AS trial, x.name AS experiment, c.dataset, c.scheme_label AS scheme, "
                "c.partitioner_label AS partitioner, c.gpus, t.number, t.status, t.epoch_s, c.simulated_on, "
                "substr(t.started, 1, 19) AS started, "
                "substr(coalesce(json_extract(t.provenance, '$.commit'), ''), 1, 8) AS \"commit\", "
                "coalesce((SELECT group_concat(name, ' ') FROM tag WHERE trial_id = t.id), '') AS tags "
                "FROM json_each(?1) j JOIN trial t ON t.uuid = j.value JOIN cell c ON c.id = t.cell_id "
                "JOIN experiment x ON x.id = t.experiment_id ORDER BY t.id DESC LIMIT ?2",
                arguments);
            std::cout << render_rows(rows, *format);
            if (rows.rows.size() < trials.size())
                std::cerr << fmt::format("{} of {} trials; --limit 0 shows all\n", rows.rows.size(),
                                         trials.size());
            return exit_ok;
        };
    });
}

// --- show ---------------------------------------------------------------------------------------------------

struct Part {
    const char* name;
    const char* sql;
};
constexpr Part parts[] = {
    {"ranks",
     "SELECT rank, host, pid, device, memory_bytes, stated_memory_bytes FROM trial_rank WHERE trial_id = (SELECT "
     "id FROM shown) ORDER "
     "BY rank"},
    {"phases",
     "SELECT p.rank, p.phase, avg(p.seconds) AS mean_s FROM rank_phase p JOIN epoch e USING (trial_id, epoch) "
     "WHERE p.trial_id "
     "= (SELECT id FROM shown) AND NOT e.warmup GROUP BY p.rank, p.phase ORDER BY p.rank, mean_s DESC"},
    {"volumes",
     "SELECT v.rank, v.operation, v.content, v.sent_bytes, s.sent_bytes AS stated_sent_bytes, v.received_bytes, "
     "v.messages "
     "FROM rank_volume v LEFT JOIN stated_volume s USING (trial_id, rank, operation, content) WHERE v.trial_id = "
     "(SELECT id FROM shown) AND v.epoch = "
     "(SELECT max(epoch) FROM epoch WHERE trial_id = (SELECT id FROM shown)) ORDER BY v.rank, v.operation"},
    {"evaluations",
     "SELECT epoch, metric, train, validation, test, wall_s FROM evaluation WHERE trial_id = (SELECT id FROM "
     "shown) "
     "ORDER BY epoch"},
    {"verification",
     "SELECT v.status, v.reason, v.loss_error, v.gradient_error, json_extract(v.checks, '$.float64_error') AS "
     "float64_error, json_extract(v.checks, '$.float64_kernel') AS float64_kernel, v.volume_equal, "
     "v.sampled_vertices, json_extract(v.checks, '$.rounding') AS rounding, json_extract(v.checks, "
     "'$.learning_rate') AS learning_rate, json_extract(v.checks, '$.response') AS response FROM verified v"},
    {"checks",
     "SELECT c.key AS \"check\", json_extract(c.value, '$.calls') AS calls, json_extract(c.value, '$.elements') "
     "AS "
     "elements, json_extract(c.value, '$.worst_ratio') AS worst_ratio, json_extract(c.value, '$.worst') AS worst "
     "FROM verified v, json_each(v.checks, '$.checks') c"},
    {"tags", "SELECT name AS tag FROM tag WHERE trial_id = (SELECT id FROM shown) ORDER BY name"},
    {"imports",
     "SELECT i.source, i.imported FROM imported_trial x JOIN import i ON i.id = x.import_id WHERE x.trial_id = "
     "(SELECT id FROM shown)"},
};

/// What parts are read from: `shown`, the trial, and `verified`, the verification that decides about it.
constexpr const char* shown_and_verified =
    "WITH shown AS (SELECT id, cell_id FROM trial WHERE uuid = ?1), verified AS (SELECT * FROM verification WHERE "
    "trial_id = (SELECT id FROM trial WHERE uuid = ?2)) ";

/// UUID of the trial whose verification decides about this one: its own, if it is one or failed its late step, else its
/// combination's. Empty: there is none.
std::string deciding_verification(const Database& database, const std::string& uuid) {
    const QueryResult own = query(database.path(),
                                  "SELECT t.purpose = 'verify' OR coalesce(v.status, '') = 'failed', "
                                  "c.verification_key FROM trial t JOIN cell c ON c.id = t.cell_id "
                                  "LEFT JOIN verification v ON v.trial_id = t.id WHERE t.uuid = ?1",
                                  std::vector<SqlValue>{uuid});
    if (std::get<std::int64_t>(own.rows.at(0).at(0)) != 0) return uuid;
    const auto found = database.verification(std::get<std::string>(own.rows.at(0).at(1)));
    return found ? found->trial : "";
}

json to_json(const SqlValue& value) {
    return std::visit(
        [](const auto& v) -> json {
            if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>)
                return nullptr;
            else
                return v;
        },
        value);
}

json to_json(const std::vector<std::string>& columns, const SqlRow& row) {
    json object = json::object();
    for (std::size_t c = 0; c < row.size(); ++c) object[columns[c]] = to_json(row[c]);
    return object;
}

int show(const std::string& begins, bool as_json, const GlobalOptions& options) {
    require_database(options.database);
    const Database database = Database::for_reading(options.database);
    const std::string uuid = whole_uuid(options.database, begins);
    const QueryResult trial =
        query(options.database, "SELECT * FROM trials WHERE trial = ?1", std::vector<SqlValue>{uuid});
    const std::vector<SqlValue> arguments{uuid, deciding_verification(database, uuid)};
    json all{{"trial", to_json(trial.columns, trial.rows.at(0))}};
    QueryResult fields{{"field", "value"}, {}};
    for (std::size_t c = 0; c < trial.columns.size(); ++c)
        if (const SqlValue& v = trial.rows[0][c];
            !std::holds_alternative<std::monostate>(v) && v != SqlValue(std::string()))
            fields.rows.push_back({trial.columns[c], v});
    if (!as_json) std::cout << render_rows(fields, OutputFormat::text);
    for (const Part& part : parts) {
        const QueryResult rows = query(options.database, std::string(shown_and_verified) + part.sql, arguments);
        json list = json::array();
        for (const SqlRow& row : rows.rows) list.push_back(to_json(rows.columns, row));
        if (!as_json && !rows.rows.empty())
            std::cout << '\n' << part.name << '\n' << render_rows(rows, OutputFormat::text);
        all[part.name] = std::move(list);
    }
    if (as_json) print_json(std::cout, all);
    return exit_ok;
}

void add_show(CLI::App& results, const GlobalOptions& options, Action& action) {
    CLI::App* command = results.add_subcommand("show", "Everything about one trial but its epochs");
    auto trial = std::make_shared<std::string>();
    auto as_json = std::make_shared<bool>(false);
    command->add_option("trial", *trial, "Its UUID, or how that begins")->required()->type_name("TRIAL");
    command->add_flag("--json", *as_json, "As JSON");
    command->callback(
        [=, &options, &action] { action = [=, &options] { return show(*trial, *as_json, options); }; });
}

// --- tag ----------------------------------------------------------------------------------------------------

int tag(const std::string& name, const TrialChoice& choice, bool remove, const GlobalOptions& options) {
    require_database(options.database);
    if (choice.nothing_given())
        throw SpecError("expected trials to tag: their UUIDs, or --experiment, --tag, --commit, --where");
    check_tag(name);
    Database database(options.database);
    const TagResult result = tag_trials(database, name, choice, remove);
    if (result.meant == 0) throw SpecError("no measured trial matches; `gnnbench results list` lists them");
    std::cerr << fmt::format("{} of {} trials {} '{}'\n", result.changed, result.meant,
                             remove ? "no longer" : "now", name);
    return exit_ok;
}

void add_tag(CLI::App& results, const GlobalOptions& options, Action& action) {
    CLI::App* command = results.add_subcommand("tag", "Give trials a name, for compare and list");
    auto name = std::make_shared<std::string>();
    auto choice = std::make_shared<TrialChoice>();
    auto remove = std::make_shared<bool>(false);
    command->add_option("tag", *name, "The name")->required()->type_name("TAG");
    command->add_option("trials", choice->trials, "UUIDs, or how they begin")->type_name("TRIAL");
    add_choice_options(*command, *choice);
    command->add_flag("--remove", *remove, "Remove the tag");
    command->callback(
        [=, &options, &action] { action = [=, &options] { return tag(*name, *choice, *remove, options); }; });
}

// --- export -------------------------------------------------------------------------------------------------

constexpr const char* exportable[] = {"trials",  "latest", "epochs",      "energy",        "phases",
                                      "volumes", "spans",  "evaluations", "verifications", "cells"};

constexpr Ending export_endings[] = {{".csv", "csv"}, {".jsonl", "jsonl"}};

struct ExportRequest {
    std::string view = "trials", output;
    TrialChoice choice;
    bool json_lines = false;
};

int export_rows(const ExportRequest& request, const GlobalOptions& options) {
    require_database(options.database);
    const std::vector<std::string> views(std::begin(exportable), std::end(exportable));
    if (std::find(views.begin(), views.end(), request.view) == views.end())
        throw SpecError(fmt::format("expected a view to export, one of: {}; found '{}'{}", fmt::join(views, ", "),
                                    request.view, did_you_mean(request.view, views)));
    std::string sql = "SELECT * FROM " + request.view;
    std::vector<SqlValue> arguments;
    if (!request.choice.nothing_given()) {
        // A verification is a trial of its own, and may be of another cell: it decides for those with its key.
        const auto of_cells = [](const char* column, const char* known_by) {
            return fmt::format(
                " WHERE {} IN (SELECT c.{} FROM json_each(?1) j JOIN trial t ON t.uuid = j.value "
                "JOIN cell c ON c.id = t.cell_id)",
                column, known_by);
        };
        sql += request.view == "cells"           ? of_cells("cell", "digest")
               : request.view == "verifications" ? of_cells("key", "verification_key")
                                                 : " WHERE trial IN (SELECT value FROM json_each(?1))";
        arguments = as_argument(uuids(options, request.choice));
    }
    const bool json_lines = request.output.empty() ? request.json_lines
                                                   : format_for(request.output, request.json_lines ? "jsonl" : "",
                                                                export_endings, "csv") == "jsonl";
    std::ofstream file;
    if (!request.output.empty()) {
        require_folder_of(request.output, "--output");
        file.open(request.output, std::ios::binary);
        if (!file) throw EnvironmentError(fmt::format("cannot write '{}'", request.output));
    }
    std::ostream& out = request.output.empty() ? std::cout : file;
    std::vector<std::string> columns;
    query_each(
        options.database, sql, arguments,
        [&](const auto& names) {
            columns = names;
            if (!json_lines) out << csv_line(names);
        },
        [&](const SqlRow& row) {
            if (json_lines)
                out << to_json(columns, row).dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
            else
                out << csv_row(row);
        });
    out.flush();
    if (!out) throw EnvironmentError(fmt::format("cannot write '{}'; is the disk full?", request.output));
    return exit_ok;
}

void add_export_to(CLI::App& results, const GlobalOptions& options, Action& action) {
    CLI::App* command = results.add_subcommand(
        "export", "Print rows as CSV or JSON Lines, or write an archive of an experiment that can be run again");
    auto request = std::make_shared<ExportRequest>();
    auto experiment = std::make_shared<ExperimentChoice>();
    auto archive = std::make_shared<std::filesystem::path>();
    command
        ->add_option("view", request->view,
                     fmt::format("One of: {} (default: trials); with --archive, an experiment as it was run",
                                 fmt::join(exportable, ", ")))
        ->type_name("VIEW");
    add_choice_options(*command, request->choice);
    command->add_flag("--jsonl", request->json_lines, "As JSON Lines: an object a line (default: CSV)");
    command->add_flag_callback("--csv", [request] { request->json_lines = false; }, "As CSV");
    command->add_option("-o,--output", request->output, "Into this file: .csv or .jsonl (default: stdout)")
        ->type_name("FILE");
    command
        ->add_option("--archive", *archive,
                     "Write this file, with which `gnnbench replay` runs the experiment again")
        ->type_name("FILE");
    add_override_options(*command, *experiment);
    command->callback([=, &options, &action] {
        action = [=, &options] {
            if (archive->empty()) return export_rows(*request, options);
            if (!request->choice.nothing_given() || !request->output.empty())
                throw SpecError(
                    "--archive writes all of one experiment: expected EXPERIMENT --archive FILE alone, with "
                    "--set and --profile as it was run");
            experiment->file = request->view;
            return export_archive(*experiment, *archive, options);
        };
    });
}

// --- import -------------------------------------------------------------------------------------------------

void add_results_import(CLI::App& results, const GlobalOptions& options, Action& action) {
    CLI::App* command = results.add_subcommand("import", "Import the trials of another results database");
    auto other = std::make_shared<std::string>();
    command->add_option("database", *other, "The other database, which is not changed")
        ->required()
        ->type_name("FILE");
    command->callback([=, &options, &action] {
        action = [=, &options] {
            Database database(options.database);
            const MergeResult r = import_results(database, *other);
            std::cerr << fmt::format(
                "{} trials taken over ({} new cells, {} new experiments, {} new machines); {} were here "
                "already{}\n",
                r.trials, r.cells, r.experiments, r.machines, r.already_present,
                r.unfinished ? fmt::format("; {} still run there and were left out", r.unfinished) : "");
            return exit_ok;
        };
    });
}

}  // namespace

void add_results(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand("results", "List, show, tag, export and merge results");
    command->require_subcommand(1);
    for (const auto add : {add_list, add_show, add_tag, add_export_to, add_results_import})
        add(*command, options, action);
    add_export_to(app, options, action);  // the word alone does too
}

}  // namespace gnnbench
