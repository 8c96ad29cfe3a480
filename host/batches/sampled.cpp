#include <gnnbench/batches/sampled.hpp>

#include <algorithm>
#include <utility>

#include <gnnbench/random.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// `count` of {0 … population − 1} without replacement, in no order (R. W. Floyd's algorithm; J. Bentley, "A sample of
/// brilliance", CACM 1987). `mark(x)` marks x and returns whether it was not marked.
template <class Mark>
void draw_without_replacement(std::uint64_t population, std::uint64_t count, RandomStream& random, Mark&& mark) {
    for (std::uint64_t last = population - count; last < population; ++last)
        if (!mark(random.below(last + 1))) mark(last);
}

/// A set of vertices of a graph.
class VertexSet {
public:
    explicit VertexSet(std::int64_t vertices) : contains_(usize(vertices)) {}
    /// Whether it was not there.
    bool insert(std::int64_t v) {
        const bool is_new = !contains_[usize(v)];
        contains_[usize(v)] = true;
        return is_new;
    }
    std::vector<GlobalId> ascending() const {
        std::vector<GlobalId> all;
        for (std::size_t v = 0; v < contains_.size(); ++v)
            if (contains_[v]) all.push_back(GlobalId{static_cast<std::int64_t>(v)});
        return all;
    }

private:
    std::vector<bool> contains_;
};

std::uint32_t salt(std::int64_t number) { return static_cast<std::uint32_t>(number); }

std::int64_t rounded_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// seeds · (1 + f + f² + … + f^hops), or `vertices` if that is less.
std::int64_t most_reached(std::int64_t seeds, const NeighbourSampleSettings& s, std::int64_t vertices) {
    std::int64_t reached = seeds, of_hop = seeds;
    for (int hop = 0; hop < s.hops && reached < vertices; ++hop) {
        if (of_hop > vertices / s.fan_out) return vertices;
        of_hop *= s.fan_out;
        reached += of_hop;
    }
    return std::min(reached, vertices);
}

}  // namespace

VertexSamples::VertexSamples(std::int64_t vertices, const VertexSampleSettings& settings)
    : vertices_(vertices), settings_(settings) {
    require(settings.batch_vertices > 0, "a batch has at least one vertex");
    settings_.batch_vertices = std::min(settings_.batch_vertices, vertices_);
}

std::int64_t VertexSamples::batches() const {
    return vertices_ > 0 ? rounded_up(vertices_, settings_.batch_vertices) : 1;
}

std::vector<GlobalId> VertexSamples::vertices(std::int64_t item) const {
    VertexSet drawn(vertices_);
    RandomStream random(settings_.seed, Draw::batch, salt(item));
    draw_without_replacement(static_cast<std::uint64_t>(vertices_),
                             static_cast<std::uint64_t>(settings_.batch_vertices), random,
                             [&](std::uint64_t v) { return drawn.insert(static_cast<std::int64_t>(v)); });
    return drawn.ascending();
}

NeighbourSamples::NeighbourSamples(const GraphView& graph, std::vector<GlobalId> seeds,
                                   const NeighbourSampleSettings& settings)
    : graph_(graph), seeds_(std::move(seeds)), settings_(settings) {
    require(settings.batch_seeds > 0 && settings.fan_out > 0 && settings.hops >= 0,
            "a batch has seeds, and a vertex neighbours to draw");
    const std::int64_t most_seeds = std::min<std::int64_t>(settings_.batch_seeds, std::ssize(seeds_));
    most_vertices_ = most_reached(most_seeds, settings_, graph_.vertices());
}

std::int64_t NeighbourSamples::batches() const {
    return seeds_.empty() ? 1 : rounded_up(std::ssize(seeds_), settings_.batch_seeds);
}

std::vector<GlobalId> NeighbourSamples::seeds_of(std::int64_t item) const {
    std::vector<GlobalId> order = seeds_;
    RandomStream random(settings_.seed, Draw::batch, salt(epoch_of(item)));
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    const std::int64_t first = batch_of(item) * settings_.batch_seeds,
                       last = std::min<std::int64_t>(first + settings_.batch_seeds, std::ssize(order));
    std::vector<GlobalId> chosen(order.begin() + first, order.begin() + last);
    std::ranges::sort(chosen);
    return chosen;
}

std::vector<GlobalId> NeighbourSamples::vertices(std::int64_t item) const {
    VertexSet reached(graph_.vertices());
    std::vector<GlobalId> hop = seeds_of(item);
    for (const GlobalId v : hop) reached.insert(value(v));
    RandomStream random(settings_.seed, Draw::sample, salt(item));
    std::vector<std::uint64_t> drawn;  // few: a search from its beginning is the fastest
    const auto mark = [&](std::uint64_t x) {
        if (std::ranges::find(drawn, x) != drawn.end()) return false;
        drawn.push_back(x);
        return true;
    };
    for (int h = 0; h < settings_.hops; ++h) {
        std::vector<GlobalId> next;
        for (const GlobalId v : hop) {
            const auto first = usize(graph_.indptr[usize(value(v))]),
                       degree = usize(graph_.indptr[usize(value(v)) + 1]) - first;
            const auto reach = [&](std::uint64_t e) {
                const std::int64_t u = graph_.indices[first + e];
                if (reached.insert(u)) next.push_back(GlobalId{u});
            };
            if (degree <= usize(settings_.fan_out)) {
                for (std::uint64_t e = 0; e < degree; ++e) reach(e);
                continue;
            }
            drawn.clear();
            draw_without_replacement(degree, usize(settings_.fan_out), random, mark);
            for (const std::uint64_t e : drawn) reach(e);
        }
        hop = std::move(next);
    }
    return reached.ascending();
}

std::unique_ptr<BatchSource> make_sampled_source(const DatasetView& data, const Params& params, int hops,
                                                 std::uint64_t seed) {
    const std::int64_t size = params.integer("batch_vertices");
    if (params.choice("sampler") == "vertices")
        return std::make_unique<VertexSamples>(data.graph.vertices(),
                                               VertexSampleSettings{.batch_vertices = size, .seed = seed});
    std::vector<GlobalId> seeds;
    for (std::int64_t v = 0; v < data.graph.vertices(); ++v)
        if (data.split.empty() || data.split[usize(v)] == Split::train) seeds.push_back(GlobalId{v});
    return std::make_unique<NeighbourSamples>(
        data.graph, std::move(seeds),
        NeighbourSampleSettings{
            .batch_seeds = size, .fan_out = params.integer("fan_out"), .hops = hops, .seed = seed});
}

}  // namespace gnnbench
