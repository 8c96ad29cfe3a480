#include "stale_rows.hpp"

#include <utility>

namespace gnnbench::pipe {

StaleRows::StaleRows(Backend& backend, std::int64_t leaving_rows, std::int64_t arriving_rows, std::int64_t width,
                     std::optional<double> decay)
    : backend_(backend),
      decay_(decay),
      leaving_(backend.matrix(leaving_rows, width)),
      arriving_(backend.matrix(arriving_rows, width)),
      used_(backend.matrix(arriving_rows, width)) {
    backend_.fill(arriving_, 0);
    backend_.fill(used_, 0);
}

void StaleRows::state_memory(MemoryStatement& m, std::int64_t leaving_rows, std::int64_t arriving_rows,
                             std::int64_t width) {
    m.matrix(leaving_rows + 2 * arriving_rows, width);
}

void StaleRows::take() {
    finish();
    absent_ = !arrived_;
    if (decay_)
        backend_.axpby(1 - *decay_, arriving_, *decay_, used_);
    else
        std::swap(arriving_, used_);
}

void StaleRows::finish() {
    if (!exchange_) return;
    backend_.wait(StreamRole::compute, *exchange_);
    exchange_.reset();
    arrived_ = true;
}

}  // namespace gnnbench::pipe
