#include <data/external_graph.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/external_sort.hpp>
#include <data/row_files.hpp>

namespace gnnbench {

namespace {

/// An entry as it is sorted, without a weight, with one, and with what the error of a repeat says.
struct Entry {
    std::int32_t row, col;
};
struct WeightedEntry {
    std::int32_t row, col;
    float weight;
};
struct ListedEntry {
    std::int32_t row, col;
    float weight;
    std::int32_t mirrored;  ///< 1: listed from row to col
    std::int64_t line;
};

float weight_of(const Entry&) { return 1; }
float weight_of(const auto& entry) { return entry.weight; }

ListedEdge listed(const ListedEntry& e) {
    return e.mirrored ? ListedEdge{e.row, e.col, e.line} : ListedEdge{e.col, e.row, e.line};
}
ListedEdge listed(const auto&) { return {}; }

template <class Record>
class SortedGraph final : public ExternalGraph {
public:
    SortedGraph(std::string file, EdgePolicy policy, bool weighted, const MemoryBudget& room, std::uint64_t bytes)
        : ExternalGraph(std::move(file), policy, room, bytes),
          weighted_(weighted || policy.repeats == Repeats::sum),
          sort_(room.folder, SortSizes::within(bytes, sizeof(Record))) {}

    void add(std::int32_t u, std::int32_t v, float weight, std::int64_t line) override {
        ++facts_.listed_edges;
        const bool loop = u == v;
        if (loop && policy_.loops == Loops::drop) {
            ++facts_.loops_dropped;
            return;
        }
        enter(v, u, weight, 0, line);
        if (policy_.listing == Listing::undirected && !loop) enter(u, v, weight, 1, line);
    }

    GraphFacts write(const std::filesystem::path& folder, const std::string& where) override {
        if (policy_.listing == Listing::undirected) {
            merge_rows(folder, where, room_.memory_bytes / 2, [](std::int32_t, std::int32_t, float) {});
            facts_.symmetry = {true, true};
        } else if (weighted_) {
            write_both<WeightedEntry>(folder, where);
        } else {
            write_both<Entry>(folder, where);
        }
        facts_.weighted = weighted_ && facts_.edges > 0;
        return facts_;
    }

private:
    std::uint64_t record_bytes() const override { return sizeof(Record); }

    void enter(std::int32_t row, std::int32_t col, float weight, std::int32_t mirrored, std::int64_t line) {
        ++added_;
        if constexpr (requires(Record r) { r.line; })
            sort_.add({row, col, weight, mirrored, line});
        else if constexpr (requires(Record r) { r.weight; })
            sort_.add({row, col, weight});
        else
            sort_.add({row, col});
    }

    /// Merges what is sorted, repeats as the policy says, into the rows' files, and calls also(row, col, weight) for each
    /// entry.
    template <class Also>
    void merge_rows(const std::filesystem::path& folder, const std::string& where, std::uint64_t bytes,
                    Also also) {
        RowFiles rows(folder, row_file_names, vertices_, weighted_);
        Record entry{};
        float weight = 0;
        bool any = false;
        std::int64_t merged_twice = 0;
        const auto leave = [&] {
            if (!any) return;
            if (!std::isfinite(weight))
                throw DataError(fmt::format("{}: the weight of entry {} is {}; weights must be finite", where,
                                            rows.entries(), weight));
            rows.add(entry.row, entry.col, weight);
            also(entry.row, entry.col, weight);
            facts_.self_loops += entry.row == entry.col;
        };
        sort_.merge(SortSizes::within(bytes, sizeof(Record)), [&](const Record& next) {
            if (any && next.row == entry.row && next.col == entry.col) {
                if (policy_.repeats == Repeats::error) refuse_repeat(file_, listed(entry), listed(next));
                if (policy_.repeats == Repeats::sum) weight += weight_of(next);
                // An undirected edge's repeat shows in two rows, a loop's in one.
                merged_twice += policy_.listing == Listing::undirected && next.row != next.col ? 1 : 2;
                return;
            }
            leave();
            entry = next;
            weight = weight_of(next);
            any = true;
        });
        leave();
        rows.close();
        facts_.edges = rows.entries();
        facts_.repeats_merged = merged_twice / 2;
    }

    /// The transpose is sorted while the rows are written; the memory is divided between both.
    template <class Other>
    void write_both(const std::filesystem::path& folder, const std::string& where) {
        const std::uint64_t bytes = room_.memory_bytes / 2;
        ExternalSort<Other> transpose(room_.folder, SortSizes::within(bytes, sizeof(Other)));
        merge_rows(folder, where, room_.memory_bytes / 4, [&](std::int32_t row, std::int32_t col, float weight) {
            if constexpr (requires(Other o) { o.weight; })
                transpose.add({col, row, weight});
            else
                transpose.add({col, row});
        });
        sort_ =
            ExternalSort<Record>(room_.folder, {.run_records = 1, .block_records = 1});  // its files are free now
        RowFiles columns(folder, column_file_names, vertices_, weighted_);
        transpose.merge(SortSizes::within(bytes, sizeof(Other)),
                        [&](const Other& e) { columns.add(e.row, e.col, weight_of(e)); });
        columns.close();
        facts_.symmetry = compare_row_files(folder, weighted_ && facts_.edges > 0);
        if (facts_.symmetry.weights) RowFiles::remove(folder, column_file_names);
    }

