#pragma once
#include <map>
#include <utility>
#include <vector>

#include <gnnbench/communicator.hpp>
#include <gnnbench/backend.hpp>
#include <gnnbench/training/adjacency.hpp>

#include "layout.hpp"
#include "stated_volume.hpp"

/// [Sec 8.1] The sparsity-aware all-reduce, proposed in the thesis as future work. Instead of all-reducing Q of
/// layer l − 1 along its i (the d of layer l), its rows are reduced to owners, even blocks of them; owners apply
/// σ; and each rank is sent the rows of F that its shard of A has nonzero columns for. Backward, the same rows of
/// dF are sent back.
namespace gnnbench::plexus {

/// Which rows of layer l's F [n_o × f_i] this rank owns, needs and gives; by coordinate along d.
///
///   compact F  the rows this rank holds: of each owner's block in turn those that it needs, ascending; of its
///              own block, all
struct SparseRows {
    SparseRows(const Adjacency& a, const VertexBlocks& vertices, const Layout& layout, int l);

    std::vector<std::int64_t> segment;  ///< where each owner's rows begin in the compact F; length ranks + 1
    std::vector<std::int32_t> compact;  ///< length n_o: place of a row in the compact F, −1 if not there
    std::vector<std::vector<std::int32_t>> given;  ///< to each rank: rows it needs, counted from the first own one
    std::int64_t own_begin = 0, own_count = 0;     ///< the own block within the n_o rows
    int own = 0;                                   ///< coordinate along d

    std::int64_t rows() const { return segment.back(); }
    RowTraffic traffic() const;
};

/// SparseRows of every layer's input that comes from a line of more than one rank; none if all is dense.
class SparsePlan {
public:
    SparsePlan() = default;
    SparsePlan(const Adjacency& a, const VertexBlocks& vertices, const Layout& layout);
    /// nullptr: layer l's input is dense.
    const SparseRows* input(int l) const;
    /// For epoch_volume.
    std::vector<RowTraffic> traffic(int layers) const;

private:
    std::map<int, SparseRows> rows_;  ///< by shard: layers l and l + 3 (or l + 6) share one
    std::vector<int> of_layer_;       ///< −1: dense
};

/// Moves the rows of one SparseRows.
class RowExchange {
public:
    RowExchange(const SparseRows& rows, std::int64_t widest, Backend& backend);
    /// compact f [rows × w]: own segment given, the others ← their owners'.
    void gather(MatrixView f, Communicator& line);
    /// compact df [rows × w]: own segment += what the others hold of those rows.
    void reduce(MatrixView df, Communicator& line);
    /// The own segment of a compact matrix.
    MatrixView own(MatrixView compact) const { return segment_of(compact, own_); }

private:
    MatrixView segment_of(MatrixView compact, std::size_t j) const {
        return compact.rows_from(segment_[j], segment_[j + 1] - segment_[j]);
    }
    MatrixView part(std::size_t j, std::int64_t width) const {
        return packed_.view().reshaped(start_.back(), width).rows_from(start_[j], start_[j + 1] - start_[j]);
    }
    std::vector<RowMessage> segments(MatrixView compact) const;
    std::vector<RowMessage> parts(std::int64_t width) const;

    Backend& backend_;
    std::size_t own_;
    std::vector<std::int64_t> segment_, start_;  ///< of the compact F; of each rank's rows among the given ones
    Array<std::int32_t> given_;
    Matrix packed_;  ///< [given rows × widest]
};

}  // namespace gnnbench::plexus
