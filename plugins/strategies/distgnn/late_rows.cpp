#include "late_rows.hpp"

#include <utility>

#include <gnnbench/error.hpp>

namespace gnnbench::dist {

LateRows::LateRows(Backend& backend, std::int64_t leaving, std::int64_t arriving, std::int64_t width)
    : backend_(backend), leaving_(backend.matrix(leaving, width)), arrived_(backend.matrix(arriving, width)) {}

void LateRows::state_memory(MemoryStatement& m, std::int64_t leaving, std::int64_t arriving, std::int64_t width) {
    m.matrix(leaving + arriving, width);
}

void LateRows::started(Event exchange) {
    require(!exchange_, "rows of an earlier epoch are still under way");
    exchange_ = std::move(exchange);
}

void LateRows::finish() {
    if (!exchange_) return;
    backend_.wait(StreamRole::compute, *exchange_);
    exchange_.reset();
}

}  // namespace gnnbench::dist
