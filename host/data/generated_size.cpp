#include <data/generated_size.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <data/generate.hpp>
#include <data/options.hpp>

namespace gnnbench {

namespace {

/// Lattice edges that are kept, and diagonals.
double lattice_edges(const Params& p) {
    const auto width = static_cast<double>(p.integer("width")), height = static_cast<double>(p.integer("height"));
    return ((width - 1) * height + width * (height - 1)) * (1 - p.real("missing")) +
           (width - 1) * (height - 1) * p.real("diagonals");
}

/// Entries that a block model of `communities` equal ones has room for, of those that `mixing` puts inside and between.
double room_in_blocks(double vertices, double communities, double mixing, double wanted) {
    const double inside = vertices * std::max(0.0, vertices / communities - 1),
                 between = vertices * (vertices - vertices / communities);
    return std::min((1 - mixing) * wanted, inside) + std::min(mixing * wanted, between);
}

struct Room {
    double entries = 0;
    std::string why_less;
};

Room room_for(const std::string& kind, const Params& p, double vertices, double wanted) {
    Room room{std::min(wanted, vertices * (vertices - 1)), fmt::format("{:.0f} vertices have room for", vertices)};
    if (kind != "dcsbm") return room;
    const auto asked =
        static_cast<double>(p.integer("communities") > 0 ? p.integer("communities") : p.integer("classes"));
    const double communities = std::min(asked, vertices), mixing = communities == 1 ? 0 : p.real("mixing");
    const double in_blocks = room_in_blocks(vertices, communities, mixing, wanted);
    if (in_blocks < room.entries * 0.998)
        room = {in_blocks, fmt::format("{:.0f} communities of {:.0f} vertices with mixing {} have room for",
                                       communities, vertices / communities, mixing)};
    return room;
}

}  // namespace

GeneratedSize generated_size(const std::string& kind, const nlohmann::json& given) {
    const Params p =
        resolve_params(generator_params(kind), given, fmt::format("parameters of generator {}", kind));
    GeneratedSize size;
    size.name = generated_name(kind, given);
    size.features = p.integer("features");
    if (kind == "grid") {
        size.vertices = p.integer("width") * p.integer("height");
        size.entries = static_cast<std::int64_t>(lattice_edges(p) * (p.boolean("directed") ? 1 : 2));
    } else {
        const bool scaled = kind == "rmat" && p.integer("scale") > 0;
        size.vertices = scaled ? std::int64_t{1} << p.integer("scale") : p.integer("vertices");
        const auto n = static_cast<double>(size.vertices);
        const double degree = p.real("average_degree"), wanted = n * degree;
        const Room room = room_for(kind, p, n, wanted);
        size.entries = static_cast<std::int64_t>(room.entries);
        if (room.entries < wanted * 0.998)  // generators end within 0.2%
            size.unreachable =
                fmt::format("average_degree {} asks for {:.0f} entries, but {} at most {:.0f}: {:.4g} a vertex",
                            degree, wanted, room.why_less, room.entries, room.entries / n);
    }
    constexpr std::int64_t index_bytes = 4, value_bytes = 4;
    const std::int64_t label_bytes = p.boolean("multi_label") ? p.integer("classes") : 4;
    const std::int64_t arrays = 8 * (size.vertices + 1) + index_bytes * size.entries +
                                value_bytes * size.vertices * size.features +
                                (label_bytes + 1) * size.vertices;  // and masks
    size.store_bytes = arrays;
    // Both ends of the drawn edges, beside the graph that they become.
    size.peak_bytes = arrays + 2 * index_bytes * size.entries;
    return size;
}

}  // namespace gnnbench
