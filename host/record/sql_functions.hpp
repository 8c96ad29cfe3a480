#pragma once

struct sqlite3;

namespace gnnbench::sqlite {

/// Adds aggregates that are window functions, too, to a connection: median(x), percentile(x, p) and stddev(x), the last
/// over n − 1. NULL is left out, as by avg(); of nothing, and stddev() of one number, they are NULL. percentile()
/// interpolates between the two nearest numbers, p from 0 to 100.
void add_statistics(sqlite3* connection);

}  // namespace gnnbench::sqlite
