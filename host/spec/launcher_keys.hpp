#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// What a key of a launcher file holds.
enum class LauncherValue {
    section,   ///< a mapping of further keys
    sections,  ///< a list of such
    text,
    name,  ///< of a launcher
    word,  ///< one of `words`
    variable,
    integer,
    number,
    boolean,
    texts,
    command,  ///< a list of words, or of lists of words that stand together, with placeholders
    pattern,  ///< a regular expression with the groups that `words` names
    variables,
    template_text,  ///< a text with placeholders
};

/// One key of a launcher file. Reading, the JSON Schema and the reference page follow from this.
struct LauncherKey {
    const char* path;  ///< "jobs.submit.find"; "[]" for each of a list: "machine.ask[].run"
    LauncherValue value;
    bool required;  ///< where its section is there
    std::vector<const char*> words;
    const char* help;
};
std::span<const LauncherKey> launcher_keys();
/// The keys directly in a section; "" is the file itself.
std::vector<const LauncherKey*> launcher_keys_in(std::string_view section);

/// A placeholder of commands: its name, and what stands there.
struct LauncherPlaceholder {
    const char *name, *help;
};
std::span<const LauncherPlaceholder> launcher_placeholders();

/// JSON Schema (draft-07) of launcher files.
nlohmann::ordered_json launcher_schema();
/// docs/launcher-reference.md
std::string launcher_reference_page();

}  // namespace gnnbench