    bool weighted_;
    ExternalSort<Record> sort_;
};

}  // namespace

std::unique_ptr<ExternalGraph> ExternalGraph::make(std::string file, EdgePolicy policy, bool weighted, bool lines,
                                                   const MemoryBudget& room, std::uint64_t bytes) {
    room.say(fmt::format("its edges need more than {} of memory; sorting them on disk",
                         memory_text(room.memory_bytes)));
    if (lines || policy.repeats == Repeats::error)
        return std::make_unique<SortedGraph<ListedEntry>>(std::move(file), policy, weighted, room, bytes);
    if (weighted)
        return std::make_unique<SortedGraph<WeightedEntry>>(std::move(file), policy, weighted, room, bytes);
    return std::make_unique<SortedGraph<Entry>>(std::move(file), policy, weighted, room, bytes);
}

void ExternalGraph::end(std::int64_t vertices, std::int64_t feature_count) {
    vertices_ = vertices;
    const HeldSize rows{.vertices = vertices, .feature_count = feature_count};
    // Its edges could touch two vertices each. Vertices beyond that exist because a number says so.
    if (vertices / 2 > added_)
        room_.require(rows.bytes(),
                      fmt::format("{}: holding the rows of the graph ({} vertices, of which its edges touch {} at "
                                  "most)",
                                  file_, vertices, 2 * added_));
    const bool directed = policy_.listing == Listing::directed;
    const auto n = static_cast<std::uint64_t>(vertices), m = static_cast<std::uint64_t>(added_);
    const std::uint64_t entry = record_bytes() > sizeof(Entry) || policy_.repeats == Repeats::sum ? 8 : 4;
    // Arrays of the rows, and of the columns while they are sorted too; what merging in several passes takes.
    room_.require_disk(
        n * (static_cast<std::uint64_t>(feature_count) * sizeof(float) + 13 + (directed ? 8 : 0)) +
            m * (entry * (directed ? 2 : 1) + std::max<std::uint64_t>(record_bytes(), directed ? 12 : 0)),
        fmt::format("{}: its store and what sorting leaves there for a time", file_));
}

EdgeCollector::EdgeCollector(std::string file, EdgePolicy policy, const MemoryBudget& room,
                             std::uint64_t held_bytes)
    : policy_(policy), room_(room), held_bytes_(held_bytes) {
    edges_.file = std::move(file);
    expect(false, false);
}

void EdgeCollector::expect(bool weighted, bool lines) {
    weighted_ = weighted;
    lines_ = lines;
    most_held_ = room_.most_edges(built_edge_bytes(policy_, weighted, lines) + held_bytes_);
}

void EdgeCollector::reserve(std::uint64_t bytes, const std::string& what) {
    // Half of the memory is for sorting and what is read.
    room_.require(2 * bytes, what + ", together with its edges,");
    reserved_ = bytes;
}

void EdgeCollector::go_outside() {
    outside_ = ExternalGraph::make(edges_.file, policy_, weighted_, lines_, room_, room_.memory_bytes / 4);
    const EdgeList collected = std::exchange(edges_, EdgeList{});
    edges_.file = collected.file;
    for (std::size_t e = 0; e < collected.source.size(); ++e)
        outside_->add(collected.source[e], collected.target[e], weighted_ ? collected.weight[e] : 1.0f,
                      lines_ ? collected.line[e] : 0);
}

bool EdgeCollector::holds(std::int64_t vertices, std::int64_t edges, std::int64_t feature_count) const {
    const HeldSize held{.edges = edges,
                        .vertices = vertices,
                        .edge_bytes = built_edge_bytes(policy_, weighted_, lines_) + held_bytes_,
                        .feature_count = feature_count};
    return held.bytes() <= room_.memory_bytes - std::min(reserved_, room_.memory_bytes);
}

void EdgeCollector::expect_size(std::int64_t vertices, std::int64_t edges, std::int64_t feature_count) {
    if (!outside_ && !holds(vertices, edges, feature_count)) go_outside();
}

void EdgeCollector::finish(RawDataset& data, std::int64_t vertices, std::int64_t feature_count) {
    if (!outside_ && !holds(vertices, edges_.edges(), feature_count)) go_outside();
    if (!outside_) {
        edges_.vertices = vertices;
        data.graph = build_graph(std::move(edges_), policy_);
        return;
    }
    outside_->end(vertices, feature_count);
    data.outside = std::make_shared<OutsideParts>();
    data.outside->graph = std::move(outside_);
}

std::uint64_t built_edge_bytes(EdgePolicy policy, bool weighted, bool lines) {
    const std::uint64_t ways = policy.listing == Listing::undirected ? 2 : 1;
    const std::uint64_t listed = 8 + (weighted ? 4 : 0) + (lines ? 8 : 0);
    if (!weighted && policy.repeats == Repeats::drop) return listed + 4 * ways;
    return listed + (8 + 8) * ways;
}

void set_listed_edges(RawDataset& data, std::int64_t edges) {
    if (data.outside)
        data.outside->graph->set_listed_edges(edges);
    else
        data.graph.listed_edges = edges;
}

std::int64_t vertices_of(const RawDataset& data) {
    return data.outside ? data.outside->graph->vertices() : data.graph.vertices();
}

}  // namespace gnnbench
