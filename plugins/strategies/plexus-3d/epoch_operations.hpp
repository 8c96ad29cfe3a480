#pragma once
#include "stated_volume.hpp"

namespace gnnbench::plexus {

/// An epoch's operations but for the loss, told to `sum`: what is counted and what is timed have one source.
template <class Told>
void tell_epoch(Told& sum, const Layout& layout, const EpochKind& kind, const std::vector<RowTraffic>& sparse) {
    const auto sparse_input = [&](int l) -> const RowTraffic* {
        if (sparse.empty() || sparse[usize(l)].sent.empty()) return nullptr;
        return &sparse[usize(l)];
    };
    const int last = layout.layers() - 1;
    for (int l = 0; l <= last; ++l) {
        const LayerShape& s = layout.layer(l);
        const auto [o, i, d] = s.roles;
        const bool trains_input = l > 0 || kind.trainable;
        // Forward
        if (l > 0 || !kind.aggregated_input) {
            if (l == 0) sum.all_gather(s.n_o, s.f_i, d);          // F
            sum.all_reduce_blocks(s.n_d, s.f_i, kind.blocks, o);  // H
        }
        sum.all_gather(s.parameters(), 1, d);  // W
        const RowTraffic* next = l < last ? sparse_input(l + 1) : nullptr;
        if (!next) {
            sum.all_reduce(s.n_d * s.g_o, i);  // Q
        } else {
            sum.reduce_scatter(s.n_d, s.g_o, i);                   // Q, to the owners of its rows
            sum.all_to_all(next->sent, next->received, s.g_o, i);  // F of layer l + 1, where it is needed
        }
        // Backward
        sum.reduce_scatter(s.parameters(), 1, d);  // dW
        if (!trains_input) continue;
        sum.all_gather(s.parameters(), 1, d);  // W again
        sum.all_reduce(s.n_d * s.f_i, o);      // dH
        if (l == 0) {
            sum.reduce_scatter(s.n_o, s.f_i, d);  // dF of layer 0
        } else if (const RowTraffic* mine = sparse_input(l)) {
            sum.all_to_all(mine->received, mine->sent, s.f_i, d);  // dF, to the owners of its rows
            sum.all_gather(s.n_o, s.f_i, d);                       // dQ of layer l − 1, from them
        } else {
            sum.all_reduce_blocks(s.n_o, s.f_i, kind.blocks, d);  // dF
        }
    }
}

}  // namespace gnnbench::plexus
