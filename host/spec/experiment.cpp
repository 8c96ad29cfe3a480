#include "spec/experiment.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "spec/compose.hpp"
#include "spec/expand.hpp"
#include "spec/outline.hpp"
#include "spec/overrides.hpp"

namespace gnnbench {

Experiment read_experiment(const std::string& text, const std::filesystem::path& file, const LoadOptions& options,
                           const PluginSource& plugins, const DatasetSource& datasets) {
    Findings findings;
    Experiment experiment;
    experiment.file = file;
    experiment.text = text;
    experiment.overrides = options.overrides;
    YamlNode root = parse_yaml(text, file.string(), findings);
    bool keep_name = true;
    if (root.is(YamlNode::Kind::map)) {
        Composition whole = compose(std::move(root), file, options.profile, findings);
        for (const std::string& imported : whole.imported) experiment.text += "\n---\n" + imported;
        experiment.profile = std::move(whole.profile);
        keep_name = experiment.profile.empty() || whole.profile_names;
        root = std::move(whole.root);
        apply_overrides(root, options.overrides, findings);
    } else if (!findings.empty()) {
        findings.raise();  // a syntax error: nothing more can be said
    }
    const ValueReader reader(plugins, datasets, findings);
    const Outline outline = read_outline(root, reader, findings);
    findings.raise();
    experiment.origins = outline.origins;
    expand(outline, options, plugins, experiment, findings);
    findings.raise();
    if (experiment.name.empty()) experiment.name = file.stem().string();
    if (!keep_name) experiment.name += "-" + experiment.profile;
    return experiment;
}

Experiment load_experiment(const std::filesystem::path& file, const LoadOptions& options,
                           const PluginSource& plugins, const DatasetSource& datasets) {
    std::error_code ignored;
    std::ifstream in(file, std::ios::binary);
    if (!in || std::filesystem::is_directory(file, ignored)) {
        throw SpecError(fmt::format("expected an experiment file at '{}'; {}", file.string(),
                                    in ? "that is a folder" : std::strerror(errno)));
    }
    std::ostringstream text;
    text << in.rdbuf();
    return read_experiment(text.str(), file, options, plugins, datasets);
}

}  // namespace gnnbench
