#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <set>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "cli/drawing.hpp"
#include "cli/endings.hpp"
#include "cli/experiment_options.hpp"
#include "cli/options.hpp"
#include "cli/report_choice.hpp"
#include "cli/written.hpp"
#include "core/printable.hpp"
#include "launch/machine.hpp"
#include "record/comparison.hpp"
#include "record/timeline.hpp"
#include "report/report_parts.hpp"
#include "report/report_timelines.hpp"
#include "report/scaling_figure.hpp"
#include "run/definitions.hpp"
#include "run/judged_claims.hpp"

namespace gnnbench {

namespace {

constexpr Ending page_endings[] = {{".html", "html"}, {".htm", "html"}, {".xhtml", "html"}};

struct ReportChoice {
    std::vector<std::string> what;
    std::string profile, where, title = "gnnbench report";
    std::filesystem::path output;
};

/// Builds the sections one by one; why figures cannot be drawn is reported once.
class Writer {
public:
    Writer(const ReportChoice& choice, const GlobalOptions& options)
        : choice_(choice), options_(options), contents_(chosen_contents(choice.what, options)) {
        std::erase_if(contents_.experiments, [&](const std::string& name) {
            ExperimentOrigin origin = read_origin(options.database, name, choice.where);
            if (!choice.where.empty() && origin.cells.empty()) return true;
            origins_.push_back(std::move(origin));
            return false;
        });
        if (!choice.where.empty() && origins_.empty())
            throw SpecError(fmt::format("no cell fits \"{}\"", printable(choice.where)));
        anchors_ = cell_anchors(origins_);
    }

    std::string page() {
        ReportPage page{choice_.title, lead(), {}, {}};
        for (ReportSection& section : definition_sections()) page.sections.push_back(std::move(section));
        page.sections.push_back(experiments_section());
        page.sections.push_back(timelines_section(origins_, [&](const std::string& trial) {
            return read_timeline(options_.database, trial, std::nullopt);
        }));
        if (!origins_.empty()) {
            page.sections.push_back(failures_section(origins_));
            page.sections.push_back(
                environment_section(read_environment(options_.database, contents_.experiments)));
            page.sections.push_back(origins_section(origins_));
        }
        page.tally = tally();
        return report_page(page);
    }

private:
    std::string lead() const {
        const BuildInfo build = build_info();
        return fmt::format(
            "Written {:%Y-%m-%d %H:%M} UTC by gnnbench {}{}{}.", fmt::gmtime(std::time(nullptr)), build.version,
            build.commit.empty() ? "" : " at " + build.commit.substr(0, 12),
            origins_.empty() ? ", without measurements" : ", from " + options_.database.filename().string());
    }

    std::vector<std::pair<std::string, std::string>> tally() const {
        // Experiments may share cells and trials: each counts once.
        std::set<std::string> cells, measured;
        std::set<std::int64_t> ok, others;
        for (const ExperimentOrigin& e : origins_)
            for (const CellOrigin& c : e.cells) {
                cells.insert(c.digest);
                for (const TrialOrigin& t : c.trials) {
                    const bool good = t.status == TrialStatus::ok;
                    if (good) measured.insert(c.digest);
                    if (good)
                        ok.insert(t.id);
                    else if (is_conclusive(t.status) || t.status == TrialStatus::skipped)
                        others.insert(t.id);
                }
            }
        return {{"tables and figures", fmt::format("{}", definitions_)},
                {"experiments", fmt::format("{}", origins_.size())},
                {"cells measured", fmt::format("{} of {}", measured.size(), cells.size())},
                {"trials", fmt::format("{}", ok.size())},
                {"skipped or failed", fmt::format("{}", others.size())}};
    }

