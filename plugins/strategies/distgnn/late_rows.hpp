#pragma once
#include <cstdint>
#include <map>

#include <gnnbench/backend.hpp>
#include <gnnbench/event.hpp>
#include <gnnbench/training/stated_memory.hpp>

namespace gnnbench::dist {

/// Rows of one layer and direction on their way to where they are used r epochs later: those of one bin leave in an epoch,
/// those of all bins wait where they have arrived. An exchange may be under way for each of several bins.
class LateRows {
public:
    /// `leaving`: rows of all bins that are under way at the same time; `arriving`: those of all bins. All are `width` wide.
    LateRows(Backend& backend, std::int64_t leaving, std::int64_t arriving, std::int64_t width);
    static void state_memory(MemoryStatement& m, std::int64_t leaving, std::int64_t arriving, std::int64_t width);

    MatrixView leaving() const { return leaving_.view(); }
    MatrixView arrived() const { return arrived_.view(); }
    /// The bin's exchange is under way until finish().
    void started(int bin, Event exchange);
    void finish(int bin);
    void finish();

private:
    Backend& backend_;
    Matrix leaving_, arrived_;
    std::map<int, Event> exchanges_;  ///< under way, by bin
};

}  // namespace gnnbench::dist
