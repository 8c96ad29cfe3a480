#pragma once
#include <cstdint>

#include <gnnbench/params.hpp>

#include <data/raw_dataset.hpp>

namespace gnnbench {

/// Random features, labels and masks for a dataset that lacks them, each random value a function of its vertex's id, so that
/// they do not depend on the number of threads.
struct FillSpec {
    std::int64_t features = 64;
    std::int32_t classes = 8;
    bool multi_label = false;
    double labels_per_vertex = 2;  ///< where multi-label: on average
    bool degree_labels = false;    ///< instead of random labels, those of degree_labels.hpp
    double train_fraction = 0.6, validation_fraction = 0.2, test_fraction = 0.2;
    std::uint64_t seed = 1;
};

/// From parameters named as the members, and `labels`; this, multi_label and labels_per_vertex need not be declared. Throws
/// SpecError where the fractions exceed 1 together, or labels_per_vertex the classes, and for several labels from degrees.
FillSpec fill_spec(const Params& params);

/// Random values, or labels from degrees, for whichever of features, labels, masks are empty; adds them to data.synthetic.
void fill_missing(RawDataset& data, const FillSpec& spec);

/// Rows [begin, end) of random features, float32 [vertices × spec.features], to `out`.
void draw_features(const FillSpec& spec, std::int64_t begin, std::int64_t end, float* out);
std::int32_t draw_label(const FillSpec& spec, std::int64_t vertex);

/// Masks of one split, vertex by vertex.
class MaskDraws {
public:
    explicit MaskDraws(const FillSpec& spec) : spec_(spec) {}
    Split draw(std::int64_t vertex);
    /// After all: the vertex that is in train whatever was drawn; −1: none, since others are.
    std::int64_t promoted() const { return trained_ ? -1 : smallest_; }

private:
    FillSpec spec_;
    bool trained_ = false;
    std::int64_t smallest_ = -1;  ///< the vertex with the smallest draw so far
    double smallest_draw_ = 2;
};

/// One split: each labelled vertex falls into train, validation, test or none by the fractions, at least one into
/// train. `labelled`: by vertex.
std::vector<Split> random_masks(const std::vector<bool>& labelled, const FillSpec& spec);

}  // namespace gnnbench
