// A set of the Open Graph Benchmark (Hu et al., NeurIPS 2020) for node classification as it is downloaded: NAME/raw
// holds the graph, as CSV or as data.npz, and NAME/split/SCHEME/{train,valid,test}.csv.gz the vertices of each mask.
// Every scheme becomes a split, in alphabetical order. Some sets list each undirected edge once; see listing_by_edges.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/importers/csv.hpp>
#include <data/importers/formats.hpp>
#include <data/importers/ogb_raw.hpp>
#include <data/importers/split_lists.hpp>
#include <data/options.hpp>

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

constexpr auto ogb_params = joined(std::array<ParamDecl, 5>{{
                                       {"directed", ParamType::choice, "auto", 0, 0, "auto|true|false",
                                        "an edge u v lets v aggregate from u; if false, u also from v; auto: as "
                                        "the set's files or its edges say, "
                                        "else it must be given"},
                                       loops_param,
                                       repeats_param,
                                       reverse_param,
                                       {"weights", ParamType::choice, "ignore", 0, 0, "ignore|edge-feat",
                                        "edge-feat takes the edges' feature, if there is exactly one, as weight"},
                                   }},
                                   fill_params);

/// raw/ and split/ of a set.
struct OgbFolder {
    fs::path root, raw;
};

bool is_raw_folder(const fs::path& folder) {
    return is_there(folder / "data.npz") || !ogb_csv(folder, "num-node-list").empty() ||
           is_there(folder / "triplet-type-list.csv.gz") || is_there(folder / "edge_index_dict.npz");
}

/// Finds a set from its folder or from its raw folder; empty paths if `path` is neither.
OgbFolder locate(const fs::path& path) {
    if (is_raw_folder(path / "raw")) return {path, path / "raw"};
    if (!is_raw_folder(path)) return {};
    const auto folder = path.filename().empty() ? path.parent_path() : path;  // of "arxiv/raw/"
    return {folder.filename() == "raw" ? folder.parent_path() : folder, path};
}

OgbFolder require_ogb(const fs::path& path) {
    auto folder = locate(path);
    if (folder.raw.empty())
        throw DataError(
            fmt::format("{}: OGB's format needs raw/num-node-list.csv.gz, raw/edge.csv.gz …, or "
                        "raw/data.npz; there is neither",
                        path.string()));
    if (is_there(folder.raw / "triplet-type-list.csv.gz") || is_there(folder.raw / "edge_index_dict.npz"))
        throw DataError(
            fmt::format("{}: it has vertices and edges of several types, of which no graph with one "
                        "adjacency is made; import a set of one type",
                        folder.raw.string()));
    return folder;
}

constexpr std::array mask_files{std::pair{"train", Split::train}, std::pair{"valid", Split::validation},
                                std::pair{"test", Split::test}};

/// The folders of split/, in alphabetical order.
std::vector<fs::path> split_folders(const fs::path& root) {
    std::vector<fs::path> folders;
    std::error_code none;
    for (const auto& item : fs::directory_iterator(root / "split", none))
        if (fs::is_directory(item.path(), none)) folders.push_back(item.path());
    std::ranges::sort(folders);
    return folders;
}

fs::path mask_file(const fs::path& folder, const char* name) {
    auto file = ogb_csv(folder, name);
    if (file.empty())
        throw DataError(fmt::format("{}: a split needs {}.csv.gz, and there is none{}", folder.string(), name,
                                    is_there(folder / "split_dict.pt")
                                        ? "; split_dict.pt is PyTorch's and is not read: write its three lists as "
                                          "CSV, a vertex a line"
                                        : ""));
    return file;
}

void read_split(const fs::path& folder, std::span<Split> masks) {
    std::vector<std::string_view> fields;
    for (auto [name, mask] : mask_files) {
        CsvReader rows(mask_file(folder, name), 1);
        while (rows.next(fields)) {
            const auto vertex = parse_integer(fields[0], 0, std::ssize(masks) - 1, rows.at(), "a vertex");
            const auto problem = put_in_mask(masks, vertex, mask);
            if (!problem.empty()) throw DataError(fmt::format("{}: {}", rows.at().where(), problem));
        }
        if (mask == Split::train && rows.rows() == 0)
            throw DataError(fmt::format("{}: it lists no vertex, at least one is needed", rows.at().path()));
    }
}

