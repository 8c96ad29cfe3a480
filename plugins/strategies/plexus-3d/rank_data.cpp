#include "rank_data.hpp"

#include <gnnbench/usize.hpp>

namespace gnnbench::plexus {
namespace {

HeldVertices rows_of(const VertexBlocks& vertices, const Layout& layout, int l, const Backend& backend) {
    return {vertices.rows(l), layout.at(layout.layer(l).roles.d), 1, backend};
}

/// The last layer's Q is cut along o.
ClassRange held_classes(const Problem& problem, const Layout& layout) {
    const Axis o = layout.layer(layout.layers() - 1).roles.o;
    return {block_begin(problem.dataset.classes, layout.extent(o), layout.at(o)),
            block_size(problem.dataset.classes, layout.extent(o), layout.at(o))};
}

}  // namespace

std::vector<HeldFeatures> held_features(const Problem& problem, const VertexBlocks& vertices,
                                        const Layout& layout) {
    std::vector<HeldFeatures> all;
    for (int k = 0; k < layout.grid().ranks(); ++k) {
        const Layout of_rank(layout.grid(), problem.model, problem.index.vertices(), k);
        const LayerShape& s = of_rank.layer(0);
        const auto [o, i, d] = s.roles;
        all.push_back({.first = vertices.columns(0).offset(of_rank.at(o)) +
                                block_begin(s.n_o, of_rank.extent(d), of_rank.at(d)),
                       .rows = block_size(s.n_o, of_rank.extent(d), of_rank.at(d)),
                       .first_column = s.first_f,
                       .columns = s.f_i});
    }
    return all;
}

RankData::RankData(const Problem& problem, const VertexBlocks& vertices, const Layout& layout,
                   const SharedReader* together, Backend& backend)
    : outputs(problem, rows_of(vertices, layout, layout.layers() - 1, backend), backend,
              held_classes(problem, layout)) {
    const LayerShape& bottom = layout.layer(0);
    const auto [o, i, d] = bottom.roles;
    const auto begin = block_begin(bottom.n_o, layout.extent(d), layout.at(d));
    const auto count = block_size(bottom.n_o, layout.extent(d), layout.at(d));
    const HeldVertices mine = HeldVertices(vertices.columns(0), layout.at(o), 1, backend).run(begin, count);
    features =
        together ? together->read_features(vertices.columns(0), held_features(problem, vertices, layout), backend)
                 : load_features(problem, mine, bottom.first_f, bottom.f_i, backend);
    if (problem.train.input_dropout > 0)
        feature_ids =
            load_ids(problem.model.aggregate_input ? rows_of(vertices, layout, 0, backend) : mine, backend);
    for (int l = 0; l + 1 < layout.layers(); ++l)
        output_ids.push_back(problem.train.dropout > 0 ? load_ids(rows_of(vertices, layout, l, backend), backend)
                                                       : Array<std::int64_t>());
}

}  // namespace gnnbench::plexus
