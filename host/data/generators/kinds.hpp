#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <gnnbench/params.hpp>

#include <data/fill.hpp>
#include <data/options.hpp>
#include <data/raw_dataset.hpp>

namespace gnnbench {

/// A graph's size, known from the parameters alone.
struct GraphSize {
    std::int64_t vertices = 0;
    std::int64_t entries = 0;   ///< about
    std::string unreachable{};  ///< as GeneratedSize's
};

inline std::string no_input(const Params&) { return {}; }

/// One generator. Its file registers it in the table; nothing else refers to it.
struct GeneratorKind {
    const char* name;
    const char* summary;
    int version;
    std::span<const ParamDecl> params;
    std::string (*label)(const Params&);  ///< with its size: "dcsbm-20000x40"
    GraphSize (*size)(const Params&);
    RawDataset (*make)(const Params&);               ///< the caller fills in the empty arrays
    FillSpec (*fill)(const Params&) = fill_spec;     ///< of them
    std::string (*input)(const Params&) = no_input;  ///< a digest of what it reads, for the dataset's identity
};

/// The generator and its resolved parameters. Throws SpecError on an unknown one, or on parameters that it has not.
struct ChosenGenerator {
    const GeneratorKind& kind;
    Params params;
};
ChosenGenerator chosen_generator(const std::string& kind, const nlohmann::json& given);

extern const GeneratorKind bter_generator, configuration_generator, dcsbm_generator, grid_generator,
    like_generator, regular_generator, rmat_generator;

/// The size where average_degree asks for n · degree entries and there is room for so many; generators end within 0.2%.
/// `place` completes "…, but … at most": what has the room.
GraphSize asked_size(std::int64_t vertices, double average_degree, double room, const std::string& place);

inline constexpr ParamDecl vertices_param{"vertices", ParamType::integer, "20000", 1, 2147483647,
                                          nullptr,    "vertices"};
inline constexpr ParamDecl average_degree_param{
    "average_degree",
    ParamType::real,
    "40",
    0,
    100000,
    nullptr,
    "stored entries per vertex (an undirected edge is two); repeats are drawn "
    "again until it is nearly reached"};
inline constexpr ParamDecl directed_graph_param{
    "directed", ParamType::boolean, "false", 0, 0, nullptr, "whether u to v comes without v to u"};
inline constexpr ParamDecl features_param{"features", ParamType::integer,   "64", 1, 65536,
                                          nullptr,    "features per vertex"};
inline constexpr ParamDecl classes_param{"classes", ParamType::integer, "8", 1, 1000000,
                                         nullptr,   "classes of labels"};
inline constexpr ParamDecl multi_label_param{
    "multi_label",
    ParamType::boolean,
    "false",
    0,
    0,
    nullptr,
    "whether a vertex may have several labels, or none: binary cross-entropy and micro-F1"};
inline constexpr ParamDecl labels_per_vertex_param{
    "labels_per_vertex",
    ParamType::real,
    "2",
    1,
    1000000,
    nullptr,
    "labels of a vertex on average, with multi_label; at most as many as classes"};

/// What every generator fills a graph with.
inline constexpr auto content_params =
    joined(std::array<ParamDecl, 5>{{features_param, classes_param, labels_param, multi_label_param,
                                     labels_per_vertex_param}},
           split_params);

}  // namespace gnnbench
