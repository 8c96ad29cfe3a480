#include "worker/gathered_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// Ids, then rows.
std::string packed(const OwnedRows& mine) {
    const std::size_t ids = mine.vertices.size() * sizeof(GlobalId),
                      rows = mine.rows.values.size() * sizeof(double);
    std::string bytes(ids + rows, '\0');
    if (ids > 0) std::memcpy(bytes.data(), mine.vertices.data(), ids);
    if (rows > 0) std::memcpy(bytes.data() + ids, mine.rows.values.data(), rows);
    return bytes;
}

/// Places one rank's rows, and compares those that others have placed before.
void place(const std::string& bytes, std::vector<bool>& seen, GatheredRows& all) {
    const std::int64_t columns = all.rows.cols;
    const std::size_t row_bytes = usize(columns) * sizeof(double), each = sizeof(GlobalId) + row_bytes;
    if (bytes.size() % each != 0)
        throw DataError(fmt::format("a rank gives rows that are not {} columns wide", columns));
    const std::size_t count = bytes.size() / each;
    std::vector<double> row(usize(columns));
    for (std::size_t i = 0; i < count; ++i) {
        GlobalId id{};
        std::memcpy(&id, bytes.data() + i * sizeof id, sizeof id);
        const std::int64_t v = value(id);
        if (v < 0 || v >= all.rows.rows) throw DataError(fmt::format("a rank gives a row of vertex {}", v));
        std::memcpy(row.data(), bytes.data() + count * sizeof id + i * row_bytes, row_bytes);
        for (std::int64_t c = 0; c < columns; ++c) {
            if (seen[usize(v)])
                all.apart(v, c) = std::max(all.apart(v, c), std::abs(all.rows(v, c) - row[usize(c)]));
            else
                all.rows(v, c) = row[usize(c)];
        }
        seen[usize(v)] = true;
    }
}

}  // namespace

GatheredRows gather_rows(const OwnedRows& mine, std::int64_t vertices, std::int64_t columns,
                         const ProcessGroup& group) {
    const auto parts = group.gather(packed(mine));
    GatheredRows all;
    if (group.rank() != 0) return all;
    all.rows = HostMatrix(vertices, columns);
    all.apart = HostMatrix(vertices, columns);
    std::vector<bool> seen(usize(vertices));
    for (const std::string& part : parts) place(part, seen, all);
    const auto first = std::ranges::find(seen, false);
    if (first != seen.end()) all.missing = first - seen.begin();
    return all;
}

}  // namespace gnnbench
