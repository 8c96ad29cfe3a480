#include "tuned_product.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

namespace gnnbench::plexus {
namespace {

// The bits of a way. 0 is Hᵀ G as Algorithm 1 writes it.
constexpr int reversed = 1, h_copied = 2, g_copied = 4;

/// "TN": how the GEMM reads its two operands; N where a copy is already transposed.
std::string name(int way) {
    const bool h_read_transposed = (way & h_copied) == 0, g_copy = (way & g_copied) != 0;
    const auto letter = [](bool transposed) { return transposed ? 'T' : 'N'; };
    if (way & reversed) return fmt::format("{}{} reversed", letter(!g_copy), letter(!h_read_transposed));
    return fmt::format("{}{}", letter(h_read_transposed), letter(g_copy));
}

/// to ← fromᵀ, along the narrower side: a line of `from` at a time.
void transpose(Backend& backend, MatrixView from, MatrixView to) {
    const auto column = [](MatrixView m, std::int64_t c) { return m.cols_from(c, 1); };
    const auto row = [](MatrixView m, std::int64_t r) {  // as a column
        MatrixView line = m.rows_from(r, 1);
        return MatrixView{line.data, line.cols, 1, 1, line.dtype};
    };
    if (from.cols <= from.rows)
        for (std::int64_t c = 0; c < from.cols; ++c) backend.copy(column(from, c), row(to, c));
    else
        for (std::int64_t r = 0; r < from.rows; ++r) backend.copy(row(from, r), column(to, r));
}

}  // namespace

TunedProduct::TunedProduct(const Layout& layout, bool tune, Backend& backend)
    : backend_(backend), tune_(tune), layers_(usize(layout.layers())) {
    if (!tune) return;
    std::int64_t h = 0, g = 0, w = 0;
    for (int l = 0; l < layout.layers(); ++l) {
        const LayerShape& s = layout.layer(l);
        h = std::max(h, s.n_d * s.f_i);
        g = std::max(g, s.n_d * s.g_o);
        w = std::max(w, s.f_i * s.g_o);
    }
    h_transposed_ = backend.matrix(h, 1);
    g_transposed_ = backend.matrix(g, 1);
    reversed_ = backend.matrix(w, 1);
}

void TunedProduct::run(int way, MatrixView h, MatrixView g, MatrixView dw) {
    // Each operand as the GEMM reads it in Hᵀ G; in Gᵀ H the other way round.
    MatrixView left = h, right = g;
    if (way & h_copied) {
        left = h_transposed_.view().reshaped(h.cols, h.rows);
        transpose(backend_, h, left);
    }
    if (way & g_copied) {
        right = g_transposed_.view().reshaped(g.cols, g.rows);
        transpose(backend_, g, right);
    }
    const auto read = [](bool as_is) { return as_is ? Transpose::no : Transpose::yes; };
    if (!(way & reversed)) {
        backend_.gemm(read(way & h_copied), left, read(!(way & g_copied)), right, dw);
        return;
    }
    const MatrixView t = reversed_.view().reshaped(dw.cols, dw.rows);
    backend_.gemm(read(way & g_copied), right, read(!(way & h_copied)), left, t);
    transpose(backend_, t, dw);
}

double TunedProduct::timed(int way, MatrixView h, MatrixView g, MatrixView dw) {
    backend_.synchronize(StreamRole::compute);
    const double begin_s = backend_.trace().now_s();
    run(way, h, g, dw);
    backend_.synchronize(StreamRole::compute);
    return backend_.trace().now_s() - begin_s;
}

void TunedProduct::multiply(int l, MatrixView h, MatrixView g, MatrixView dw) {
    Layer& layer = layers_[usize(l)];
    if (!tune_ || layer.tried == rounds) return run(layer.chosen, h, g, dw);
    for (int way = 0; way < ways; ++way) {
        const double s = timed(way, h, g, dw);
        double& least = layer.least_s[usize(way)];
        least = layer.tried == 0 ? s : std::min(least, s);
    }
    ++layer.tried;
    layer.chosen =
        static_cast<int>(std::min_element(layer.least_s.begin(), layer.least_s.end()) - layer.least_s.begin());
    if (std::all_of(layers_.begin(), layers_.end(), [](const Layer& each) { return each.tried == rounds; }))
        settle();
}

void TunedProduct::settle() {
    const auto free_unless = [&](int bit, Matrix& m) {
        const bool used = std::any_of(layers_.begin(), layers_.end(),
                                      [&](const Layer& each) { return (each.chosen & bit) != 0; });
        if (!used) m = Matrix();
    };
    free_unless(h_copied, h_transposed_);
    free_unless(g_copied, g_transposed_);
    free_unless(reversed, reversed_);
}

std::string TunedProduct::notes() const {
    if (!tune_) return {};
    std::string text;
    for (std::size_t l = 0; l < layers_.size(); ++l)
        text += fmt::format("{} layer {} {}", text.empty() ? "" : ",", l,
                            layers_[l].tried == rounds ? name(layers_[l].chosen) : "not tuned yet");
    return "dW products:" + text;
}

}  // namespace gnnbench::plexus
