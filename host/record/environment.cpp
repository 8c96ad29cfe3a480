#include "record/environment.hpp"

#include <vector>

#include <nlohmann/json.hpp>

namespace gnnbench {
namespace {

// ?1 is a JSON list of experiments.
constexpr const char* their_trials =
    " FROM experiment e JOIN experiment_cell x ON x.experiment_id = e.id JOIN cell c ON c.id = x.cell_id "
    "JOIN trial t ON t.cell_id = c.id AND t.purpose = 'measure' JOIN machine m ON m.id = t.machine_id "
    "WHERE e.name IN (SELECT value FROM json_each(?1)) AND t.status <> 'skipped' ";

constexpr const char* machines =
    "SELECT m.cpu AS processor, m.cores, json_extract(m.description, '$.memory_gib') AS \"memory (GiB)\", "
    "json_extract(m.description, '$.mpi') AS MPI, "
    "coalesce((SELECT group_concat(DISTINCT r.device) FROM trial_rank r WHERE r.trial_id = max(t.id)), '') AS "
    "device, "
    "json_extract(t.provenance, '$.os') AS system, json_extract(t.provenance, '$.kernel') AS kernel, "
    "count(DISTINCT t.id) AS trials, substr(min(t.started), 1, 16) || ' UTC' AS \"from\", "
    "substr(max(t.started), 1, 16) || ' UTC' AS \"to\", substr(m.fingerprint, 1, 12) AS fingerprint";

constexpr const char* builds =
    "SELECT json_extract(t.provenance, '$.version') AS gnnbench, "
    "substr(coalesce(json_extract(t.provenance, '$.commit'), ''), 1, 12) || "
    "CASE WHEN json_extract(t.provenance, '$.commit') LIKE '%-dirty' THEN ' and changes' ELSE '' END AS "
    "\"commit\", "
    "json_extract(t.provenance, '$.build_type') AS \"build type\", json_extract(t.provenance, '$.compiler') AS "
    "compiler, "
    "count(DISTINCT t.id) AS trials, substr(json_extract(t.provenance, '$.build'), 1, 12) AS \"digest of the "
    "sources\"";

constexpr const char* datasets =
    "SELECT c.dataset, max(t.vertices) AS vertices, max(t.edges) AS edges, max(t.features) AS features, "
    "max(t.classes) AS classes, coalesce(nullif(max(t.synthetic), ''), 'nothing') AS \"made up\", "
    "substr(c.dataset_digest, 1, 12) AS digest";

/// Which plugins of one kind.
std::string plugins_of(const std::string& kind) {
    return "SELECT '" + kind + "' AS kind, json_extract(c.identity, '$." + kind +
           ".name') AS plugin, json_extract(c.identity, '$." + kind + ".version') AS version" + their_trials +
           "AND plugin IS NOT NULL GROUP BY 1, 2, 3";
}

}  // namespace

EnvironmentSummary read_environment(const std::filesystem::path& database,
                                    std::span<const std::string> experiments) {
    const std::vector<SqlValue> names{nlohmann::json(experiments).dump()};
    const auto ask = [&](const std::string& sql) { return query(database, sql, names); };
    return {
        .machines = ask(machines + std::string(their_trials) + "GROUP BY m.id, system, kernel ORDER BY max(t.id)"),
        .builds = ask(builds + std::string(their_trials) +
                      "GROUP BY json_extract(t.provenance, '$.build'), 2 ORDER BY max(t.id)"),
        .plugins = ask(plugins_of("scheme") + " UNION ALL " + plugins_of("partitioner") + " UNION ALL " +
                       plugins_of("kernel")),
        .datasets = ask(datasets + std::string(their_trials) + "GROUP BY c.dataset, c.dataset_digest ORDER BY 1")};
}

}  // namespace gnnbench
