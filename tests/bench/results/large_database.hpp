#pragma once
#include <cstdint>
#include <filesystem>

#include "results/limit_report.hpp"

namespace gnnbench::bench {

/// Makes a database: cells of ten trials of 250 epochs of one rank with three phases and two operations each,
/// evaluations, spans, tags, imports and verifications of some; made by SQL, as journals would take minutes.
void fill_database(const std::filesystem::path& path, std::int64_t epochs);

/// Times every named query, and every view filtered to one trial and to one cell.
void bench_queries(const std::filesystem::path& database, int rounds, double limit_s, LimitReport& report);

}  // namespace gnnbench::bench
