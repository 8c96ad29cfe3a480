// Libra: a greedy vertex cut that takes edges one after another.
// C. Xie, L. Yan, W.-J. Li, Z. Zhang, "Distributed Power-Law Graph Computing: Theoretical and Empirical Analysis", NIPS 2014;
// as DistGNN's release has it (Md et al., SC 2021).
//
//   A(v)   parts with an edge at v so far      load(p)   edges of part p so far      d(v)   edges at v, in and out
//
//   edge (u, v) goes to the least loaded of          where
//     all parts                                        A(u) = A(v) = ∅
//     A(u), or A(v)                                    the other is empty
//     A(u) ∩ A(v)                                      they meet
//     A(u) if d(u) < d(v), else A(v)                   they do not: the vertex with more edges is copied
#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <gnnbench/partition.hpp>
#include <gnnbench/random.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// Streams of Draw::partition.
enum class Stream : std::uint32_t { ties = 10, roots = 11, edges = 12 };

RandomStream stream(std::uint64_t seed, Stream what) {
    return RandomStream(seed, Draw::partition, static_cast<std::uint32_t>(what));
}

/// A set of parts for each vertex, as bits.
class PartSets {
public:
    PartSets(std::int64_t vertices, Part parts)
        : words_(usize((parts + 63) / 64)), bits_(usize(vertices) * words_) {}

    std::span<std::uint64_t> of(std::int64_t v) { return std::span(bits_).subspan(usize(v) * words_, words_); }
    void insert(std::int64_t v, Part p) { of(v)[usize(p / 64)] |= std::uint64_t{1} << (p % 64); }
    bool empty(std::int64_t v) {
        return std::ranges::all_of(of(v), [](std::uint64_t word) { return word == 0; });
    }
    std::size_t words() const { return words_; }

private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

void for_each_part(std::span<const std::uint64_t> set, auto&& visit) {
    for (std::size_t w = 0; w < set.size(); ++w)
        for (std::uint64_t word = set[w]; word != 0; word &= word - 1)
            visit(static_cast<Part>(64 * w) + std::countr_zero(word));
}

class Greedy {
public:
    Greedy(const GraphView& graph, Part parts, std::uint64_t seed)
        : sets_(graph.vertices(), parts),
          all_(sets_.words()),
          chosen_(sets_.words()),
          load_(usize(parts)),
          degree_(usize(graph.vertices())),
          ties_(stream(seed, Stream::ties)) {
        for (Part p = 0; p < parts; ++p) all_[usize(p / 64)] |= std::uint64_t{1} << (p % 64);
        for (std::size_t v = 0; v < degree_.size(); ++v) degree_[v] += graph.indptr[v + 1] - graph.indptr[v];
        for (const std::int32_t u : graph.indices) ++degree_[usize(u)];
    }

    Part assign(std::int64_t u, std::int64_t v) {
        const Part p = least_loaded(candidates(u, v));
        ++load_[usize(p)];
        sets_.insert(u, p);
        sets_.insert(v, p);
        return p;
    }
    PartSets& sets() { return sets_; }

private:
    std::span<const std::uint64_t> candidates(std::int64_t u, std::int64_t v) {
        const auto at_u = sets_.of(u), at_v = sets_.of(v);
        const bool none_u = sets_.empty(u), none_v = sets_.empty(v);
        if (none_u && none_v) return all_;
        if (none_v) return at_u;
        if (none_u) return at_v;
        bool meet = false;
        for (std::size_t w = 0; w < chosen_.size(); ++w) meet |= (chosen_[w] = at_u[w] & at_v[w]) != 0;
        if (meet) return chosen_;
        return degree_[usize(u)] < degree_[usize(v)] ? at_u : at_v;
    }

    /// Of several, one at random.
    Part least_loaded(std::span<const std::uint64_t> set) {
        least_.clear();
        for_each_part(set, [&](Part p) {
            if (!least_.empty() && load_[usize(p)] > load_[usize(least_.front())]) return;
            if (!least_.empty() && load_[usize(p)] < load_[usize(least_.front())]) least_.clear();
            least_.push_back(p);
        });
        return least_.size() == 1 ? least_.front() : least_[ties_.below(least_.size())];
    }

