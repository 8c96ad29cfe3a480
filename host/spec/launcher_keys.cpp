#include "spec/launcher_keys.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gnnbench {

namespace {

using V = LauncherValue;

const LauncherKey launcher_key_table[] = {
    {"about", V::text, true, {}, "One line for `gnnbench launcher list`"},
    {"extends",
     V::name,
     false,
     {},
     "The launcher whose keys hold where this file has none; a section is merged key by key, a list is replaced"},
    {"scheduler", V::text, false, {}, "The scheduler's name in messages; by default the launcher's"},
    {"hosts",
     V::word,
     true,
     {"this", "others"},
     "Where ranks run: on this host, or on others, which decide what they support"},
    {"allocation",
     V::variable,
     false,
     {},
     "The environment variable that is set inside an allocation: partition and account are not requested again "
     "there"},
    {"machine", V::section, false, {}, "The nodes; required where `hosts: others`"},
    {"machine.name",
     V::template_text,
     true,
     {},
     "Trials on machines of equal names, cores and memory are comparable"},
    {"machine.cores", V::integer, false, {}, "Cores of one node, if no question tells"},
    {"machine.memory_gib", V::number, false, {}, "Memory of one node in GiB, if no question tells"},
    {"machine.gpus", V::boolean, false, {}, "Whether every node has GPUs, if no question tells"},
    {"machine.ask",
     V::sections,
     false,
     {},
     "Questions about the nodes. Their groups become placeholders; of several matches the smallest node counts. "
     "With the placeholder {host}, each host is asked"},
    {"machine.ask[].run", V::command, true, {}, "The program that is asked"},
    {"machine.ask[].find",
     V::pattern,
     true,
     {},
     "Groups with a meaning: `cores`, `memory_mib`, `gpus` (some text if the nodes have them), `partition`, "
     "`default` (some text for the default partition)"},
    {"machine.partition_in",
     V::variable,
     false,
     {},
     "The environment variable that names the partition inside an allocation"},
    {"machine.options",
     V::texts,
     false,
     {},
     "Beginnings of options that select nodes, and so are part of the machine's name"},
    {"mpi", V::section, false, {}, "How the value of {mpi} is found, unless `launcher.mpi` says it"},
    {"mpi.run", V::command, true, {}, "The program that lists the types it supports"},
    {"mpi.find", V::pattern, true, {"mpi"}, "Finds them, one a match"},
    {"mpi.open_mpi", V::texts, false, {}, "Types that suit Open MPI, the best first"},
    {"mpi.mpich", V::texts, false, {}, "Types that suit MPICH, the best first"},
    {"options",
     V::command,
     false,
     {},
     "How resources are requested; {options} in `start.run` and `jobs.submit.run`, followed by the experiment's "
     "`launcher.options`"},
    {"option_programs",
     V::texts,
     false,
     {},
     "An experiment's option that contains one of these texts runs a program, and needs the user's permission; by "
     "default every option does"},
    {"start", V::section, true, {}, "How a trial's ranks are started; for a launcher with jobs, inside a job"},
    {"start.run", V::command, true, {}, "The command that starts all ranks of one trial, and ends with them"},
    {"start.probe",
     V::command,
     false,
     {},
     "Words of {probe}, with which `gnnbench doctor` runs on one node; without, doctor asks no node"},
    {"start.environment",
     V::variables,
     false,
     {},
     "Environment variables of that command, unless the user has set them"},
    {"start.waits",
     V::sections,
     false,
     {},
     "Lines of its log between which a trial waits for resources, and no time counts"},
    {"start.waits[].from", V::text, true, {}, "Text of the line with which waiting begins"},
    {"start.waits[].until", V::text, true, {}, "Text of the line with which it ends"},
    {"start.prefix", V::pattern, false, {}, "The beginning of the log's lines that reasons leave out"},
    {"start.ended",
     V::pattern,
     false,
     {"ranks", "how"},
     "A line about ranks that a signal ended, in the words of strsignal"},
    {"start.signs",
     V::sections,
     false,
     {},
     "Lines of the log that say what happened to a failed trial; the first that is found counts"},
    {"start.signs[].find", V::pattern, true, {}, "Finds the line"},
    {"start.signs[].unless", V::pattern, false, {}, "The sign does not count where this is found, too"},
    {"start.signs[].means",
     V::word,
     true,
     {"failed", "oom", "timeout", "crashed", "interrupted"},
     "The trial's status"},
    {"start.signs[].says",
     V::template_text,
     false,
     {},
     "Stands before the line in the reason; {reason} is what the exit status alone says"},
    {"jobs", V::section, false, {}, "How jobs are submitted; without it, every trial is started directly"},
    {"jobs.submit", V::section, true, {}, "How a job is submitted"},
    {"jobs.submit.run", V::command, true, {}, "The command that submits {script}"},
    {"jobs.submit.find", V::pattern, true, {"id"}, "Finds the job's id in its answer"},
    {"jobs.submit.doubled",
     V::text,
     false,
     {},
     "A character that the scheduler replaces in the name of a log, unless it is doubled"},
    {"jobs.array",
     V::section,
     false,
     {},
     "How arrays are submitted; without it, `launcher.jobs: array` submits a job for each cell"},
    {"jobs.array.options",
     V::command,
     true,
     {},
     "Words of {array}, with {last} (elements count from 0) and {at_once}"},
    {"jobs.array.number", V::variable, true, {}, "The environment variable with an element's number"},
    {"jobs.array.log", V::text, true, {}, "What the scheduler replaces by that number in the log's name"},
    {"jobs.ask",
     V::sections,
     true,
     {},
     "Questions about jobs: the first lists all that wait or run, the others tell of former ones"},
    {"jobs.ask[].run",
     V::command,
     true,
     {},
     "The program that is asked. With the placeholder {id}, it is asked about one job at a time"},
    {"jobs.ask[].find",
     V::pattern,
     true,
     {"id", "name", "state"},
     "Finds each job; further groups are `element` (its number in an array), `reason` and `exit` (the exit code "
     "of its script)"},
    {"jobs.ask[].empty",
     V::pattern,
     false,
     {},
     "Matches an answer that lists no job; without it, only an empty answer does. Any other is taken for none, "
     "and the program is asked again"},
    {"jobs.patience",
     V::number,
     false,
     {},
     "Seconds after which a job that no answer mentions counts as gone, where accounts are written late; a few "
     "polls of "
     "the queue in any case"},
    {"jobs.states",
     V::section,
     true,
     {},
     "The scheduler's words for states, and `exit 271` for an exit code. A word that is not listed is taken for "
     "one of a live job; of a later question, for one of a job that a node ended"},
    {"jobs.states.waiting", V::texts, false, {}, "Not started"},
    {"jobs.states.running", V::texts, false, {}, "Started, and not ended"},
    {"jobs.states.ok", V::texts, false, {}, "Ended; if its script has another exit code than 0, it failed"},
    {"jobs.states.failed", V::texts, false, {}, "Ended, because its script failed"},
    {"jobs.states.broken", V::texts, false, {}, "Ended, because a node or the scheduler failed"},
    {"jobs.states.oom", V::texts, false, {}, "Ended, because memory ran out"},
    {"jobs.states.timeout", V::texts, false, {}, "Ended at its time limit"},
    {"jobs.states.interrupted",
     V::texts,
     false,
     {},
     "Ended by somebody, or by another job; its trials are due again"},
    {"jobs.cancel", V::command, true, {}, "The command that ends the jobs {ids}"},
};

constexpr LauncherPlaceholder launcher_placeholder_table[] = {
    {"ranks", "number of ranks"},
    {"threads", "threads of a rank"},
    {"slots", "ranks × threads"},
    {"nodes", "`launcher.nodes`, if the experiment has it"},
    {"nodes_needed", "the same, or else the fewest nodes with so many cores"},
    {"ranks_per_node", "ranks ÷ nodes_needed, rounded up"},
    {"slots_per_node", "ranks_per_node × threads"},
    {"gpus", "one for each rank, if the kernel needs GPUs, the nodes have them and `launcher.gpus` is auto"},
    {"gpus_per_rank", "1, under the same conditions"},
    {"gpus_per_node", "ranks_per_node, under the same conditions"},
    {"partition", "`launcher.partition`"},
    {"account", "`launcher.account`"},
    {"time", "`launcher.time`, as the scheduler writes it"},
    {"minutes",
     "the time limit, if the experiment has no `launcher.time`; also {seconds}, and {clock} as 01:30:00"},
    {"seconds", "see {minutes}"},
    {"clock", "see {minutes}"},
    {"options", "the words of `options`, then the experiment's `launcher.options`"},
    {"hosts", "the file that `launcher.hosts` names"},
    {"host", "in `machine.ask`: each host of that file"},
    {"first_host", "the first host of that file"},
    {"host_count", "the number of hosts in that file"},
    {"mpi", "the type of ranks' start-up: `launcher.mpi`, or see `mpi`"},
    {"mpiexec", "the mpiexec of the MPI that gnnbench was built with"},
    {"environment", "`env` and the variables of a trial that ranks on other hosts do not inherit"},
    {"worker", "the program of a rank; required in `start.run`"},
    {"request", "its argument; required in `start.run`"},
    {"trial", "the trial's id"},
    {"probe", "the words of `start.probe`, when doctor asks a node"},
    {"probe_s", "seconds that doctor waits for a node"},
    {"reason", "in `start.signs[].says`: what the exit status says"},
    {"name", "the job's name, by which it is found again"},
    {"log", "the file for what a job prints"},
    {"script", "the file of the job's script"},
    {"array", "the words of `jobs.array.options`, if the job is an array"},
    {"last", "number of the last element of an array"},
    {"at_once", "how many elements may run at once, if `--jobs` says it"},
    {"user", "the user's name"},
    {"id", "in `jobs.ask`: the job that is asked about"},
    {"ids", "in `jobs.cancel`: the jobs to end"},
};

std::string type_words(const LauncherKey& key) {
    switch (key.value) {
        case V::section:
            return "a mapping";
        case V::sections:
            return "a list of mappings";
        case V::text:
            return "text";
        case V::name:
            return "a launcher";
        case V::word:
            return fmt::format("{}", fmt::join(key.words, ", "));
        case V::variable:
            return "a variable's name";
        case V::integer:
            return "an integer above 0";
        case V::number:
            return "a number above 0";
        case V::boolean:
            return "true or false";
        case V::texts:
            return "a list of texts";
        case V::command:
            return "a command";
        case V::pattern:
            return key.words.empty() ? "a pattern" : fmt::format("a pattern with {}", fmt::join(key.words, ", "));
        case V::variables:
            return "variables and their values";
        case V::template_text:
            break;
    }
    return "text with placeholders";
}

nlohmann::ordered_json launcher_value_schema(const LauncherKey& key);

nlohmann::ordered_json launcher_section_schema(std::string_view section) {
    nlohmann::ordered_json made{{"type", "object"}, {"additionalProperties", false}};
    nlohmann::ordered_json required = nlohmann::ordered_json::array();
    for (const LauncherKey* key : launcher_keys_in(section)) {
        const std::string path = key->path, last = path.substr(path.rfind('.') + 1);
        made["properties"][last] = launcher_value_schema(*key);
        // A file that extends another need not repeat what that has.
        if (key->required && (section.find("[]") != section.npos || path == "about")) required.push_back(last);
    }
    if (!required.empty()) made["required"] = required;
    return made;
}

nlohmann::ordered_json launcher_value_schema(const LauncherKey& key) {
    const nlohmann::ordered_json text{{"type", "string"}, {"minLength", 1}};
    nlohmann::ordered_json made = text;
    switch (key.value) {
        case V::section:
            made = launcher_section_schema(key.path);
            break;
        case V::sections:
            made = {{"type", "array"},
                    {"minItems", 1},
                    {"items", launcher_section_schema(std::string(key.path) + "[]")}};
            break;
        case V::word:
            made = {{"enum", key.words}};
            break;
        case V::variable:
            made["pattern"] = "^[A-Za-z_][A-Za-z0-9_]*$";
            break;
        case V::integer:
            made = {{"type", "integer"}, {"minimum", 1}};
            break;
        case V::number:
            made = {{"type", "number"}, {"exclusiveMinimum", 0}};
            break;
        case V::boolean:
            made = {{"type", "boolean"}};
            break;
        case V::texts:
            made = {{"type", "array"}, {"items", text}};
            break;
        case V::command:
            made = {{"type", "array"},
                    {"minItems", 1},
                    {"items", {{"oneOf", {text, {{"type", "array"}, {"minItems", 1}, {"items", text}}}}}}};
            break;
        case V::variables:
            made = {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
            break;
        default:
            break;
    }
    made["description"] = key.help;
    return made;
}

constexpr const char* launcher_opening = R"(# Keys of a launcher file

<!-- Generated: GNNBENCH_REWRITE=1 ctest --test-dir build/release -R unit.spec -->

A launcher file says how trials are started: [clusters](clusters.md) shows how to write one. `gnnbench launcher show NAME`
prints a file to start from.

| key | is | |
| --- | --- | --- |
)";

constexpr const char* launcher_placeholder_opening = R"(
Required keys are in bold; they are required where their section is there.

## Placeholders

`{name}` in a command is replaced by its value; `{name|0}` by `0` where it has none. An entry of a command with a
placeholder that has neither is left out, so `--nodes={nodes}` appears only if the experiment has `launcher.nodes`; words
that belong together are a list: `[-q, "{partition}"]`. `{env.NAME}` is an environment variable. The groups of
`machine.ask` are placeholders, too.

| placeholder | |
| --- | --- |
)";

}  // namespace

