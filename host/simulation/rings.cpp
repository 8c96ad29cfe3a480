#include "simulation/rings.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <gnnbench/usize.hpp>

namespace gnnbench::simulation {
namespace {

/// Searches for the largest number of cycles through all devices that share no link. It tries cycles one after another and
/// removes their links; `tries_` bounds it where a node has very many cycles, of which the first serve as well as any.
class CycleSearch {
public:
    CycleSearch(std::span<const Links::Pair> pairs, std::span<const int> devices)
        : count_(devices.size()), links_(count_ * count_, 0), visited_(count_, false) {
        const auto place = [&](int device) { return usize(std::ranges::find(devices, device) - devices.begin()); };
        for (const Links::Pair& p : pairs) {
            const std::size_t a = place(p.first), b = place(p.second);
            if (a < count_ && b < count_) at(a, b) += p.links;
        }
    }

    int most() {
        const int bound = fewest_links() / 2;
        extend(0, bound);
        return best_;
    }

private:
    int& at(std::size_t a, std::size_t b) { return links_[std::min(a, b) * count_ + std::max(a, b)]; }

    int fewest_links() {
        int fewest = std::numeric_limits<int>::max();
        for (std::size_t a = 0; a < count_; ++a) {
            int of_a = 0;
            for (std::size_t b = 0; b < count_; ++b)
                if (b != a) of_a += at(a, b);
            fewest = std::min(fewest, of_a);
        }
        return fewest;
    }

    /// Finds one more cycle after `found`, and so on.
    void extend(int found, int bound) {
        best_ = std::max(best_, found);
        if (best_ == bound) return;
        visited_.assign(count_, false);
        visited_[0] = true;
        walk(0, 1, found, bound);
    }

    void walk(std::size_t from, std::size_t steps, int found, int bound) {
        if (best_ == bound || --tries_ < 0) return;
        if (steps == count_) {
            if (at(from, 0) == 0) return;
            --at(from, 0);
            const std::vector<bool> path = visited_;
            extend(found + 1, bound);
            visited_ = path;
            ++at(from, 0);
            return;
        }
        for (std::size_t to = 1; to < count_; ++to) {
            if (visited_[to] || at(from, to) == 0) continue;
            --at(from, to);
            visited_[to] = true;
            walk(to, steps + 1, found, bound);
            visited_[to] = false;
            ++at(from, to);
        }
    }

    std::size_t count_;
    std::vector<int> links_;
    std::vector<bool> visited_;
    int best_ = 0, tries_ = 1 << 20;
};

}  // namespace

int rings_among(std::span<const Links::Pair> pairs, std::span<const int> devices) {
    if (devices.size() < 2) return 0;
    if (devices.size() == 2) {  // a ring of two goes back over the link's other direction
        int links = 0;
        for (const Links::Pair& p : pairs)
            if (std::ranges::count(devices, p.first) && std::ranges::count(devices, p.second)) links += p.links;
        return links;
    }
    return 2 * CycleSearch(pairs, devices).most();  // a cycle is a ring in each direction
}

}  // namespace gnnbench::simulation
