#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <data/raw_dataset.hpp>

namespace gnnbench {

/// Edges as an input lists them: edge e goes from source[e] to target[e].
struct EdgeList {
    std::int64_t vertices = 0;
    std::vector<std::int32_t> source, target;  ///< length edges, each in [0, vertices)
    std::vector<float> weight;                 ///< length edges, or empty: every weight is 1
    std::vector<std::int64_t> line;            ///< line where each was listed, or empty; only for errors
    std::string file;                          ///< for errors

    std::int64_t edges() const { return static_cast<std::int64_t>(source.size()); }
};

/// directed: u v is stored as entry u of row v. undirected: as entry u of row v and v of row u; listing
/// v u too is a repeat. mirrored: the input lists both (u v and v u) itself; a missing one is an error.
/// completed: the same, but a missing one is added.
enum class Listing { directed, undirected, mirrored, completed };
enum class Loops { keep, drop };
/// How to handle a repeated edge. drop: the first one counts. sum: weights add up (without weights, the
/// number of listings becomes the weight). error: DataError.
enum class Repeats { drop, sum, error };

struct EdgePolicy {
    Listing listing = Listing::directed;
    Loops loops = Loops::keep;
    Repeats repeats = Repeats::drop;
};

RawGraph build_graph(EdgeList edges, EdgePolicy policy);

/// A listed edge, for errors; line 0: not known.
struct ListedEdge {
    std::int32_t source = 0, target = 0;
    std::int64_t line = 0;
};
/// Throws the DataError of `repeats: error`.
[[noreturn]] void refuse_repeat(const std::string& file, const ListedEdge& first, const ListedEdge& again);

/// Patterns only, on all threads; the result does not depend on their number. Duplicates are dropped.
RawGraph build_pattern(std::int64_t vertices, std::vector<std::int32_t> source, std::vector<std::int32_t> target,
                       bool directed, Loops loops = Loops::drop);
/// Entries of either; both have the same vertices and no weights. Counts of what was listed are not kept.
RawGraph merge_patterns(const RawGraph& a, const RawGraph& b);

}  // namespace gnnbench
