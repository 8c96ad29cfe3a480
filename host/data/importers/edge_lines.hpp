#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace gnnbench {

/// Which columns of an edge list are read.
enum class WeightColumn {
    none,     ///< two columns only
    ignored,  ///< further columns are skipped
    third,    ///< a weight; further columns are skipped
    last,     ///< a weight, the third and last column
};

struct EdgeLineRules {
    WeightColumn weights = WeightColumn::none;
    std::int64_t skip_lines = 0;
    bool keep_lines = false;           ///< the line of each edge
    std::string_view comments = "#%";  ///< what lines begin with that are none
};

/// resize() leaves new elements as they are, so that whoever fills them touches them first.
template <class T>
struct Uninitialised : std::allocator<T> {
    template <class U>
    struct rebind {
        using other = Uninitialised<U>;
    };
    template <class U>
    void construct(U* at) noexcept {
        ::new (static_cast<void*>(at)) U;
    }
    template <class U, class... Args>
    void construct(U* at, Args&&... args) {
        ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
    }
};

using Ids64 = std::vector<std::int64_t, Uninitialised<std::int64_t>>;

/// Edges by the ids of the file.
struct ListedIds {
    Ids64 source, target;
    std::vector<float> weight;       ///< with a column of weights
    std::vector<std::int64_t> line;  ///< with keep_lines
};

/// The lines "u v" or "u v weight" of a file, compressed or not, on all threads; blank lines and comments
/// are none. Throws DataError that names the first line that is something else. Nothing where there are more than
/// `most_edges`, of which little more is held.
std::optional<ListedIds> read_edge_lines(const std::filesystem::path& path, const EdgeLineRules& rules,
                                         std::int64_t most_edges, std::size_t block_bytes);
ListedIds read_edge_lines(const std::filesystem::path& path, const EdgeLineRules& rules);

/// The same block by block, of so many bytes of text, which no line exceeds: take(edges of a block), in the file's order.
void each_edge_block(const std::filesystem::path& path, const EdgeLineRules& rules, std::size_t block_bytes,
                     const std::function<void(ListedIds&)>& take);

}  // namespace gnnbench
