#include "verify/pairwise.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "verify/product.hpp"

namespace gnnbench::verify {
namespace {

/// Each candidate's pairs as numbers: a·values + b of two of its values a < b.
std::vector<std::vector<std::size_t>> pairs_of(const std::vector<std::vector<std::string>>& candidates,
                                               std::size_t& count) {
    std::map<std::string, std::size_t> number;
    for (const auto& values : candidates)
        for (const std::string& v : values) number.emplace(v, number.size());
    std::vector<std::vector<std::size_t>> pairs;
    for (const auto& values : candidates) {
        auto& mine = pairs.emplace_back();
        for (std::size_t i = 0; i < values.size(); ++i)
            for (std::size_t j = i + 1; j < values.size(); ++j) {
                const auto [a, b] = std::minmax(number[values[i]], number[values[j]]);
                mine.push_back(a * number.size() + b);
            }
    }
    count = number.size() * number.size();
    return pairs;
}

}  // namespace

std::vector<std::size_t> pairwise_cover(const std::vector<std::vector<std::string>>& candidates,
                                        const std::vector<bool>& postponed) {
    std::size_t count = 0;
    const auto pairs = pairs_of(candidates, count);
    std::vector<bool> covered(count);
    const auto missing = [&](std::size_t candidate) {
        std::size_t n = 0;
        for (const std::size_t p : pairs[candidate]) n += !covered[p];
        return n;
    };
    // What a candidate would add only shrinks, so the front's number is an upper bound of all others' present
    // ones.
    struct Entry {
        bool later;
        std::size_t gain, candidate;
        bool operator<(const Entry& o) const {
            if (later != o.later) return later;
            return gain != o.gain ? gain < o.gain : candidate > o.candidate;
        }
    };
    std::priority_queue<Entry> queue;
    for (std::size_t i = 0; i < candidates.size(); ++i)
        queue.push({!postponed.empty() && postponed[i], missing(i), i});
    std::vector<std::size_t> chosen;
    while (!queue.empty()) {
        Entry e = queue.top();
        queue.pop();
        const std::size_t now = missing(e.candidate);
        if (now == 0) continue;
        if (now < e.gain) {
            queue.push({e.later, now, e.candidate});
            continue;
        }
        chosen.push_back(e.candidate);
        for (const std::size_t p : pairs[e.candidate]) covered[p] = true;
    }
    return chosen;
}

namespace {

/// CI's selection takes little from it: contract.strategy.4 compares every scheme, and the whole product runs at night.
constexpr int spared_ranks = 4;

/// Indices of few of these cells, ascending, that have every pair of values that any of them has; of cells at
/// `spared` ranks (0: of none) only for pairs that no other number of ranks has.
std::vector<std::size_t> cover(const std::vector<ProductCell>& cells, const std::vector<std::size_t>& of,
                               int spared) {
    std::vector<std::vector<std::string>> candidates;
    std::vector<bool> postponed;
    for (const std::size_t i : of) {
        const ProductCell& c = cells[i];
        auto& values = candidates.emplace_back();
        values = {"graph " + c.graph, "layers " + c.layers, "partitioner " + c.partitioner,
                  "strategy " + c.strategy};
        postponed.push_back(c.ranks == spared);
        if (c.ranks != spared) values.push_back("ranks " + std::to_string(c.ranks));
        for (const auto& [name, value] : c.varied) values.push_back(c.strategy + " " + name + "=" + value);
    }
    std::vector<std::size_t> chosen;
    for (const std::size_t k : pairwise_cover(candidates, postponed)) chosen.push_back(of[k]);
    std::ranges::sort(chosen);
    return chosen;
}

}  // namespace

std::vector<ProductCell> picked(const std::vector<ProductCell>& cells, const std::vector<std::size_t>& indices) {
    std::vector<ProductCell> selection;
    for (const std::size_t i : indices) selection.push_back(cells[i]);
    return selection;
}

std::vector<std::size_t> pairwise_selection(const std::vector<ProductCell>& cells) {
    std::vector<std::size_t> exact;
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (cells[i].standing == Standing::runs) exact.push_back(i);
    return cover(cells, exact, spared_ranks);
}

std::vector<std::size_t> night_selection(const std::vector<ProductCell>& cells,
                                         const std::vector<Subject>& subjects) {
    std::set<std::string> whole;
    for (const Subject& s : subjects)
        if (s.whole) whole.insert(s.graph);
    std::vector<std::size_t> chosen, others;
    for (std::size_t i = 0; i < cells.size(); ++i)
        (trains(cells[i].standing) && !whole.contains(cells[i].graph) ? others : chosen).push_back(i);
    const std::vector<std::size_t> covering = cover(cells, others, 0);
    chosen.insert(chosen.end(), covering.begin(), covering.end());
    std::ranges::sort(chosen);
    return chosen;
}

}  // namespace gnnbench::verify
