#pragma once
#include <cstdint>
#include <optional>

#include <gnnbench/backend.hpp>
#include <gnnbench/event.hpp>
#include <gnnbench/training/stated_memory.hpp>

namespace gnnbench::pipe {

/// What one layer exchanges in one direction: the rows that leave in this epoch, those that arrive meanwhile, and those
/// that this epoch computes with. What has arrived before the first epoch is zeros.
class StaleRows {
public:
    /// `decay`: γ of the smoothing, none without. All rows are `width` wide.
    StaleRows(Backend& backend, std::int64_t leaving_rows, std::int64_t arriving_rows, std::int64_t width,
              std::optional<double> decay);
    static void state_memory(MemoryStatement& m, std::int64_t leaving_rows, std::int64_t arriving_rows,
                             std::int64_t width);

    /// From what was sent in the epoch before, once it is here: used ← arrived, or γ · used + (1 − γ) · arrived. Then
    /// `leaving` and `arriving` are free.
    void take();
    const Matrix& leaving() const { return leaving_; }
    const Matrix& arriving() const { return arriving_; }
    const Matrix& used() const { return used_; }

    /// Of those that this epoch computes with: none has been sent yet; 1 epoch since the last take().
    bool absent() const { return absent_; }

    /// The exchange of `leaving` and `arriving` is under way until finish() or take().
    void started(Event exchange) { exchange_ = std::move(exchange); }
    void finish();

private:
    Backend& backend_;
    std::optional<double> decay_;
    Matrix leaving_, arriving_, used_;
    std::optional<Event> exchange_;
    bool arrived_ = false;  ///< `arriving` has what an exchange brought, not zeros
    bool absent_ = true;
};

}  // namespace gnnbench::pipe
