// Degree-corrected stochastic block model (Karrer and Newman, Phys. Rev. E 83, 2011), drawn edge by edge: a
// vertex's expected degree is proportional to its propensity θ, whose distribution is a power law; a fraction
// `mixing` of the edges joins two communities. Features are their class' mean plus noise, so that averaging
// neighbours helps.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/draws.hpp>
#include <data/generators/alias_table.hpp>
#include <data/generators/draw_until.hpp>
#include <data/generators/kinds.hpp>

namespace gnnbench {

namespace {

constexpr auto dcsbm_params = joined(
    std::array<ParamDecl, 15>{{
        vertices_param,
        average_degree_param,
        {"communities", ParamType::integer, "0", 0, 1000000, nullptr, "communities; 0: as many as classes"},
        {"exponent", ParamType::real, "2.5", 1.5, 100, nullptr,
         "exponent of the degrees' power law; large values: equal degrees"},
        {"max_degree", ParamType::real, "0", 0, 2147483647, nullptr,
         "largest expected degree; 0: the square root of the number of entries"},
        {"mixing", ParamType::real, "0.2", 0, 1, nullptr, "fraction of edges between different communities"},
        {"order", ParamType::choice, "random", 0, 0, "random|community",
         "order of vertices: at random, or communities in turn"},
        directed_graph_param,
        features_param,
        classes_param,
        {"labels", ParamType::choice, "communities", 0, 0, "communities|degrees",
         "a vertex's class: of its community; or by degree, as in other generators. Features follow communities "
         "either way"},
        multi_label_param,
        labels_per_vertex_param,
        {"signal", ParamType::real, "1", 0, 1000, nullptr,
         "norm of a class's mean feature vector; the noise has variance 1 per feature"},
        {"label_noise", ParamType::real, "0.1", 0, 1, nullptr,
         "vertices whose label is drawn at random, whatever their community; with multi_label, of every vertex "
         "and class"},
    }},
    split_params);

struct Blocks {
    std::vector<std::int32_t> community_of;  ///< length vertices
    std::vector<std::int32_t> members;       ///< vertices, communities one after another
    std::vector<std::int64_t> first;         ///< length communities + 1: where each begins in members
    std::vector<AliasTable> inside;          ///< per community: a member by propensity
    std::vector<AliasTable> among;           ///< one: a community by the sum of its propensities
};

struct Setting {
    std::int64_t vertices, entries;
    std::int32_t communities;
    double exponent, max_degree, mixing;
    bool by_community, directed;
    std::uint64_t seed;
};

Setting setting_from(const Params& p) {
    auto n = p.integer("vertices");
    auto communities = p.integer("communities") > 0 ? p.integer("communities") : p.integer("classes");
    Setting s{.vertices = n,
              .entries = wanted_entries(n, p.real("average_degree")),
              .communities = static_cast<std::int32_t>(std::min(communities, n)),
              .exponent = p.real("exponent"),
              .max_degree = p.real("max_degree"),
              .mixing = p.real("mixing"),
              .by_community = p.choice("order") == "community",
              .directed = p.boolean("directed"),
              .seed = static_cast<std::uint64_t>(p.integer("seed"))};
    if (s.max_degree == 0) s.max_degree = std::sqrt(static_cast<double>(s.entries));
    if (s.communities == 1) s.mixing = 0;
    return s;
}

/// Pareto by inversion, θ ≥ 1, P(θ > t) = t^(1 − exponent), cut where the expected degree would pass max_degree.
std::vector<double> propensities(const Setting& s) {
    std::vector<double> theta(usize(s.vertices));
#pragma omp parallel for
    for (std::int64_t v = 0; v < s.vertices; ++v) {
        auto words = draw(s.seed, Draw::graph, static_cast<std::uint64_t>(v), 0, DataDraw::degree);
        theta[usize(v)] = std::pow(unit_interval(words[0]), -1 / (s.exponent - 1));
    }
    auto mean_degree = static_cast<double>(s.entries) / static_cast<double>(s.vertices);
    if (mean_degree == 0) return theta;
    // The cut is relative to the mean, which cutting lowers: a few rounds converge.
    for (int round = 0; round < 20; ++round) {
        double mean = std::accumulate(theta.begin(), theta.end(), 0.0) / static_cast<double>(s.vertices);
        double cut = std::max(s.max_degree / mean_degree, 1.0) * mean;
        bool any = false;
        for (auto& t : theta)
            if (t > cut * 1.001) t = cut, any = true;
        if (!any) break;
    }
    return theta;
}

/// Every community has a member: vertex (or, shuffled, position) c belongs to community c for c < communities.
std::vector<std::int32_t> assign_communities(const Setting& s) {
    std::vector<std::int32_t> community(usize(s.vertices));
    for (std::int64_t v = 0; v < s.vertices; ++v) {
        auto& c = community[usize(v)];
        auto word = draw(s.seed, Draw::graph, static_cast<std::uint64_t>(v), 0, DataDraw::community)[0];
        if (s.by_community)
            c = static_cast<std::int32_t>(v * s.communities / s.vertices);
        else if (v < s.communities)
            c = static_cast<std::int32_t>(v);
        else
            c = static_cast<std::int32_t>(scaled(word, static_cast<std::uint64_t>(s.communities)));
    }
    return community;
}

Blocks build_blocks(const Setting& s) {
    Blocks b;
    b.community_of = assign_communities(s);
    b.first.resize(usize(s.communities) + 1);
    for (auto c : b.community_of) ++b.first[usize(c) + 1];
    std::partial_sum(b.first.begin(), b.first.end(), b.first.begin());
    b.members.resize(usize(s.vertices));
    std::vector<std::int64_t> cursor(b.first.begin(), b.first.end() - 1);
    auto theta = propensities(s);
    std::vector<double> member_theta(theta.size());
    for (std::int64_t v = 0; v < s.vertices; ++v) {
        auto position = usize(cursor[usize(b.community_of[usize(v)])]++);
        b.members[position] = static_cast<std::int32_t>(v);
        member_theta[position] = theta[usize(v)];
    }
    std::vector<double> sums;
    for (std::size_t c = 0; c + 1 < b.first.size(); ++c) {
        auto of_c = std::span(member_theta).subspan(usize(b.first[c]), usize(b.first[c + 1] - b.first[c]));
        b.inside.emplace_back(of_c);
        sums.push_back(std::accumulate(of_c.begin(), of_c.end(), 0.0));
    }
    b.among.emplace_back(sums);
    return b;
}

std::int32_t pick_member(const Blocks& b, std::int32_t community, std::uint32_t slot, std::uint32_t coin) {
    auto c = usize(community);
    return b.members[usize(b.first[c] + b.inside[c].pick(slot, coin))];
}

/// Edge e: communities first, then an end in each by propensity. Three blocks of random words for each attempt;
/// another where an edge between communities fell into one, or inside a community on one vertex twice.
void draw_edge(const Setting& s, const Blocks& b, std::int64_t e, std::int32_t& u, std::int32_t& v) {
    auto id = static_cast<std::uint64_t>(e);
    for (std::uint32_t attempt = 0; attempt < 32; ++attempt) {
        auto ends = draw(s.seed, Draw::graph, id, 0, DataDraw::edge, attempt);
        auto where = draw(s.seed, Draw::graph, id, 1, DataDraw::edge, attempt);
        bool crossing = unit_interval(draw(s.seed, Draw::graph, id, 2, DataDraw::edge)[0]) < s.mixing;
        auto from = b.among[0].pick(where[0], where[1]);
        auto to = crossing ? b.among[0].pick(where[2], where[3]) : from;
        u = pick_member(b, from, ends[0], ends[1]);
        v = pick_member(b, to, ends[2], ends[3]);
        if ((from != to) == crossing && u != v) return;
    }
}

/// Class of each community is its number modulo classes; a few vertices get any label.
std::vector<std::int32_t> noisy_labels(const Blocks& b, std::int32_t classes, double noise, std::uint64_t seed) {
    std::vector<std::int32_t> labels(b.community_of.size());
    for (std::size_t v = 0; v < labels.size(); ++v) {
        auto words = draw(seed, Draw::graph, v, 0, DataDraw::label_noise);
        bool random = unit_interval(words[0]) < noise;
        labels[v] = random ? static_cast<std::int32_t>(scaled(words[1], static_cast<std::uint64_t>(classes)))
                           : b.community_of[v] % classes;
    }
    return labels;
}

/// Each community has a set of labels: its class, and every other one at random; its vertices have them, but for
/// entries that are drawn at random whatever the community. About `mean` labels a vertex either way.
std::vector<std::uint8_t> noisy_label_sets(const Blocks& b, std::int32_t classes, double mean, double noise,
                                           std::uint64_t seed) {
    const auto n = static_cast<std::int64_t>(b.community_of.size());
    const double others = classes > 1 ? (mean - 1) / (classes - 1) : 0;
    std::vector<std::uint8_t> matrix(array_elements("dcsbm's labels", {n, classes}, 1));
#pragma omp parallel for
    for (std::int64_t v = 0; v < n; ++v) {
        const std::int32_t own = b.community_of[usize(v)] % classes;
        const auto vertex = static_cast<std::uint64_t>(v);
        for (std::int32_t c = 0; c < classes; ++c) {
            bool has =
                c == own || class_draw(seed, static_cast<std::uint64_t>(own), c, DataDraw::label_set) < others;
            if (class_draw(seed, vertex, c, DataDraw::label_noise) < noise)
                has = class_draw(seed, vertex, c, DataDraw::label_matrix) < mean / classes;
            matrix[usize(v * classes + c)] = has;
        }
    }
    return matrix;
}

/// x_v = μ_class(v) + noise, with ‖μ‖ ≈ signal and standard normal noise in every feature.
std::vector<float> class_features(const Blocks& b, std::int64_t features, std::int32_t classes, double signal,
                                  std::uint64_t seed) {
    auto blocks = (features + 3) / 4;
    auto scale = static_cast<float>(signal / std::sqrt(static_cast<double>(features)));
    std::vector<float> means(usize(classes * blocks * 4));
    float four[4];
    for (std::int64_t c = 0; c < classes; ++c)
        for (std::int64_t i = 0; i < blocks; ++i) {
            normal_block(seed, static_cast<std::uint64_t>(c), static_cast<std::uint32_t>(i), DataDraw::class_mean,
                         four);
            for (int k = 0; k < 4; ++k) means[usize((c * blocks + i) * 4 + k)] = scale * four[k];
        }
    auto n = static_cast<std::int64_t>(b.community_of.size());
    std::vector<float> values(array_elements("dcsbm's features", {n, features}, sizeof(float)));
#pragma omp parallel for private(four)
    for (std::int64_t v = 0; v < n; ++v) {
        const float* mean = means.data() + b.community_of[usize(v)] % classes * blocks * 4;
        for (std::int64_t i = 0; i < blocks; ++i) {
            normal_block(seed, static_cast<std::uint64_t>(v), static_cast<std::uint32_t>(i), DataDraw::noise,
                         four);
            for (std::int64_t k = 4 * i; k < std::min(4 * i + 4, features); ++k)
                values[usize(v * features + k)] = mean[k] + four[k - 4 * i];
        }
    }
    return values;
}

std::string dcsbm_label(const Params& p) {
    return fmt::format("dcsbm-{}x{}", p.integer("vertices"), p.real("average_degree"));
}

/// Communities of one size have room for so many entries, of those that `mixing` puts inside and between them.
GraphSize dcsbm_size(const Params& p) {
    const auto s = setting_from(p);
    const auto n = static_cast<double>(s.vertices), communities = static_cast<double>(s.communities);
    const double degree = p.real("average_degree"), wanted = n * degree, all = n * (n - 1);
    const double inside = n * std::max(0.0, n / communities - 1), between = n * (n - n / communities);
    const double in_blocks = std::min((1 - s.mixing) * wanted, inside) + std::min(s.mixing * wanted, between);
    if (in_blocks >= std::min(wanted, all) * 0.998)
        return asked_size(s.vertices, degree, all, fmt::format("{:.0f} vertices have room for", n));
    return asked_size(s.vertices, degree, in_blocks,
                      fmt::format("{:.0f} communities of {:.0f} vertices with mixing {} have room for",
                                  communities, n / communities, s.mixing));
}

RawDataset make_dcsbm(const Params& p) {
    auto s = setting_from(p);
    auto blocks = build_blocks(s);
    RawDataset data;
    data.graph =
        draw_until(s.vertices, s.entries, s.directed,
                   [&](std::int64_t e, std::int32_t& u, std::int32_t& v) { draw_edge(s, blocks, e, u, v); });
    data.feature_count = p.integer("features");
    data.classes = static_cast<std::int32_t>(p.integer("classes"));
    data.features = class_features(blocks, data.feature_count, data.classes, p.real("signal"), s.seed);
    data.synthetic = {"features"};
    if (p.choice("labels") == "degrees") return data;  // the caller makes them
    data.synthetic.emplace_back("labels");
    if (p.boolean("multi_label"))
        data.label_matrix =
            noisy_label_sets(blocks, data.classes, p.real("labels_per_vertex"), p.real("label_noise"), s.seed);
    else
        data.labels = noisy_labels(blocks, data.classes, p.real("label_noise"), s.seed);
    return data;
}

}  // namespace

const GeneratorKind dcsbm_generator{"dcsbm",
                                    "degree-corrected stochastic block model: power-law degrees, communities, "
                                    "features correlated with a vertex's class",
                                    1,
                                    dcsbm_params,
                                    dcsbm_label,
                                    dcsbm_size,
                                    make_dcsbm};

}  // namespace gnnbench
