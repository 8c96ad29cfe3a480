#pragma once
#include <filesystem>
#include <span>
#include <vector>

#include <gnnbench/params.hpp>

#include <data/edges.hpp>
#include <data/memory_budget.hpp>
#include <data/raw_dataset.hpp>

namespace gnnbench {

/// One input format. Its file registers it in the table; nothing else refers to it.
struct ImportFormat {
    const char* name;
    const char* summary;
    std::span<const ParamDecl> params;  ///< ends with fill_params
    bool (*recognises)(const std::filesystem::path&);
    /// Everything the input has, within the memory that the room allows; the caller fills in what is missing.
    RawDataset (*read)(const std::filesystem::path&, const Params&, const MemoryBudget&);
    /// The files that `read` reads; null: only the one that is named.
    std::vector<std::filesystem::path> (*inputs)(const std::filesystem::path&) = nullptr;
    /// Another one where the same files and options give another dataset than before; empty: the first.
    const char* version = "";
};

extern const ImportFormat edge_list_format, graphsaint_format, linqs_format, matrix_market_format, metis_format,
    npz_format, ogb_format, planetoid_format, reddit_format, triples_format;

std::string input_name(const std::filesystem::path& path);  ///< as import.hpp says
/// Whether its name, without the extension of a compression format, ends with one of `endings`.
bool ends_with_any(const std::filesystem::path& path, std::span<const char* const> endings);
/// False also where it cannot be told, so that a format's `recognises` may ask of any path.
bool is_there(const std::filesystem::path& path);

Loops loops_policy(const Params& params);      ///< parameter "loops"
Repeats repeats_policy(const Params& params);  ///< parameter "repeats"

/// Options shared by formats with directed edges. `reverse` is applied to the list before the graph is built.
inline constexpr ParamDecl loops_param{
    "loops", ParamType::choice, "keep", 0, 0, "keep|drop", "what to do with edges from a vertex to itself"};
inline constexpr ParamDecl repeats_param{"repeats",
                                         ParamType::choice,
                                         "drop",
                                         0,
                                         0,
                                         "drop|sum|error",
                                         "an edge listed again: counts once, adds its weight, or is an error"};
inline constexpr ParamDecl reverse_param{
    "reverse", ParamType::boolean, "false", 0, 0, nullptr, "take every listed edge u v as v to u"};
constexpr ParamDecl directed_param(const char* default_value) {
    return {"directed",
            ParamType::boolean,
            default_value,
            0,
            0,
            nullptr,
            "an edge u v lets v aggregate from u; if false, u also from v"};
}
EdgePolicy listed_policy(const Params& params);               ///< by `directed`, `loops` and `repeats`
RawGraph build_listed(EdgeList edges, const Params& params);  ///< by all four parameters above

}  // namespace gnnbench
