#include "protocol/meeting_table.hpp"

#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench::test {

std::optional<MeetingTable::Words> MeetingTable::arrive(int me, int partner, std::span<const std::int64_t> mine) {
    for (int third = 0; third < static_cast<int>(places_.size()); ++third) {
        const int wanted = waits_for(third);
        if ((third == partner && wanted != -1 && wanted != me) || (third != partner && wanted == me) ||
            (third != me && wanted == partner))
            throw Error(fmt::format("paired with two at once: worker {} comes to meet {} while {} waits for {}",
                                    me, partner, third, wanted));
    }
    if (waits_for(partner) != me) {
        at(me).waits_for = partner;
        at(me).brought.assign(mine.begin(), mine.end());
        return std::nullopt;
    }
    at(partner).waits_for = -1;
    at(partner).answer.assign(mine.begin(), mine.end());
    return at(partner).brought;
}

}  // namespace gnnbench::test
