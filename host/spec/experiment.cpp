#include "spec/experiment.hpp"

#include "spec/compose.hpp"
#include "spec/expand.hpp"
#include "spec/outline.hpp"
#include "spec/overrides.hpp"
#include "spec/text_file.hpp"

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
    experiment.scaling = outline.scaling;
    expand(outline, options, plugins, experiment, findings);
    findings.raise();
    if (experiment.name.empty()) experiment.name = file.stem().string();
    if (!keep_name) experiment.name += "-" + experiment.profile;
    return experiment;
}

Experiment load_experiment(const std::filesystem::path& file, const LoadOptions& options,
                           const PluginSource& plugins, const DatasetSource& datasets) {
    return read_experiment(read_text_file(file, "expected an experiment file at"), file, options, plugins,
                           datasets);
}

}  // namespace gnnbench
