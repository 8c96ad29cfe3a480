#pragma once
#include <concepts>
#include <string>

namespace gnnbench {

/// "1 trial", "2 trials".
std::string plural(std::integral auto count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace gnnbench
