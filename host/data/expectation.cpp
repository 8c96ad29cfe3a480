#include <data/expectation.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include <data/options.hpp>

namespace gnnbench {
namespace {

constexpr std::array<ParamDecl, 17> expect_params{{
    {"profile_file", ParamType::path, "", 0, 0, nullptr,
     "a file written by `gnnbench dataset profile STORE`; empty: one that comes with the program"},
    {"scale", ParamType::real, "1", 1e-9, 1e6, nullptr, "vertices, as a multiple of the dataset's; degrees stay"},
    {"entries", ParamType::integer, "0", 0, 9e15, nullptr,
     "stored entries without self-loops (of an undirected edge both directions); 0: as the profile's degrees have "
     "it"},
    {"directed", ParamType::boolean, "false", 0, 0, nullptr,
     "entries are directed edges: the matrix and its transpose are two, with the same distribution of degrees"},
    {"features", ParamType::integer, "0", 0, 65536, nullptr, "features per vertex; 0: as many as the dataset's"},
    {"classes", ParamType::integer, "0", 0, 1000000, nullptr, "classes; 0: as many as the dataset's"},
    {"locality", ParamType::real, "-1", -1, 1, nullptr,
     "share of the edges that a partitioner leaves inside parts; -1: not known, so that only partitions at random "
     "can "
     "be expected"},
    {"halo", ParamType::real, "-1", -1, 1e6, nullptr,
     "rows that parts need of others, together, for each vertex: sum(lambda - 1) of `gnnbench partition` by "
     "vertices; "
     "-1: as if every edge left its part by itself, which is too many"},
    {"locality_parts", ParamType::integer, "0", 0, 2147483647, nullptr,
     "the number of parts at which locality and halo hold; 0: any"},
    {"cut_growth", ParamType::real, "0", 0, 2, nullptr,
     "g: of P parts, 1 - locality is (P / locality_parts)^g times as large"},
    {"halo_growth", ParamType::real, "0", 0, 2, nullptr, "the same of halo"},
    {"vertex_imbalance", ParamType::real, "1", 1, 1e6, nullptr,
     "the largest part's vertices ÷ the mean of the parts, at locality_parts parts"},
    {"nonzero_imbalance", ParamType::real, "1", 1, 1e6, nullptr, "the same of nonzeros, the diagonal included"},
    {"halo_imbalance", ParamType::real, "1", 1, 1e6, nullptr, "the same of the rows that a part needs of others"},
    {"vertex_imbalance_growth", ParamType::real, "0", -2, 2, nullptr,
     "g: of P parts, vertex_imbalance is (P / locality_parts)^g times as large, from 1 to P"},
    {"nonzero_imbalance_growth", ParamType::real, "0", -2, 2, nullptr, "the same of nonzero_imbalance"},
    {"halo_imbalance_growth", ParamType::real, "0", -2, 2, nullptr, "the same of halo_imbalance"},
}};

std::string text_of(const std::string& profile, const Params& p) {
    const std::string& file = p.text("profile_file");
    if (file.empty()) return std::string(profile_text(profile));
    std::ifstream in(file);
    if (!in) throw DataError(fmt::format("cannot read {}: profile_file names a dataset's profile", file));
    return {std::istreambuf_iterator<char>(in), {}};
}

void require_shares(const ExpectedDataset::Partitioned& at, double mean_degree) {
    const double cut_entries = (1 - at.inside) * mean_degree;
    if (at.halo && *at.halo > cut_entries * (1 + 1e-9))
        throw SpecError(
            fmt::format("dataset: halo is {} rows for each vertex; with locality {}, {:.4g} entries of each "
                        "leave their part, and every row needs one",
                        *at.halo, at.inside, cut_entries));
    const bool grows = at.cut_growth > 0 || at.halo_growth > 0 || !(at.imbalance_growth == PartImbalance{0, 0, 0});
    if (at.parts == 0 && grows)
        throw SpecError(
            "dataset: cut_growth, halo_growth and the imbalances' growths need locality_parts, from "
            "which they count");
}

/// "nonzero_imbalance", "nonzero_imbalance_growth".
struct ImbalanceKey {
    const char *key, *growth_key;
    double PartImbalance::* number;
};
constexpr ImbalanceKey imbalance_keys[] = {
    {"vertex_imbalance", "vertex_imbalance_growth", &PartImbalance::vertices},
    {"nonzero_imbalance", "nonzero_imbalance_growth", &PartImbalance::nonzeros},
    {"halo_imbalance", "halo_imbalance_growth", &PartImbalance::halo}};

/// Parts that differ need a halo to share, and at some number of parts one cannot have more than all.
void read_imbalance(const Params& p, ExpectedDataset& d) {
    for (const auto& [key, growth_key, number] : imbalance_keys) {
        const double told = p.real(key), growth = p.real(growth_key);
        if (told == 1 && growth == 0) continue;
        if (!d.partitioned || !d.partitioned->halo)
            throw SpecError(fmt::format("dataset: {} is of a partitioner's parts, and needs locality and halo",
                                        told == 1 ? growth_key : key));
        if (d.partitioned->parts > 0 && told > static_cast<double>(d.partitioned->parts))
            throw SpecError(fmt::format("dataset: {} is {}; of {} parts the largest has at most {} times the mean",
                                        key, told, d.partitioned->parts, d.partitioned->parts));
        d.partitioned->imbalance.*number = told;
        d.partitioned->imbalance_growth.*number = growth;
    }
}

}  // namespace

const char* expectation_summary() {
    return "a graph that is not there, by its profile's degrees: for simulated ranks, volumes are expectations";
}

std::span<const ParamDecl> expectation_params() { return expect_params; }

bool is_expected(const nlohmann::json& source) { return source.is_object() && source.contains("expect"); }

ExpectedDataset expected_dataset(const nlohmann::json& source) {
    nlohmann::json given = source;
    if (given.value("split", 0) != 0)
        throw SpecError("dataset: an expected dataset has one split; leave the key out");
    given.erase("split");
    const auto take = [&](const char* key) -> std::string {
        if (!given.contains(key)) return {};
        if (!given[key].is_string())
            throw SpecError(fmt::format("dataset: '{}' is {}, allowed is text", key, given[key].dump()));
        std::string text = given[key];
        given.erase(key);
        return text;
    };
    const std::string expect = take("expect"), name = take("name");
    const Params p = resolve_params(expect_params, given, fmt::format("dataset expected of {}", expect));
    const std::string text = text_of(expect, p);
    const Profile profile = read_profile(text, "profile " + expect);

    ExpectedDataset d;
    const double n = std::round(static_cast<double>(profile.vertices) * p.real("scale"));
    if (n < 2 || n > INT32_MAX)
        throw SpecError(fmt::format("dataset: scale {} makes {:.0f} vertices; 2 to {} are allowed",
                                    p.real("scale"), n, INT32_MAX));
    d.vertices = static_cast<std::int64_t>(n);
    d.degrees = profile_degrees(profile, 1, d.vertices);
    const double mean = mean_degree(d.degrees);
    // What a profile states is exact; the distribution that has this mean has it to some digits.
    const auto* fitted = std::get_if<Profile::Fitted>(&profile.degrees);
    d.entries =
        p.integer("entries") > 0 ? p.integer("entries") : std::llround((fitted ? fitted->mean_degree : mean) * n);
    if (p.integer("entries") > 0) {
        if (static_cast<double>(d.entries) > n * (n - 1))
            throw SpecError(fmt::format("dataset: {:.0f} vertices have at most {:.0f} entries; found entries: {}",
                                        n, n * (n - 1), d.entries));
        d.degrees = profile_degrees(profile, static_cast<double>(d.entries) / n / mean, d.vertices);
    }
    d.features = p.integer("features") > 0 ? p.integer("features") : profile.features;
    d.classes = static_cast<std::int32_t>(p.integer("classes") > 0 ? p.integer("classes") : profile.classes);
    if (d.features < 1 || d.classes < 1)
        throw SpecError(
            fmt::format("dataset: profile {} has {} features and {} classes; give features and classes", expect,
                        d.features, d.classes));
    d.directed = p.boolean("directed");
    d.assumed = fitted != nullptr;
    if (p.real("locality") >= 0) {
        d.partitioned = {.inside = p.real("locality"),
                         .halo = {},
                         .parts = p.integer("locality_parts"),
                         .cut_growth = p.real("cut_growth"),
                         .halo_growth = p.real("halo_growth"),
                         .imbalance = {},
                         .imbalance_growth = {0, 0, 0}};
        if (p.real("halo") >= 0) d.partitioned->halo = p.real("halo");
    }
    read_imbalance(p, d);
    if (d.partitioned) require_shares(*d.partitioned, static_cast<double>(d.entries) / n);
    nlohmann::json other = beyond_defaults(expect_params, p);
    const nlohmann::json identity = {{"expect", expect}, {"profile", text}, {"parameters", other}, {"version", 1}};
    d.digest = short_digest(identity, 32);
    d.name = name;
    if (name.empty())
        d.name = fmt::format("expected-{}{}", expect, other.empty() ? "" : "-" + short_digest(other, 6));
    return d;
}

PartShares shares_at(const ExpectedDataset::Partitioned& at, std::int64_t parts) {
    if (parts <= 1) return {};
    const double ratio = at.parts > 0 ? static_cast<double>(parts) / static_cast<double>(at.parts) : 1;
    const double at_random = 1 - 1 / static_cast<double>(parts);
    const double cut = std::min(at_random, (1 - at.inside) * std::pow(ratio, at.cut_growth));
    PartShares shares{.inside = 1 - cut, .halo = {}};
    if (at.halo) shares.halo = *at.halo * std::pow(ratio, at.halo_growth);
    for (const auto& [key, growth_key, number] : imbalance_keys)
        shares.imbalance.*number = std::clamp(at.imbalance.*number * std::pow(ratio, at.imbalance_growth.*number),
                                              1.0, static_cast<double>(parts));
    return shares;
}

}  // namespace gnnbench
