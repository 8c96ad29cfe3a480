#include <gnnbench/training/grid_trainer.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/training/problem.hpp>
#include <gnnbench/training/sharded_loss.hpp>
#include <gnnbench/training/vertex_data.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// Columns of layer l's own buffers on this rank, but for the products'.
LayerBuffers grid_layer_buffers(const GridLayout& at, const ModelSpec& model, Buffers buffers, int l) {
    const std::int64_t f = at.columns(model.widths[usize(l)]), g = at.columns(model.widths[usize(l) + 1]);
    if (buffers == Buffers::separate) return {.output = g, .gradient = g};
    // Layer l ≥ 1 also holds dH, of its input's width, between its backward and the layer's below.
    return {.output = l == 0 ? g : std::max(f, g)};
}

/// Columns of the buffers of T and U.
std::vector<std::int64_t> product_columns(const GridLayout& at, const ModelSpec& model, Buffers buffers) {
    return layer_columns(model, buffers, [&](std::int64_t width) { return at.product_columns(width); });
}

class GridTrainer final : public CollectiveTrainer {
public:
    GridTrainer(const Problem& problem, Rank rank, GridShape shape, ProductCut cut, Buffers buffers,
                const MakeGridProducts& make_products)
        : problem_(problem),
          model_(problem.model),
          backend_(rank.backend),
          grid_(rank.world, shape),
          layout_{problem.index, shape, grid_.place(), cut},
          parameters_(model_, problem.train, *first_weights_of(problem), backend_),
          products_(make_products(adjacency_of(problem), {backend_, grid_, layout_})),
          vertices_(problem, held(), backend_,
                    {layout_.first_column(width(model_.layers())), columns(model_.layers())}),
          input_(load_features(problem, held(), layout_.first_column(width(0)), columns(0), backend_)),
          loss_(backend_, grid_.along(Axis::y), grid_.world(), layout_.rows(), width(model_.layers()),
                problem.dataset.multi_label()) {
        for (int l = 0; l <= last(); ++l) {
            const LayerBuffers of_layer = grid_layer_buffers(layout_, model_, buffers, l);
            outputs_.push_back(backend_.matrix(layout_.rows(), of_layer.output));
            if (buffers == Buffers::separate)
                gradients_.push_back(backend_.matrix(layout_.rows(), of_layer.gradient));
        }
        product_ = {backend_, layout_.product_rows(), product_columns(layout_, model_, buffers)};
        if (problem.train.input_dropout > 0) dropped_input_ = backend_.matrix(layout_.rows(), columns(0));
    }

    Step train_step(std::int64_t epoch, std::int64_t) override {
        forward(Pass::training, epoch);
        loss_.start(output(last()), vertices_.loss_input(), gradient(last()));
        for (int l = last(); l >= 0; --l) backward_layer(l, epoch);
        parameters_.step();
        return {.loss = loss_.value(), .samples = vertices_.samples};
    }

    Score evaluate() override { return loss_.score(forward(Pass::evaluation, 0), vertices_.loss_input()); }
    ModelWeights weights() override { return parameters_.weights(); }
    ModelWeights gradients() override { return parameters_.gradients(); }
    Moments moments() override { return parameters_.moments(); }
    OwnedRows embeddings() override {
        const Matrix rows = loss_.whole_rows(forward(Pass::evaluation, 0));
        // Ranks of a grid row hold the same vertices; the first one represents them.
        if (grid_.at(Axis::y) != 0) return {{}, HostMatrix(0, rows.cols())};
        const auto owned = layout_.owned();
        return {owned, backend_.download(rows)};
    }
    std::string notes() const override {
        return fmt::format("grid: {}; {}", layout_.shape.text(), products_->notes());
    }

private:
    enum class Pass { training, evaluation };

    HeldVertices held() const {
        const PartRange parts = layout_.row_parts();
        return {problem_.index, parts.first, parts.count, backend_};
    }
    std::int64_t width(int l) const { return model_.widths[usize(l)]; }
    /// This rank's columns of a matrix as wide as layer l's input.
    std::int64_t columns(int l) const { return layout_.columns(width(l)); }
    int last() const { return model_.layers() - 1; }
    /// Layer l's output buffer read as [rows × count].
    MatrixView output(int l, std::int64_t count) const {
        return outputs_[usize(l)].view().reshaped(layout_.rows(), count);
    }
    MatrixView output(int l) const { return output(l, columns(l + 1)); }
    /// G of layer l, and dH of layer l's input: in buffers of gradients, or each in its layer's output.
    MatrixView gradient(int l) const { return gradients_.empty() ? output(l) : gradients_[usize(l)].view(); }
    MatrixView input_gradient(int l) const {
        return gradients_.empty() ? output(l, columns(l)) : gradients_[usize(l) - 1].view();
    }
    /// T or U of the layer at hand, as wide as layer l's input.
    MatrixView product(int l) const {
        return product_.view(layout_.product_rows(), layout_.product_columns(width(l)));
    }
    void begin_layer(int l) {
        product_.begin_layer(l);
        products_->begin_layer(l);
    }

    /// Masks are drawn at columns of the whole matrix.
    Epilogue dropout(int layer, Pass pass, std::int64_t epoch) const {
        if (pass == Pass::evaluation || layer > last()) return {};
        DropoutMask mask = input_mask(model_, problem_.train, layer, epoch);
        mask.first_column = static_cast<std::uint32_t>(layout_.first_column(width(layer)));
        return {.dropout = mask, .row_ids = vertices_.ids.data()};
    }

