#include "record/experiments.hpp"

#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench {

std::int64_t experiment_id(const sqlite::Connection& connection, const std::string& name) {
    auto find = connection.prepare("SELECT id FROM experiment WHERE name = ?", "look for an experiment");
    find.bind(name);
    if (find.step()) {
        const std::int64_t id = find.integer(0);
        find.reset();
        return id;
    }
    std::string known;
    auto all = connection.prepare("SELECT name FROM experiment ORDER BY name", "list the experiments");
    all.bind();
    while (all.step()) known += (known.empty() ? "" : ", ") + all.text(0);
    throw SpecError(fmt::format("the database {} has no experiment '{}'; it has {}. `gnnbench run` makes one.",
                                connection.path().string(), name, known.empty() ? "none" : known));
}

}  // namespace gnnbench
