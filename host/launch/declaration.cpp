#include "launch/declaration.hpp"

#include <cstdlib>

namespace gnnbench {

namespace {

using nlohmann::json;

using Texts = std::vector<std::string>;

WordsTemplate words_of(const json& section, const char* key) {
    WordsTemplate all;
    if (!section.contains(key)) return all;
    for (const json& entry : section.at(key))
        all.push_back(entry.is_array() ? entry.get<Texts>() : Texts{entry.get<std::string>()});
    return all;
}

Inquiry question_of(const json& j) { return {words_of(j, "run"), j.at("find"), j.value("empty", "")}; }

std::vector<Inquiry> questions_of(const json& section) {
    std::vector<Inquiry> all;
    if (section.contains("ask"))
        for (const json& q : section.at("ask")) all.push_back(question_of(q));
    return all;
}

LauncherDeclaration::Machine machine_of(const json& j) {
    return {.name = j.at("name"),
            .cores = j.value("cores", 0),
            .memory_gib = j.value("memory_gib", 0.0),
            .gpus = j.value("gpus", false),
            .ask = questions_of(j),
            .partition_in = j.value("partition_in", ""),
            .options = j.value("options", Texts())};
}

LauncherDeclaration::Start start_of(const json& j) {
    LauncherDeclaration::Start start{.run = words_of(j, "run"),
                                     .probe = words_of(j, "probe"),
                                     .environment = j.value("environment", std::map<std::string, std::string>()),
                                     .waits = {},
                                     .prefix = j.value("prefix", ""),
                                     .ended = j.value("ended", ""),
                                     .signs = {}};
    for (const json& w : j.value("waits", json::array())) start.waits.push_back({w.at("from"), w.at("until")});
    for (const json& s : j.value("signs", json::array()))
        start.signs.push_back({s.at("find"), s.value("unless", ""), trial_status(s.at("means").get<std::string>()),
                               s.value("says", "")});
    return start;
}

LauncherDeclaration::Jobs jobs_of(const json& j) {
    LauncherDeclaration::Jobs jobs{.submit = question_of(j.at("submit")),
                                   .doubled = j.at("submit").value("doubled", ""),
                                   .array = {},
                                   .patience_s = j.value("patience", 0.0),
                                   .ask = questions_of(j),
                                   .states = j.at("states"),
                                   .cancel = words_of(j, "cancel")};
    if (j.contains("array"))
        jobs.array = {words_of(j.at("array"), "options"), j.at("array").at("number"), j.at("array").at("log")};
    return jobs;
}

}  // namespace

bool LauncherDeclaration::inside_allocation() const {
    const char* set = allocation.empty() ? nullptr : std::getenv(allocation.c_str());
    return set && *set;
}

LauncherDeclaration launcher_declaration(const json& content) {
    LauncherDeclaration made;
    if (content.is_null()) return made;
    made.name = content.at("name");
    made.scheduler = content.value("scheduler", made.name);
    made.elsewhere = content.at("hosts") == "others";
    made.allocation = content.value("allocation", "");
    if (content.contains("machine")) made.machine = machine_of(content.at("machine"));
    if (content.contains("mpi")) {
        const json& mpi = content.at("mpi");
        made.mpi = {question_of(mpi), mpi.value("open_mpi", Texts()), mpi.value("mpich", Texts())};
    }
    made.options = words_of(content, "options");
    if (content.contains("option_programs")) made.option_programs = content.at("option_programs");
    made.start = start_of(content.at("start"));
    if (content.contains("jobs")) made.jobs = jobs_of(content.at("jobs"));
    return made;
}

}  // namespace gnnbench
