#pragma once
#include <cstddef>
#include <cstring>
#include <span>

#include <gnnbench/setup_cost.hpp>

#include "training/rounds.hpp"

/// Records of plain values, as Rounds moves them, and the time that their moving takes.
namespace gnnbench {

template <class T>
std::byte* put_values(std::byte* to, std::span<const T> values) {
    std::memcpy(to, values.data(), values.size_bytes());
    return to + values.size_bytes();
}
template <class T>
std::byte* put_value(std::byte* to, const T& value) {
    return put_values(to, std::span(&value, 1));
}
/// Moves `from` past it.
template <class T>
T take_value(const std::byte*& from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    from += sizeof value;
    return value;
}
/// Calls use(from) at the beginning of each record, which moves `from` past it.
void for_records(std::span<const std::byte> records, auto&& use) {
    for (const std::byte *from = records.data(), *const end = from + records.size(); from < end;) use(from);
}

/// While it lives, `part` is timed, but for what is spent in rounds, which `exchange` gets.
class ReadTimer {
public:
    ReadTimer(SetupCost* cost, SetupPart SetupCost::* part)
        : part_(cost ? &(cost->*part) : nullptr), exchange_(cost ? &cost->exchange : nullptr), timer_(part_) {}
    void exchanged(const Rounds& rounds) {
        if (!part_) return;
        part_->seconds -= rounds.seconds();
        exchange_->seconds += rounds.seconds();
        exchange_->bytes += rounds.received_bytes();
    }
    void add_bytes(std::int64_t bytes) { timer_.add_bytes(bytes); }

private:
    SetupPart *part_, *exchange_;
    SetupTimer timer_;
};

}  // namespace gnnbench
