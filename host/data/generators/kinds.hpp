#pragma once
#include <span>
#include <string>

#include <gnnbench/params.hpp>

#include <data/options.hpp>
#include <data/raw_dataset.hpp>

namespace gnnbench {

/// One generator. Its file registers it in the table; nothing else refers to it.
struct GeneratorKind {
    const char* name;
    const char* summary;
    int version;
    std::span<const ParamDecl> params;
    std::string (*label)(const Params&);  ///< with its size: "dcsbm-20000x40"
    RawDataset (*make)(const Params&);    ///< the caller fills in the empty arrays
};

extern const GeneratorKind dcsbm_generator, rmat_generator, grid_generator;

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

}  // namespace gnnbench
