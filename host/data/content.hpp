#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <data/manifest.hpp>
#include <data/raw_dataset.hpp>

#include <gnnbench/graph.hpp>

namespace gnnbench {

/// A view of a dataset's arrays.
struct ContentView {
    GraphView graph;
    std::int64_t feature_count = 0;
    std::span<const float> features;  ///< [vertices × feature_count]
    std::int32_t classes = 0;
    bool multi_label = false;
    std::span<const std::int32_t> labels;             ///< length vertices; empty where multi-label
    std::span<const std::uint8_t> label_matrix = {};  ///< [vertices × classes]; empty unless multi-label
    std::int32_t splits = 0;
    std::span<const Split> masks;  ///< [splits × vertices]
};

/// Throws DataError, beginning with `where`, at the first invalid value: decreasing row pointers, an index out of
/// range, an unsorted row or repeated entry, a weight or feature that is not finite (naming vertex and column), a
/// label outside [−1, classes), an entry of the label matrix that is neither 0 nor 1, a mask outside 0 … 3, lengths
/// that do not fit together.
void check_content(const ContentView& content, const std::string& where);

/// A view of `data`, which must outlive it.
ContentView content_of(const RawDataset& data);

/// The same of features, labels and masks alone, where they are there, of a graph of `vertices`.
void check_vertex_data(const ContentView& content, std::int64_t vertices, const std::string& where);

/// XXH3-128 over name, shape and bytes of arrays, one after another.
class ContentDigest {
public:
    ContentDigest();
    void array(const char* name, std::int64_t rows, std::int64_t columns);
    void values(std::span<const std::byte> bytes);  ///< of that array, in any number of pieces
    std::string hex() const;                        ///< 32 digits

private:
    struct Free {
        void operator()(void* state) const;
    };
    std::unique_ptr<void, Free> state_;
};

/// 32 hex digits: ContentDigest of every array.
std::string content_digest(const ContentView& content);

/// Whether every stored (v, u) has its (u, v), and with the same weight.
struct Symmetry {
    bool pattern = false, weights = false;
};
Symmetry measure_symmetry(const GraphView& graph);

std::int64_t count_self_loops(const GraphView& graph);

}  // namespace gnnbench
