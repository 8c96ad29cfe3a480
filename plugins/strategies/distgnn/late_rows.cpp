#include "late_rows.hpp"

#include <utility>

#include <gnnbench/error.hpp>

namespace gnnbench::dist {

LateRows::LateRows(Backend& backend, std::int64_t leaving, std::int64_t arriving, std::int64_t width)
    : backend_(backend), leaving_(backend.matrix(leaving, width)), arrived_(backend.matrix(arriving, width)) {}

void LateRows::state_memory(MemoryStatement& m, std::int64_t leaving, std::int64_t arriving, std::int64_t width) {
    m.matrix(leaving + arriving, width);
}

void LateRows::started(int bin, Event exchange) {
    const bool first = exchanges_.emplace(bin, std::move(exchange)).second;
    require(first, "rows of an earlier epoch are still under way");
}

void LateRows::finish(int bin) {
    const auto under_way = exchanges_.find(bin);
    if (under_way == exchanges_.end()) return;
    backend_.wait(StreamRole::compute, under_way->second);
    exchanges_.erase(under_way);
}

void LateRows::finish() {
    while (!exchanges_.empty()) finish(exchanges_.begin()->first);
}

}  // namespace gnnbench::dist
