#include "record/timeline_product.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

bool is_other_computation(const TimelineSpan& s) {
    return s.phase == "gemm" || s.phase == "activation" || s.phase == "loss" || s.phase == "optimizer";
}

/// A product of one rank: indices of its spans.
struct Product {
    std::vector<std::size_t> spans;
    bool multiplies = false;
    std::int64_t bytes = 0;
};

/// The products of each rank, in order.
std::vector<std::vector<Product>> products_of(const Timeline& t) {
    std::vector<std::vector<Product>> all(usize(t.ranks));
    Product now;
    const auto finish = [&](std::int64_t rank) {
        if (now.multiplies) all[usize(rank)].push_back(std::move(now));
        now = {};
    };
    for (std::size_t i = 0; i < t.spans.size(); ++i) {
        const TimelineSpan& s = t.spans[i];
        if (i > 0 && t.spans[i - 1].rank != s.rank) finish(t.spans[i - 1].rank);
        if (is_other_computation(s)) {
            finish(s.rank);
            continue;
        }
        now.spans.push_back(i);
        now.multiplies |= s.phase == "spmm";
        now.bytes += s.bytes;
    }
    if (!t.spans.empty()) finish(t.spans.back().rank);
    return all;
}

}  // namespace

std::optional<Timeline> largest_product(const Timeline& t) {
    const auto products = products_of(t);
    if (products.empty()) return std::nullopt;
    const std::size_t common = std::ranges::min(products, {}, [](const auto& p) { return p.size(); }).size();
    std::optional<std::size_t> largest;
    std::int64_t most = -1;
    for (std::size_t k = 0; k < common; ++k) {
        std::int64_t bytes = 0;
        for (const auto& of_rank : products) bytes += of_rank[k].bytes;
        if (bytes > most) most = bytes, largest = k;
    }
    if (!largest) return std::nullopt;
    Timeline one = t;
    one.spans.clear();
    double begin_s = std::numeric_limits<double>::infinity(), end_s = 0;
    for (const auto& of_rank : products)
        for (const std::size_t i : of_rank[*largest].spans) {
            one.spans.push_back(t.spans[i]);
            begin_s = std::min(begin_s, t.spans[i].begin_s);
            end_s = std::max(end_s, t.spans[i].end_s);
        }
    for (TimelineSpan& s : one.spans) s.begin_s -= begin_s, s.end_s -= begin_s;
    one.wall_s = end_s - begin_s;
    return one;
}

}  // namespace gnnbench
