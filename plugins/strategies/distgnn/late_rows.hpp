#pragma once
#include <cstdint>
#include <optional>

#include <gnnbench/backend.hpp>
#include <gnnbench/event.hpp>
#include <gnnbench/training/stated_memory.hpp>

namespace gnnbench::dist {

/// Rows of one layer and direction on their way to where they are used r epochs later: those of one bin leave in an epoch,
/// those of all bins wait where they have arrived.
class LateRows {
public:
    /// `leaving`: the most rows of a bin; `arriving`: those of all bins. All are `width` wide.
    LateRows(Backend& backend, std::int64_t leaving, std::int64_t arriving, std::int64_t width);
    static void state_memory(MemoryStatement& m, std::int64_t leaving, std::int64_t arriving, std::int64_t width);

    MatrixView leaving(std::int64_t rows) const { return leaving_.view().rows_from(0, rows); }
    MatrixView arrived() const { return arrived_.view(); }
    /// An exchange is under way until finish().
    void started(Event exchange);
    void finish();

private:
    Backend& backend_;
    Matrix leaving_, arrived_;
    std::optional<Event> exchange_;
};

}  // namespace gnnbench::dist
