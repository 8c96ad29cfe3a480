#include "spec/experiment_names.hpp"

#include <fstream>
#include <iterator>
#include <utility>

#include "spec/claims_file.hpp"
#include "spec/compose.hpp"
#include "spec/table_definition.hpp"
#include "spec/text_file.hpp"
#include "spec/yaml.hpp"

namespace gnnbench {

std::vector<std::string> experiment_names(const std::filesystem::path& file) {
    std::string text;
    try {
        text = read_text_file(file, "expected an experiment at");
    } catch (const SpecError&) {
        return {};
    }
    if (is_table_definition(text) || is_claims_file(text)) return {};
    Findings findings;
    YamlNode root = parse_yaml(text, file.string(), findings);
    if (!findings.empty() || !root.is(YamlNode::Kind::map)) return {};
    // Profiles may come from an imported file.
    if (YamlNode whole = with_imports(root, file, findings); findings.empty()) root = std::move(whole);
    const YamlNode* name = root.find("name");
    std::vector<std::string> names{name ? name->text : file.stem().string()};
    if (const YamlNode* profiles = root.find("profiles"))
        for (const YamlEntry& profile : profiles->entries) {
            const YamlNode* own = profile.value.find("name");
            names.push_back(own ? own->text : names.front() + "-" + profile.key);
        }
    return names;
}

}  // namespace gnnbench
