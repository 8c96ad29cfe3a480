#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "worker/verify/evaluation_check.hpp"

using namespace gnnbench;

namespace {

/// Four vertices of three classes, the last two of the test split; every logit may be 0.1 off.
struct Sample {
    std::vector<std::int32_t> labels = {0, 1, 2, 2};
    std::vector<Split> split = {Split::train, Split::train, Split::test, Split::test};
    std::vector<std::uint8_t> label_matrix;
    BoundedLogits logits{HostMatrix(4, 3), HostMatrix(4, 3)};

    Sample() {
        logits.value.values = {2, 1, 0,  //
                               2, 1, 0,  //
                               0, 1, 1.1, 1, 0, 3};
        for (double& x : logits.bound.values) x = 0.1;
    }
    DatasetView view() const {
        DatasetView v;
        v.labels = labels;
        v.split = split;
        v.label_matrix = label_matrix;
        v.classes = 3;
        return v;
    }
};

}  // namespace

TEST_CASE("a score's range: a vertex is uncertain where its two best logits are within their bounds") {
    const Sample s;
    const ScoreRange r = score_range(s.logits, s.view());
    CHECK(r.metric == ScoreMetric::accuracy);
    CHECK(r.low[0] == 0.5);
    CHECK(r.high[0] == 0.5);
    CHECK(std::isnan(r.low[1]));
    CHECK(r.low[2] == 0.5);  // 1.1 and 1 may change places
    CHECK(r.high[2] == 1);
}

TEST_CASE("a score's range: equal logits without a bound are in the order of classes") {
    Sample s;
    s.logits.value = s.logits.bound = HostMatrix(4, 3);
    const ScoreRange r = score_range(s.logits, s.view());
    CHECK(r.low[0] == 0.5);  // class 0 is the first
    CHECK(r.high[0] == 0.5);
    CHECK(r.high[2] == 0);
}

TEST_CASE("a score's range: micro-F1 is lowest where uncertain labels are claimed wrongly") {
    Sample s;
    s.label_matrix = {1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    s.logits.value.values = {2, -1, 0.05, 0.05, -1, -1, -1, -1, -1, -1, -1, -1};
    const ScoreRange r = score_range(s.logits, s.view());
    CHECK(r.metric == ScoreMetric::micro_f1);
    CHECK(r.low[0] == 2.0 / 4);   // 2 claimed, 1 of them right, 2 there
    CHECK(r.high[0] == 4.0 / 4);  // both of them claimed, and nothing else
    CHECK(std::isnan(r.low[2]));
}
