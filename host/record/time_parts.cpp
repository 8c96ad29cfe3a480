#include "record/time_parts.hpp"

#include <array>
#include <string>
#include <variant>

#include "record/query.hpp"

namespace gnnbench {

TimeParts time_parts(const std::filesystem::path& database, std::int64_t trial) {
    const std::array<SqlValue, 1> arguments{trial};
    const QueryResult phases = query(database,
                                     "SELECT phase, avg(seconds), max(seconds) FROM ("
                                     "  SELECT p.phase, p.rank, avg(p.seconds) AS seconds"
                                     "  FROM rank_phase p JOIN epoch e USING (trial_id, epoch)"
                                     "  WHERE p.trial_id = ?1 AND NOT e.warmup GROUP BY p.phase, p.rank)"
                                     " GROUP BY phase",
                                     arguments);
    TimeParts out;
    for (const SqlRow& row : phases.rows) {
        const auto& phase = std::get<std::string>(row[0]);
        const double mean = std::get<double>(row[1]);
        if (phase == "spmm") {
            out.spmm_s = mean;
            if (mean > 0) out.spmm_imbalance = std::get<double>(row[2]) / mean;
        } else if (phase == "gemm") {
            out.gemm_s = mean;
        } else {
            (phase == "comm" || phase == "wait" ? out.communication_s : out.rest_s) += mean;
        }
    }
    return out;
}

}  // namespace gnnbench
