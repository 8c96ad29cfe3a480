// Graphs like a dataset that cannot be had: degrees, clustering, widths, classes and split of its profile.
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include <data/generators/degree_params.hpp>
#include <data/generators/made_graph.hpp>
#include <data/profile.hpp>

namespace gnnbench {

namespace {

constexpr std::array<ParamDecl, 10> like_params{{
    {"profile", ParamType::text, "", 0, 0, nullptr,
     "the dataset: one that `gnnbench dataset profiles` lists, or with profile_file any name"},
    {"profile_file", ParamType::path, "", 0, 0, nullptr,
     "a file written by `gnnbench dataset profile STORE`; empty: one that comes with the program"},
    {"scale", ParamType::real, "1", 1e-9, 1e6, nullptr, "vertices, as a multiple of the dataset's; degrees stay"},
    {"density", ParamType::real, "1", 1e-6, 1e6, nullptr,
     "degrees, as a multiple of the dataset's; vertices stay"},
    {"model", ParamType::choice, "bter", 0, 0, "bter|configuration",
     "bter: degrees and clustering; configuration: degrees alone"},
    degree_order_param,
    {"features", ParamType::integer, "0", 0, 65536, nullptr,
     "random features per vertex; 0: as many as the dataset's"},
    {"classes", ParamType::integer, "0", 0, 1000000, nullptr, "classes of labels; 0: as many as the dataset's"},
    labels_param,
    {"seed", ParamType::integer, "1", 0, 9e15, nullptr, "seed of everything drawn at random"},
}};

std::string like_text(const Params& p) {
    const auto& file = p.text("profile_file");
    if (file.empty()) return std::string(profile_text(p.text("profile")));
    std::ifstream in(file);
    if (!in) throw DataError(fmt::format("cannot read {}: profile_file names a dataset's profile", file));
    return {std::istreambuf_iterator<char>(in), {}};
}

Profile like_profile(const Params& p) {
    const auto& file = p.text("profile_file");
    return read_profile(like_text(p), file.empty() ? "profile " + p.text("profile") : file);
}

std::int64_t like_vertices(const Params& p, const Profile& profile) {
    const double n = std::round(static_cast<double>(profile.vertices) * p.real("scale"));
    if (n < 2 || n > INT32_MAX)
        throw SpecError(fmt::format("scale is {}; of {}'s {} vertices that makes {:.0f}, and 2 to {} are allowed",
                                    p.real("scale"), profile.name, profile.vertices, n, INT32_MAX));
    return static_cast<std::int64_t>(n);
}

GraphWish like_wish(const Params& p, const Profile& profile) {
    const auto n = like_vertices(p, profile);
    try {
        return {.profile = profile_degrees(profile, p.real("density"), n),
                .vertices = n,
                .shuffled = p.choice("order") == "random",
                .seed = static_cast<std::uint64_t>(p.integer("seed"))};
    } catch (const SpecError& e) {
        throw SpecError(fmt::format("profile {} with scale {} and density {}: {}", profile.name, p.real("scale"),
                                    p.real("density"), e.what()));
    }
}

std::string like_label(const Params& p) {
    auto label = "like-" + (p.text("profile").empty() ? like_profile(p).name : p.text("profile"));
    if (p.real("scale") != 1) label += fmt::format("-{}", p.real("scale"));
    if (p.real("density") != 1) label += fmt::format("-{}x", p.real("density"));
    return label;
}

GraphSize like_size(const Params& p) {
    const auto profile = like_profile(p);
    const auto wish = like_wish(p, profile);
    const auto n = static_cast<double>(wish.vertices);
    const double reached = mean_degree(wish.profile);
    GraphSize size{.vertices = wish.vertices, .entries = static_cast<std::int64_t>(n * reached)};
    const auto* measured = std::get_if<DegreeProfile>(&profile.degrees);
    if (const double wanted = measured ? mean_degree(*measured) * p.real("density") : reached;
        reached < wanted * 0.998)
        size.unreachable = fmt::format(
            "{}'s degrees are {:.4g} on average, but with at most {} neighbours {:.4g}: its largest are cut",
            profile.name, wanted, wish.vertices - 1, reached);
    return size;
}

FillSpec like_fill(const Params& p) {
    const auto profile = like_profile(p);
    const auto n = static_cast<double>(profile.vertices);
    FillSpec fill{.multi_label = profile.labels_per_vertex > 0,
                  .labels_per_vertex = std::max(1.0, profile.labels_per_vertex),
                  .degree_labels = p.choice("labels") == "degrees",
                  .seed = static_cast<std::uint64_t>(p.integer("seed"))};
    for (auto width : {profile.features, p.integer("features")})
        if (width > 0) fill.features = width;
    for (auto classes : {std::int64_t{profile.classes}, p.integer("classes")})
        if (classes > 0) fill.classes = static_cast<std::int32_t>(classes);
    if (fill.multi_label && fill.degree_labels)
        throw SpecError(
            fmt::format("labels is degrees, which gives each vertex one class; {} has {} labels a vertex",
                        profile.name, fill.labels_per_vertex));
    if (fill.multi_label && fill.labels_per_vertex > fill.classes)
        throw SpecError(fmt::format("classes is {}; {} has {} labels a vertex", fill.classes, profile.name,
                                    fill.labels_per_vertex));
    if (profile.train + profile.validation + profile.test == 0) return fill;
    fill.train_fraction = static_cast<double>(profile.train) / n;
    fill.validation_fraction = static_cast<double>(profile.validation) / n;
    fill.test_fraction = static_cast<double>(profile.test) / n;
    return fill;
}

RawDataset make_like(const Params& p) {
    const auto wish = like_wish(p, like_profile(p));
    return p.choice("model") == "bter" ? make_bter(wish) : make_configuration(wish);
}

std::string like_input(const Params& p) { return short_digest(like_text(p), 16); }

}  // namespace

const GeneratorKind like_generator{
    "like",     "like a dataset: its degrees, clustering, widths, classes and split, by its profile",
    1,          like_params,
    like_label, like_size,
    make_like,  like_fill,
    like_input};

}  // namespace gnnbench
