// One distributed product cut out of a traced epoch.
#include <catch2/catch.hpp>

#include "record/timeline_product.hpp"

using namespace gnnbench;

namespace {

TimelineSpan span(std::int64_t rank, const char* phase, double begin_s, double end_s, std::int64_t bytes = 0) {
    return {rank, bytes > 0, phase, phase, begin_s, end_s, bytes, 2};
}

}  // namespace

TEST_CASE("the product that moves most bytes is cut out, on a clock of its own") {
    Timeline t;
    t.ranks = 2;
    t.wall_s = 10;
    for (const std::int64_t rank : {0, 1}) {
        const double late = rank == 1 ? 0.5 : 0;
        t.spans.push_back(span(rank, "comm", 0.2, 0.5, 10));
        t.spans.push_back(span(rank, "spmm", 0.5, 1));
        t.spans.push_back(span(rank, "gemm", 1, 2));
        t.spans.push_back(span(rank, "comm", 2 + late, 3, 100));
        t.spans.push_back(span(rank, "spmm", 3, 5 + late));
        t.spans.push_back(span(rank, "loss", 6, 7));
        t.spans.push_back(span(rank, "comm", 7, 8, 1000));  // no product: gradients
        t.spans.push_back(span(rank, "optimizer", 8, 9));
        t.spans.push_back(span(rank, "comm", 9, 9.1, 100));
        t.spans.push_back(span(rank, "spmm", 9.1, 9.2));
    }
    const auto product = largest_product(t);
    REQUIRE(product);
    CHECK(product->spans.size() == 4);
    CHECK(product->wall_s == Approx(3.5));  // from 2 on rank 0 to 5.5 on rank 1
    CHECK(product->spans[0].begin_s == Approx(0));
    CHECK(product->spans[3].end_s == Approx(3.5));
}

TEST_CASE("an epoch without a product has none to show") {
    Timeline t;
    t.ranks = 1;
    t.spans.push_back(span(0, "gemm", 0, 1));
    CHECK_FALSE(largest_product(t));
    CHECK_FALSE(largest_product(Timeline()));
}
