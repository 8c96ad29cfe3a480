#include "check/in_flight.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gnnbench {

InFlight::Id InFlight::begin(std::string operation, const void* data, std::int64_t bytes, bool receives) {
    const Id id = next_++;
    const auto* first = static_cast<const std::byte*>(data);
    if (bytes > 0) ranges_.push_back({id, std::move(operation), first, first + bytes, receives});
    return id;
}

void InFlight::end(Id id) {
    std::erase_if(ranges_, [&](const Range& r) { return r.id == id; });
}

void InFlight::check_access(const char* verb, const void* data, std::int64_t bytes, bool writes) {
    const auto *first = static_cast<const std::byte*>(data), *last = first + bytes;
    for (const Range& r : ranges_)
        if ((r.receives || writes) && first < r.last && r.first < last)
            return ledger_->add_fault(
                "in-flight", fmt::format("{} {} memory that a {} under way {}", verb, writes ? "writes" : "reads",
                                         r.operation, r.receives ? "receives into" : "sends"));
}

void InFlight::check_access(const char* verb, ConstMatrixView m, bool writes) {
    if (ranges_.empty() || m.empty()) return;
    const auto size = static_cast<std::int64_t>(size_of(m.dtype));
    if (m.contiguous()) return check_access(verb, m.data, m.rows * m.cols * size, writes);
    for (std::int64_t r = 0; r < m.rows; ++r)
        check_access(verb, static_cast<const std::byte*>(m.data) + r * m.ld * size, m.cols * size, writes);
}

}  // namespace gnnbench
