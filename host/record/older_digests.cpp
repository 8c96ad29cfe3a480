#include "record/older_digests.hpp"

#include "record/database.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {

std::int64_t cells_of_older_digest(const Database& database, const std::string& older, const std::string& digest) {
    auto q = database.connection().prepare(
        "SELECT count(DISTINCT c.id) FROM cell c JOIN trial t ON t.cell_id = c.id AND t.purpose = 'measure' "
        "WHERE c.dataset_digest = ?1 AND NOT EXISTS (SELECT 1 FROM cell n WHERE n.dataset_digest = ?2)",
        "look for cells of a dataset's older digest");
    q.bind(older, digest);
    const std::int64_t cells = q.step() ? q.integer(0) : 0;
    q.reset();
    return cells;
}

}  // namespace gnnbench