    PartSets sets_;
    std::vector<std::uint64_t> all_, chosen_;
    std::vector<std::int64_t> load_, degree_;
    std::vector<Part> least_;
    RandomStream ties_;
};

/// Row and column of every entry, by the entry's number.
struct Ends {
    std::vector<std::int32_t> row;
    std::span<const std::int32_t> column;

    explicit Ends(const GraphView& graph) : row(usize(graph.edges())), column(graph.indices) {
        for (std::int64_t v = 0; v < graph.vertices(); ++v)
            std::fill(row.begin() + graph.indptr[usize(v)], row.begin() + graph.indptr[usize(v) + 1],
                      static_cast<std::int32_t>(v));
    }
};

/// The numbers of entries in the order in which they are taken; empty: as they are.
std::vector<std::int64_t> edge_order(const Params& params, std::int64_t edges, std::uint64_t seed) {
    if (params.choice("edge_order") == "stored") return {};
    std::vector<std::int64_t> order(usize(edges));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    RandomStream random = stream(seed, Stream::edges);
    for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
    return order;
}

/// One of each vertex' parts at random; a vertex without edges goes where the fewest copies are.
std::vector<Part> roots(PartSets& sets, std::int64_t vertices, Part parts, std::uint64_t seed) {
    std::vector<Part> root(usize(vertices), -1), of_vertex;
    std::vector<std::int64_t> copies(usize(parts));
    RandomStream random = stream(seed, Stream::roots);
    for (std::int64_t v = 0; v < vertices; ++v) {
        of_vertex.clear();
        for_each_part(sets.of(v), [&](Part p) { of_vertex.push_back(p); });
        if (of_vertex.empty()) continue;
        root[usize(v)] = of_vertex[random.below(of_vertex.size())];
        for (const Part p : of_vertex) ++copies[usize(p)];
    }
    for (Part& p : root)
        if (p < 0) {
            p = static_cast<Part>(std::ranges::min_element(copies) - copies.begin());
            ++copies[usize(p)];
        }
    return root;
}

class Libra final : public Partitioner {
public:
    bool cuts_vertices() const override { return true; }
    std::string why_unsupported(const GraphSize&, const PartitionNeed& need, const Params&) const override {
        return why_not_alike(need);
    }

    Partition partition(const PartitionTask& task) const override {
        const std::int64_t own = task.params.integer("seed");
        const std::uint64_t seed = own < 0 ? task.seed : static_cast<std::uint64_t>(own);
        const GraphView& graph = task.dataset.graph;
        const Part parts = task.need.parts;
        const Ends ends(graph);
        Greedy greedy(graph, parts, seed);
        Partition result{.parts = parts, .part_of = {}, .column_part_of = {}};
        result.part_of_entry.resize(usize(graph.edges()));
        const std::vector<std::int64_t> order = edge_order(task.params, graph.edges(), seed);
        for (std::int64_t i = 0; i < graph.edges(); ++i) {
            const auto e = usize(order.empty() ? i : order[usize(i)]);
            result.part_of_entry[e] = greedy.assign(ends.column[e], ends.row[e]);
        }
        result.part_of = roots(greedy.sets(), graph.vertices(), parts, seed);
        return result;
    }
};

constexpr ParamDecl declared[] = {
    {"edge_order", ParamType::choice, "stored", 0, 0, "stored|random",
     "in which order edges are taken: as the dataset lists them, row by row, or at random"},
    {"seed", ParamType::integer, "-1", -1, 0x1p53, nullptr,
     "seed of ties, roots and a random order; -1: the cell's seed"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(partitioner, gnnbench::Libra, "libra", "1.0.0",
                "greedy vertex cut: edges are dealt to parts, which copy vertices (Xie et al., NIPS 2014)",
                gnnbench::declared)