std::span<const LauncherKey> launcher_keys() { return launcher_key_table; }

std::vector<const LauncherKey*> launcher_keys_in(std::string_view section) {
    std::vector<const LauncherKey*> keys;
    for (const LauncherKey& key : launcher_key_table) {
        std::string_view rest = key.path;
        if (!section.empty()) {
            if (!rest.starts_with(section) || rest.size() == section.size() || rest[section.size()] != '.')
                continue;
            rest.remove_prefix(section.size() + 1);
        }
        if (rest.find('.') == rest.npos) keys.push_back(&key);
    }
    return keys;
}

std::span<const LauncherPlaceholder> launcher_placeholders() { return launcher_placeholder_table; }

nlohmann::ordered_json launcher_schema() {
    nlohmann::ordered_json schema{
        {"$schema", "http://json-schema.org/draft-07/schema#"},
        {"title", "a launcher of gnnbench"},
        {"description", "Generated from host/spec/launcher_keys.cpp: see docs/clusters.md"}};
    schema.update(launcher_section_schema(""));
    return schema;
}

std::string launcher_reference_page() {
    std::string page = launcher_opening;
    for (const LauncherKey& key : launcher_key_table)
        page += fmt::format("| {0}`{1}`{0} | {2} | {3} |\n", key.required ? "**" : "", key.path, type_words(key),
                            key.help);
    page += launcher_placeholder_opening;
    for (const LauncherPlaceholder& p : launcher_placeholder_table)
        page += fmt::format("| `{{{}}}` | {} |\n", p.name, p.help);
    return page;
}

}  // namespace gnnbench