void take_splits(RawDataset& data, const fs::path& root, std::int64_t n) {
    const auto folders = split_folders(root);
    if (folders.empty()) return;
    make_masks(data, std::ssize(folders), n, (root / "split").string());
    for (std::size_t i = 0; i < folders.size(); ++i)
        read_split(folders[i], std::span(data.masks).subspan(i * usize(n), usize(n)));
}

/// The sets whose edges OGB's own table of sets says are listed once, by the split that only they have.
struct ListedOnce {
    const char *split, *set;
};
constexpr std::array listed_once{ListedOnce{"sales_ranking", "products"}, ListedOnce{"species", "proteins"}};

const char* published_set_listed_once(const fs::path& root) {
    const auto splits = split_folders(root);
    if (splits.size() != 1) return nullptr;
    for (const auto& [split, set] : listed_once)
        if (splits.front().filename() == split) return set;
    return nullptr;
}

/// How edges are taken, and why, in words.
struct ListingChoice {
    Listing listing;
    std::string why;
};

/// A list that has each pair in one direction is a directed graph, or an undirected one listed once: then only what OGB
/// says of a published set tells, and its folder may have any name.
ListingChoice listing_by_edges(Ways ways, const OgbFolder& folder) {
    switch (ways) {
        case Ways::none:
            return {Listing::directed, "as listed: there are none between two vertices"};
        case Ways::both:
            return {Listing::directed, "as listed: each is there in both directions"};
        case Ways::mixed:
            return {Listing::directed, "as listed: some are there in both directions, others in one"};
        case Ways::once:
            break;
    }
    if (const char* set = published_set_listed_once(folder.root))
        return {
            Listing::undirected,
            fmt::format(
                "both ways: each is listed in one direction, as OGB lists those of {}, whose split this is", set)};
    throw DataError(
        fmt::format("{}: each edge is listed in one direction, and nothing says whether they are directed; set "
                    "`directed: true` "
                    "if they are, `directed: false` if each stands for both directions",
                    folder.raw.string()));
}

std::vector<fs::path> ogb_inputs(const fs::path& path) {
    const auto folder = require_ogb(path);
    std::vector<fs::path> files;
    for (auto name : {"num-node-list", "num-edge-list", "edge", "edge-feat", "node-feat", "node-label"})
        if (auto file = ogb_csv(folder.raw, name); !file.empty()) files.push_back(file);
    for (auto name : {"data.npz", "node-label.npz"})
        if (is_there(folder.raw / name)) files.push_back(folder.raw / name);
    for (const auto& split : split_folders(folder.root))
        for (auto [name, mask] : mask_files) files.push_back(mask_file(split, name));
    return files;
}

RawDataset read_ogb(const fs::path& path, const Params& p, const MemoryBudget& room) {
    const auto folder = require_ogb(path);
    const auto& directed = p.choice("directed");
    OgbEdges wanted{.weighted = p.choice("weights") == "edge-feat",
                    .reverse = p.boolean("reverse"),
                    .policy = {directed == "false" ? Listing::undirected : Listing::directed, loops_policy(p),
                               repeats_policy(p)},
                    .drawn_features = p.integer("features")};
    RawDataset data;
    data.name = input_name(folder.root);
    const auto take = [&](const ListingChoice& choice) {
        data.options["edges"] = choice.why;
        room.say(fmt::format("its edges are taken {}", choice.why));
        return choice.listing;
    };
    if (directed == "auto") {
        if (const auto inverse = stated_inverse(folder.raw))
            wanted.policy.listing = *inverse ? take({Listing::undirected, "both ways, as data.npz states"})
                                             : take({Listing::directed, "as listed, as data.npz states"});
        else
            wanted.listing = [&](Ways ways) { return take(listing_by_edges(ways, folder)); };
    }
    const std::int64_t n = is_there(folder.raw / "data.npz") ? read_ogb_npz(folder.raw, wanted, data)
                                                             : read_ogb_csv(folder.raw, wanted, room, data);
    take_splits(data, folder.root, n);
    return data;
}

}  // namespace

const ImportFormat ogb_format{
    "ogb",
    "Open Graph Benchmark, node classification: the set's folder with raw/ (CSV or data.npz) and split/",
    ogb_params,
    [](const fs::path& path) { return !locate(path).raw.empty(); },
    read_ogb,
    ogb_inputs,
    "2"};  // 1 decided by the folder's name how edges are listed

}  // namespace gnnbench