    /// A section for each folder, named after the most frequent source in it: its paper.
    std::vector<ReportSection> definition_sections() {
        std::vector<ReportSection> sections;
        std::map<std::string, int> sources;
        std::filesystem::path folder;
        for (const auto& file : contents_.definitions) {
            const auto table = load_table(file, choice_.profile, options_.database, choice_.where);
            if (!choice_.where.empty() && !table->has_cells()) continue;
            ++definitions_;
            if (sections.empty() || file.parent_path() != folder) {
                folder = file.parent_path();
                sources.clear();
                sections.push_back({fmt::format("papers-{}", sections.size() + 1), "", "", {}, true});
                add_claims(folder, sections.back());
            }
            const std::string& source = table->definition.source;
            const std::string paper = source.substr(0, source.find(", "));
            ReportSection& section = sections.back();
            const int count = ++sources[paper];
            if (count > sources[section.title]) section.title = paper;
            ReportPart part = definition_part(table->resolved, anchors_, drawing_of(*table), undrawn_,
                                              number_of(table->definition.name));
            section.parts.push_back(std::move(part));
        }
        return sections;
    }

    /// Verdicts are of all cells, so they are left out where only some are shown.
    void add_claims(const std::filesystem::path& folder, ReportSection& section) {
        const auto file = std::ranges::find(contents_.claims, folder, &std::filesystem::path::parent_path);
        if (file == contents_.claims.end() || !choice_.where.empty()) return;
        const auto judged = judged_claims(*file, options_.database);
        section.parts.push_back(
            claims_part({&judged->file, judged->claims}, number_of(judged->file.name + "/claims")));
    }

    /// How many definitions of this name there are up to here: copies of one may be in several folders.
    int number_of(const std::string& name) { return ++names_[name]; }

    /// Empty where the definition is a table, or where there is no gnuplot.
    Drawing drawing_of(const LoadedTable& table) {
        if (!table.definition.plot) return {};
        return drawn(
            [&](const FigureLook& look) { return drawn_figure(table.resolved, options_.database, look); });
    }

    /// What `draw` returns for both widths; empty where nothing can be drawn, which is said once.
    Drawing drawn(const std::function<std::string(const FigureLook&)>& draw) {
        if (!undrawn_.empty()) return {};
        const FigureLook wide(FigureFormat::svg, FigureHeading::left_out);
        FigureLook narrow = wide;
        narrow.width_mm = 74;  // of so many units as a phone has pixels across
        try {
            return {draw(wide), draw(narrow)};
        } catch (const EnvironmentError& error) {
            undrawn_ = std::string("Not drawn: ") + error.what();
            std::cerr << "gnnbench: the report has no figures: " << error.what() << '\n';
            return {};
        }
    }

    ReportSection experiments_section() {
        ReportSection section{"experiments", "Experiments", "", {}, true};
        for (const ExperimentOrigin& e : origins_) {
            const ComparisonData data = read_comparison(options_.database, e.name, "", choice_.where);
            const Drawing drawing = drawn(
                [&](const FigureLook& look) { return shows_scaling(data) ? drawn_scaling(data, look) : ""; });
            section.parts.push_back(experiment_part(
                data, e, read_verifications(options_.database, e.name, choice_.where), anchors_, drawing));
        }
        return section;
    }

    const ReportChoice& choice_;
    const GlobalOptions& options_;
    ReportContents contents_;
    std::vector<ExperimentOrigin> origins_;
    CellAnchors anchors_;
    std::map<std::string, int> names_;
    std::string undrawn_;
    int definitions_ = 0;  ///< shown
};

}  // namespace

void add_report(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command =
        app.add_subcommand("report", "Write experiments, tables and figures into one HTML file to read anywhere");
    auto choice = std::make_shared<ReportChoice>();
    command
        ->add_option("what", choice->what,
                     "Experiments, papers' tables or figures, or folders of them such as experiments/plexus "
                     "(default: everything that was measured)")
        ->type_name("WHAT");
    command
        ->add_option("--profile", choice->profile, "Of the papers' tables: small, paper (default: measured last)")
        ->type_name("PROFILE");
    add_where_option(*command, choice->where);
    command->add_option("--title", choice->title, "The page's title (default: gnnbench report)")
        ->type_name("TITLE");
    command->add_option("-o,--output", choice->output, "Write it there, an .html file (default: stdout)")
        ->type_name("FILE");
    command->callback([&options, &action, choice] {
        action = [&options, choice] {
            format_for(choice->output, "", page_endings, "html");
            write_output(choice->output, Writer(*choice, options).page());
            return exit_ok;
        };
    });
}

}  // namespace gnnbench