    /// The epilogue of layer l's product: bias, σ except after the last layer, and the next layer's dropout.
    Epilogue epilogue(int l, Pass pass, std::int64_t epoch) const {
        Epilogue e = dropout(l + 1, pass, epoch);
        if (model_.bias) e.bias = bias_block(parameters_.values(l).bias).data;
        if (l < last()) e.activation = model_.activation;
        return e;
    }

    /// This rank's columns of a [1 × g] row.
    MatrixView bias_block(MatrixView row) const {
        return row.cols_from(layout_.first_column(row.cols), layout_.columns(row.cols));
    }

    MatrixView input(int l, Pass pass) const {
        if (l > 0) return output(l - 1);
        return pass == Pass::training && problem_.train.input_dropout > 0 ? dropped_input_.view() : input_.view();
    }

    ConstMatrixView forward(Pass pass, std::int64_t epoch) {
        if (const Epilogue e = dropout(0, pass, epoch); e.dropout.active())
            backend_.dropout(e, input_, dropped_input_);
        for (int l = 0; l <= last(); ++l) {
            begin_layer(l);
            const MatrixView t = product(l);
            products_->aggregate(Direction::forward, input(l, pass), t);  // T = Â H
            products_->transform(t, parameters_.values(l).weight, output(l),
                                 epilogue(l, pass, epoch));  // H' = σ(T W + b)
        }
        return output(last());
    }

    /// From G of layer l: its gradients, and G of the layer below.
    void backward_layer(int l, std::int64_t epoch) {
        if (model_.bias) bias_gradient(l);
        begin_layer(l);
        const MatrixView u = product(l + 1);
        const std::optional<MatrixView> dh = l > 0 ? std::optional(input_gradient(l)) : std::nullopt;
        products_->aggregate(Direction::backward, gradient(l), u);  // U = Âᵀ G
        // dW = Hᵀ U, dH = U Wᵀ
        products_->backward(input(l, Pass::training), u, parameters_.values(l).weight,
                            parameters_.gradients(l).weight, dh);
        if (dh)  // G = dH ∘ σ'(Z)
            backend_.apply_backward(epilogue(l - 1, Pass::training, epoch), output(l - 1), *dh, gradient(l - 1));
    }

    void bias_gradient(int l) {
        const MatrixView db = parameters_.gradients(l).bias, mine = bias_block(db);
        if (!mine.empty()) backend_.column_sums(gradient(l), mine);
        grid_.plane(Axis::y).all_reduce_now(mine);
        grid_.along(Axis::y).all_gather_now(db.reshaped(db.cols, 1), block_sizes(db.cols, grid_.extent(Axis::y)));
    }

    const Problem problem_;
    const ModelSpec& model_;
    Backend& backend_;
    ProcessGrid grid_;
    const GridLayout layout_;
    ReplicatedParameters parameters_;
    std::unique_ptr<GridProducts> products_;
    VertexData vertices_;
    Matrix input_, dropped_input_;
    std::vector<Matrix> outputs_, gradients_;  ///< by layer; the latter where buffers are separate
    LayerwiseBuffers product_;
    ShardedLoss loss_;
};

}  // namespace

Buffers grid_buffers(const Params& params) {
    return params.choice("buffers") == "separate" ? Buffers::separate : Buffers::shared;
}

std::unique_ptr<CollectiveTrainer> make_grid_trainer(const Problem& problem, Rank rank, GridShape shape,
                                                     ProductCut cut, Buffers buffers,
                                                     const MakeGridProducts& make_products) {
    return std::make_unique<GridTrainer>(problem, rank, shape, cut, buffers, make_products);
}

std::int64_t grid_memory(const Problem& p, const GridLayout& at, std::int64_t element_bytes, Buffers buffers,
                         const std::function<void(MemoryStatement&)>& products) {
    MemoryStatement m(element_bytes);
    const std::int64_t n = at.rows(), f_0 = at.columns(p.model.widths.front());
    m.matrix(n, f_0);
    if (p.train.input_dropout > 0) m.matrix(n, f_0);
    for (int l = 0; l < p.model.layers(); ++l) {
        const LayerBuffers of_layer = grid_layer_buffers(at, p.model, buffers, l);
        m.matrix(n, of_layer.output + of_layer.gradient);
    }
    LayerwiseBuffers::state_memory(m, at.product_rows(), product_columns(at, p.model, buffers));  // T and U
    products(m);
    ReplicatedParameters::state_memory(m, p.model, p.train);
    VertexData::state_memory(m, p.dataset, n, at.columns(p.model.widths.back()));
    ShardedLoss::state_memory(m, n, p.dataset.multi_label());
    return m.bytes();
}

Volume grid_volume(const Problem& p, const GridLayout& at, std::int64_t element_bytes,
                   const StateAggregate& aggregate, const StateTransform& transform,
                   const StateBackward& backward) {
    const ModelSpec& model = p.model;
    VolumeStatement v(element_bytes);
    const int sharing = at.extent(Axis::x) * at.extent(Axis::z);  // ranks that hold the same columns
    const int number = at.at(Axis::x) * at.extent(Axis::z) + at.at(Axis::z);
    for (int l = 0; l < model.layers(); ++l) {
        const auto f = model.widths[usize(l)], g = model.widths[usize(l) + 1];
        aggregate(v, Direction::forward, f);
        transform(v, f, g);
        if (model.bias) {
            v.all_reduce(at.columns(g), sharing, number);
            v.all_gather(g, at.columns(g), at.extent(Axis::y));
        }
        aggregate(v, Direction::backward, g);
        backward(v, l, f, g);
    }
    v.add(ShardedLoss::volume(at.rows(), p.dataset.multi_label(), at.extent(Axis::y), at.at(Axis::y),
                              at.shape.ranks(), at.shape.rank(at.place), element_bytes));
    return v.total();
}

}  // namespace gnnbench
