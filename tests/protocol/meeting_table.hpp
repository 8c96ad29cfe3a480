#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gnnbench::test {

/// Who waits for whom in an exchange, and what they brought. The caller sees to it that one worker at a time is in
/// here.
class MeetingTable {
public:
    using Words = std::vector<std::int64_t>;
    explicit MeetingTable(int workers) : places_(static_cast<std::size_t>(workers)) {}

    /// Worker `me` comes to meet `partner`: the partner's words if it was waiting; otherwise `me` waits from now on.
    /// Throws Error where a third worker is involved.
    std::optional<Words> arrive(int me, int partner, std::span<const std::int64_t> mine);
    /// Whom a worker waits for; −1 for nobody.
    int waits_for(int worker) const { return at(worker).waits_for; }
    /// The words of the partner that came, for one that waited.
    Words answer(int worker) const { return at(worker).answer; }

private:
    struct Place {
        int waits_for = -1;
        Words brought, answer;
    };
    Place& at(int worker) { return places_.at(static_cast<std::size_t>(worker)); }
    const Place& at(int worker) const { return places_.at(static_cast<std::size_t>(worker)); }
    std::vector<Place> places_;
};

}  // namespace gnnbench::test
