#include <gnnbench/spelling.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace gnnbench {

std::size_t spelling_distance(std::string_view a, std::string_view b) {
    // Three rows of the table d[i][j] = distance of the first i letters of a and the first j of b.
    std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        current[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t exchanged = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            current[j] = std::min({last[j] + 1, current[j - 1] + 1, exchanged});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                current[j] = std::min(current[j], before_last[j - 2] + 1);
        }
        std::swap(before_last, last);
        std::swap(last, current);
    }
    return last[b.size()];
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
    std::string best;
    std::size_t best_distance = 0;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = spelling_distance(word, candidate);
        const std::size_t allowed = std::max<std::size_t>(1, std::max(word.size(), candidate.size()) / 3);
        if (distance <= allowed && (best.empty() || distance < best_distance)) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
    const std::string meant = nearest(word, candidates);
    return meant.empty() ? "" : "; did you mean '" + meant + "'?";
}

}  // namespace gnnbench
