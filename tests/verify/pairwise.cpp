#include "verify/pairwise.hpp"

#include <map>
#include <queue>

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

std::vector<std::size_t> pairwise_cover(const std::vector<std::vector<std::string>>& candidates) {
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
        std::size_t gain, candidate;
        bool operator<(const Entry& o) const { return gain != o.gain ? gain < o.gain : candidate > o.candidate; }
    };
    std::priority_queue<Entry> queue;
    for (std::size_t i = 0; i < candidates.size(); ++i) queue.push({missing(i), i});
    std::vector<std::size_t> chosen;
    while (!queue.empty()) {
        Entry e = queue.top();
        queue.pop();
        const std::size_t now = missing(e.candidate);
        if (now == 0) continue;
        if (now < e.gain) {
            queue.push({now, e.candidate});
            continue;
        }
        chosen.push_back(e.candidate);
        for (const std::size_t p : pairs[e.candidate]) covered[p] = true;
    }
    return chosen;
}

std::vector<ProductCell> pairwise_selection(const std::vector<ProductCell>& cells) {
    std::vector<const ProductCell*> running;
    std::vector<std::vector<std::string>> candidates;
    for (const ProductCell& c : cells) {
        if (c.standing != Standing::runs) continue;
        running.push_back(&c);
        auto& values = candidates.emplace_back();
        values = {"graph " + c.graph, "layers " + c.layers, "ranks " + std::to_string(c.ranks),
                  "partitioner " + c.partitioner, "strategy " + c.strategy};
        for (const auto& [name, value] : c.varied) values.push_back(c.strategy + " " + name + "=" + value);
    }
    auto chosen = pairwise_cover(candidates);
    std::sort(chosen.begin(), chosen.end());
    std::vector<ProductCell> selection;
    for (const std::size_t i : chosen) selection.push_back(*running[i]);
    return selection;
}

}  // namespace gnnbench::verify
