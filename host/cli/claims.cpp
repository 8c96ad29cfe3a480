// gnnbench claims: which claims of the papers hold.
#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "cli/formats.hpp"
#include "cli/options.hpp"
#include "report/claims_list.hpp"
#include "report/rows.hpp"
#include "report/table_render.hpp"
#include "run/judged_claims.hpp"

namespace gnnbench {

namespace {

struct ClaimsChoice {
    std::vector<std::string> papers;
    bool undecided = false, count = false;
    std::shared_ptr<OutputFormat> format;
};

std::vector<std::filesystem::path> files_of(const ClaimsChoice& choice) {
    if (choice.papers.empty()) {
        auto all = claims_files();
        if (all.empty())
            throw SpecError("no folder in experiments has a claims.yaml; gnnbench init --paper NAME writes one");
        return all;
    }
    std::vector<std::filesystem::path> files;
    for (const std::string& paper : choice.papers) {
        const auto file = find_claims(paper);
        if (!file)
            throw SpecError(fmt::format("expected a paper with a claims.yaml; found '{}'; {}", paper,
                                        allowed_words(paper, claimed_papers())));
        files.push_back(*file);
    }
    return files;
}

int print_claims(const ClaimsChoice& choice, const GlobalOptions& options) {
    std::vector<std::unique_ptr<JudgedClaims>> papers;
    std::vector<ClaimsView> views;
    for (const auto& file : files_of(choice)) {
        papers.push_back(judged_claims(file, options.database, *choice.format == OutputFormat::json));
        views.push_back({&papers.back()->file, papers.back()->claims});
    }
    const bool any = std::ranges::any_of(papers, [](const auto& paper) {
        return std::ranges::any_of(paper->tables, [](const auto& table) { return table->has_cells(); });
    });
    if (!any)
        std::cerr << fmt::format(
            "gnnbench: {} has no trial of these papers' experiments, so only what was counted decides a claim; "
            "gnnbench run experiments/PAPER --profile simulated (or small) runs them\n",
            options.database.string());
    const bool counts = choice.count || (choice.papers.empty() && !choice.undecided);
    if (*choice.format == OutputFormat::json && !choice.count) {
        nlohmann::ordered_json all = nlohmann::ordered_json::array();
        for (std::size_t i = 0; i < views.size(); ++i)
            all.push_back(claims_json(views[i], choice.undecided,
                                      [&](const ClaimVerdict& v) { return sources_of(v, *papers[i]); }));
        std::cout << all.dump(2) << '\n';
    } else if (counts) {
        std::cout << render_rows(claim_counts_table(views), *choice.format);
    } else {
        for (const ClaimsView& view : views)
            std::cout << (*choice.format == OutputFormat::text
                              ? claims_text(view, choice.undecided, table_width())
                              : render_rows(claims_table(view, choice.undecided), *choice.format));
    }
    return exit_ok;
}

}  // namespace

void add_claims(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand("claims", "Which claims of the papers hold, by what was measured");
    auto choice = std::make_shared<ClaimsChoice>();
    command
        ->add_option("paper", choice->papers,
                     "Papers, by their folders in experiments, or files of claims; without one: the counts of all")
        ->type_name("PAPER");
    command->add_flag("--undecided", choice->undecided,
                      "Only claims that nothing decides yet, and what is missing");
    command->add_flag("--count", choice->count, "Only how many claims have which verdict");
    choice->format = add_format_options(*command);
    command->callback(
        [&options, &action, choice] { action = [&options, choice] { return print_claims(*choice, options); }; });
}

}  // namespace gnnbench
