#pragma once
#include <array>
#include <string>
#include <vector>

#include <gnnbench/backend.hpp>

#include "layout.hpp"

namespace gnnbench::plexus {

/// dW = Hᵀ G in the order and with the transposes that are fastest here (section 5.3). With tuning, every way is
/// timed in each of the first `rounds` epochs, layer by layer, and the one with the least time is kept from then
/// on.
///
/// A way is Hᵀ G, or (Gᵀ H)ᵀ, with each operand read transposed by the GEMM or transposed beforehand: NN, NT, TN,
/// TT.
class TunedProduct {
public:
    static constexpr int ways = 8, rounds = 2;

    TunedProduct(const Layout& layout, bool tune, Backend& backend);
    /// dw [f_i × g_o] ← hᵀ g of layer l; h [n_d × f_i], g [n_d × g_o], all contiguous.
    void multiply(int l, MatrixView h, MatrixView g, MatrixView dw);
    /// The choices so far: "dW products: layer 0 TN, layer 1 TN reversed".
    std::string notes() const;

private:
    struct Layer {
        std::array<double, ways> least_s{};
        int tried = 0, chosen = 0;
    };
    void run(int way, MatrixView h, MatrixView g, MatrixView dw);
    double timed(int way, MatrixView h, MatrixView g, MatrixView dw);
    /// Frees what the chosen ways do not need.
    void settle();

    Backend& backend_;
    bool tune_;
    std::vector<Layer> layers_;
    Matrix h_transposed_, g_transposed_, reversed_;  ///< as large as the largest layer's
};

}  // namespace gnnbench::plexus
