#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <gnnbench/host_memory.hpp>
#include <gnnbench/backend.hpp>
#include <gnnbench/shared_host_memory.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// An element of a view; T is the kernel's element type.
template <class T>
T& at(MatrixView m, std::int64_t r, std::int64_t c) {
    return static_cast<T*>(m.data)[r * m.ld + c];
}
template <class T>
const T& at(ConstMatrixView m, std::int64_t r, std::int64_t c) {
    return static_cast<const T*>(m.data)[r * m.ld + c];
}

double activate(Activation a, double x) {
    switch (a) {
        case Activation::identity:
            return x;
        case Activation::relu:
            return x < 0 ? 0 : x;  // NaN stays
        case Activation::leaky_relu:
            return x > 0 ? x : leaky_slope * x;
        case Activation::sigmoid:
            return 1 / (1 + std::exp(-x));
    }
    return x;
}

/// σ'(z) from y = σ(z).
double derivative_from_output(Activation a, double y) {
    switch (a) {
        case Activation::identity:
            return 1;
        case Activation::relu:
            return y > 0 ? 1 : 0;
        case Activation::leaky_relu:
            return y > 0 ? 1 : leaky_slope;
        case Activation::sigmoid:
            return y * (1 - y);
    }
    return 1;
}

bool dropped(const Epilogue& e, std::int64_t row, std::int64_t column) {
    return e.dropout.active() && e.dropout.dropped(e.row_ids[row], static_cast<std::uint32_t>(column));
}

template <class T>
double finish(const Epilogue& e, double x, std::int64_t r, std::int64_t c) {
    if (e.bias) x += static_cast<const T*>(e.bias)[c];
    x = activate(e.activation, x);
    if (!e.dropout.active()) return x;
    return dropped(e, r, c) ? 0 : x * e.dropout.scale();
}

/// The given Csr, in the kernel's element type.
template <class T>
struct PlainMatrix final : PreparedMatrix {
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<T> values;
};

template <class T>
class ReferenceBackend final : public Backend {
public:
    /// `memory`: read by the other ranks of this host, if there are any.
    explicit ReferenceBackend(std::shared_ptr<SharedHostMemory> memory)
        : Backend(std::is_same_v<T, float> ? DType::f32 : DType::f64), memory_(std::move(memory)) {}

private:
    void* do_allocate(std::size_t bytes) override {
        void* const shared = memory_ ? memory_->allocate(bytes) : nullptr;
        return shared ? shared : std::malloc(bytes);
    }
    void do_free(void* data, std::size_t) noexcept override {
        if (memory_ && memory_->holds(data)) return memory_->free(data);
        std::free(data);
    }
    std::int64_t do_free_bytes() const override { return -1; }
    void do_copy_in(const void* host, void* device, std::size_t bytes) override {
        std::memcpy(device, host, bytes);
    }
    void do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole) override {
        std::memcpy(host, device, bytes);
    }
    // Every verb has completed when it returns, so only MPI requests are ever waited for.
    Event do_record(StreamRole) override { return {}; }
    void do_wait(StreamRole, const Event& event) override { event.state()->wait_on_host(); }
    void do_synchronize(StreamRole) override {}

    std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts) override {
        auto m = std::make_unique<PlainMatrix<T>>();
        m->indptr = a.indptr;
        m->indices = a.indices;
        m->values.assign(a.values.begin(), a.values.end());
        m->format = "csr";
        return m;
    }

    void do_spmm(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) override {
        const auto& m = static_cast<const PlainMatrix<T>&>(a);
        do_spmm(CsrView{m.indptr.data(), m.indices.data(), m.values.data(), m.rows, m.cols}, b, c, s, e);
    }

    void do_spmm(const CsrView& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) override {
        const T* values = static_cast<const T*>(a.values);
        std::vector<double> sums(usize(c.cols));
        for (std::int64_t r = 0; r < c.rows; ++r) {
            std::fill(sums.begin(), sums.end(), 0.0);
            for (std::int64_t k = a.indptr[r]; k < a.indptr[r + 1]; ++k)
                add_product(double{values[k]}, &at<T>(b, a.indices[k], 0), sums);
            for (std::int64_t j = 0; j < c.cols; ++j) store(c, r, j, s, e, sums[usize(j)]);
        }
    }

    void do_spmm_transposed(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s,
                            const Epilogue& e) override {
        const auto& m = static_cast<const PlainMatrix<T>&>(a);
        std::vector<std::vector<double>> sums(usize(c.rows), std::vector<double>(usize(c.cols)));
        for (std::int64_t r = 0; r < m.rows; ++r)
            for (auto k = usize(m.indptr[usize(r)]); k < usize(m.indptr[usize(r) + 1]); ++k)
                add_product(double{m.values[k]}, &at<T>(b, r, 0), sums[usize(m.indices[k])]);
        for (std::int64_t r = 0; r < c.rows; ++r)
            for (std::int64_t j = 0; j < c.cols; ++j) store(c, r, j, s, e, sums[usize(r)][usize(j)]);
    }

    void do_gemm(Transpose ta, ConstMatrixView a, Transpose tb, ConstMatrixView b, MatrixView c, Scale s,
                 const Epilogue& e) override {
        const std::int64_t inner = ta == Transpose::no ? a.cols : a.rows;
        std::vector<double> sums(usize(c.cols));
        for (std::int64_t r = 0; r < c.rows; ++r) {
            std::fill(sums.begin(), sums.end(), 0.0);
            for (std::int64_t k = 0; k < inner; ++k) {
                const double left = ta == Transpose::no ? at<T>(a, r, k) : at<T>(a, k, r);
                if (tb == Transpose::no) {
                    add_product(left, &at<T>(b, k, 0), sums);
                    continue;
                }
                for (std::int64_t j = 0; j < c.cols; ++j) sums[usize(j)] += left * at<T>(b, j, k);
            }
            for (std::int64_t j = 0; j < c.cols; ++j) store(c, r, j, s, e, sums[usize(j)]);
        }
    }

    /// sums += x · row. A row of the result at a time: each of its elements sums up in the order of k all the same.
    static void add_product(double x, const T* row, std::vector<double>& sums) {
        for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += x * row[j];
    }

    static void store(MatrixView c, std::int64_t r, std::int64_t j, Scale s, const Epilogue& e, double product) {
        const double old = s.beta == 0 ? 0 : s.beta * at<T>(c, r, j);
        at<T>(c, r, j) = static_cast<T>(finish<T>(e, s.alpha * product + old, r, j));
    }

    void do_apply(const Epilogue& e, ConstMatrixView x, MatrixView z) override {
        for (std::int64_t r = 0; r < z.rows; ++r)
            for (std::int64_t c = 0; c < z.cols; ++c)
                at<T>(z, r, c) = static_cast<T>(finish<T>(e, at<T>(x, r, c), r, c));
    }

    void do_apply_backward(const Epilogue& e, ConstMatrixView h, ConstMatrixView dh, MatrixView dz) override {
        const double scale = e.dropout.active() ? e.dropout.scale() : 1;
        for (std::int64_t r = 0; r < dz.rows; ++r)
            for (std::int64_t c = 0; c < dz.cols; ++c) {
                const double y = at<T>(h, r, c) / scale;
                at<T>(dz, r, c) =
                    dropped(e, r, c)
                        ? T{0}
                        : static_cast<T>(at<T>(dh, r, c) * scale * derivative_from_output(e.activation, y));
            }
    }

    void do_column_sums(ConstMatrixView g, MatrixView out) override {
        for (std::int64_t c = 0; c < g.cols; ++c) {
            double sum = 0;
            for (std::int64_t r = 0; r < g.rows; ++r) sum += at<T>(g, r, c);
            at<T>(out, 0, c) = static_cast<T>(sum);
        }
    }

    void do_softmax_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad,
                                  double* loss_out) override {
        double loss = 0;
        for (std::int64_t r = 0; r < logits.rows; ++r) {
            const bool counted = in.split[r] == in.counted;
            double largest = -INFINITY, sum = 0;
            for (std::int64_t c = 0; c < logits.cols; ++c)
                largest = std::max<double>(largest, at<T>(logits, r, c));
            for (std::int64_t c = 0; c < logits.cols; ++c) sum += std::exp(at<T>(logits, r, c) - largest);
            if (counted) loss += (largest + std::log(sum) - at<T>(logits, r, in.labels[r])) * in.scale;
            for (std::int64_t c = 0; c < logits.cols; ++c) {
                const double p = std::exp(at<T>(logits, r, c) - largest) / sum;
                at<T>(grad, r, c) = counted ? static_cast<T>((p - (c == in.labels[r] ? 1 : 0)) * in.scale) : T{0};
            }
        }
        *loss_out = loss;
    }

    void do_row_maxima(ConstMatrixView logits, MatrixView maxima) override {
        for (std::int64_t r = 0; r < logits.rows; ++r) {
            T largest = -std::numeric_limits<T>::infinity();
            for (std::int64_t c = 0; c < logits.cols; ++c) largest = std::max(largest, at<T>(logits, r, c));
            at<T>(maxima, r, 0) = largest;
        }
    }

    void do_row_exp_sums(ConstMatrixView logits, ConstMatrixView maxima, MatrixView sums) override {
        for (std::int64_t r = 0; r < logits.rows; ++r) {
            double sum = 0;
            for (std::int64_t c = 0; c < logits.cols; ++c)
                sum += std::exp(double{at<T>(logits, r, c)} - at<T>(maxima, r, 0));
            at<T>(sums, r, 0) = static_cast<T>(sum);
        }
    }

    void do_softmax_cross_entropy_shard(ConstMatrixView logits, ConstMatrixView maxima, ConstMatrixView sums,
                                        std::int64_t first_class, const LossInput& in, MatrixView grad,
                                        double* loss_out) override {
        double loss = 0;
        for (std::int64_t r = 0; r < logits.rows; ++r) {
            const bool counted = in.split[r] == in.counted;
            const std::int64_t label = in.labels[r] - first_class;
            const double largest = at<T>(maxima, r, 0), sum = at<T>(sums, r, 0);
            if (counted && label >= 0 && label < logits.cols)
                loss += (largest + std::log(sum) - at<T>(logits, r, label)) * in.scale;
            for (std::int64_t c = 0; c < logits.cols; ++c) {
                const double p = std::exp(at<T>(logits, r, c) - largest) / sum;
                at<T>(grad, r, c) = counted ? static_cast<T>((p - (c == label ? 1 : 0)) * in.scale) : T{0};
            }
        }
        *loss_out = loss;
    }

    void do_count_correct(ConstMatrixView logits, const LossInput& in, std::int64_t* counts) override {
        std::fill_n(counts, 6, 0);
        for (std::int64_t r = 0; r < logits.rows; ++r) {
            if (in.split[r] == Split::none) continue;
            std::int64_t best = 0;
            for (std::int64_t c = 1; c < logits.cols; ++c)
                if (at<T>(logits, r, c) > at<T>(logits, r, best)) best = c;
            const auto s = 2 * (usize(in.split[r]) - 1);
            counts[s] += best == in.labels[r];
            ++counts[s + 1];
        }
    }

    /// With t = −x where y = 1, else x: log(1 + eᵗ), whose derivative by x is ±σ(t).
    void do_binary_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad,
                                 double* loss_out) override {
        double loss = 0;
        for (std::int64_t r = 0; r < logits.rows; ++r)
            for (std::int64_t c = 0; c < logits.cols; ++c) {
                if (in.split[r] != in.counted) {
                    at<T>(grad, r, c) = T{0};
                    continue;
                }
                const double sign = in.label_matrix[r * logits.cols + c] != 0 ? -1 : 1;
                const double t = sign * at<T>(logits, r, c), e = std::exp(-std::abs(t));
                loss += (std::max(t, 0.0) + std::log1p(e)) * in.scale;
                at<T>(grad, r, c) = static_cast<T>(sign * (t > 0 ? 1 : e) / (1 + e) * in.scale);
            }
        *loss_out = loss;
    }

    void do_count_positives(ConstMatrixView logits, const LossInput& in, std::int64_t* counts) override {
        std::fill_n(counts, 9, 0);
        for (std::int64_t r = 0; r < logits.rows; ++r) {
            if (in.split[r] == Split::none) continue;
            std::int64_t* of_split = counts + 3 * (static_cast<std::ptrdiff_t>(in.split[r]) - 1);
            for (std::int64_t c = 0; c < logits.cols; ++c) {
                const bool has = in.label_matrix[r * logits.cols + c] != 0, claimed = at<T>(logits, r, c) > 0;
                of_split[0] += has && claimed;
                of_split[1] += !has && claimed;
                of_split[2] += has && !claimed;
            }
        }
    }

    /// SGD: w −= lr·(g + λw). Adam (Kingma & Ba 2015) with λ in the gradient; AdamW (Loshchilov & Hutter
    /// 2019) with decoupled λ: w −= lr·λ·w.
    void do_optimizer_step(const TrainSpec& o, std::int64_t step, std::span<const ParameterSlot> slots) override {
        const double c1 = 1 - std::pow(o.beta1, step), c2 = 1 - std::pow(o.beta2, step);
        for (const ParameterSlot& p : slots) {
            T* w = static_cast<T*>(p.weight);
            const T* gradient = static_cast<const T*>(p.gradient);
            T* m = static_cast<T*>(p.first_moment);
            T* v = static_cast<T*>(p.second_moment);
            for (std::int64_t i = 0; i < p.count; ++i) {
                const bool apart = o.optimizer == OptimizerKind::adamw;
                const double g = gradient[i] + (apart ? 0 : p.weight_decay * w[i]);
                if (o.optimizer == OptimizerKind::sgd) {
                    w[i] = static_cast<T>(w[i] - o.learning_rate * g);
                    continue;
                }
                m[i] = static_cast<T>(o.beta1 * m[i] + (1 - o.beta1) * g);
                v[i] = static_cast<T>(o.beta2 * v[i] + (1 - o.beta2) * g * g);
                const double update = (m[i] / c1) / (std::sqrt(v[i] / c2) + o.epsilon);
                w[i] = static_cast<T>(w[i] - o.learning_rate * (update + (apart ? p.weight_decay * w[i] : 0)));
            }
        }
    }

    void do_fill(MatrixView m, double v) override {
        for (std::int64_t r = 0; r < m.rows; ++r)
            for (std::int64_t c = 0; c < m.cols; ++c) at<T>(m, r, c) = static_cast<T>(v);
    }
    void do_copy(ConstMatrixView from, MatrixView to) override {
        for (std::int64_t r = 0; r < to.rows; ++r)
            for (std::int64_t c = 0; c < to.cols; ++c) at<T>(to, r, c) = at<T>(from, r, c);
    }
    void do_axpby(double alpha, ConstMatrixView x, double beta, MatrixView y) override {
        const T a = static_cast<T>(alpha), b = static_cast<T>(beta);
        for (std::int64_t r = 0; r < y.rows; ++r)
            for (std::int64_t c = 0; c < y.cols; ++c) at<T>(y, r, c) = a * at<T>(x, r, c) + b * at<T>(y, r, c);
    }
    void do_gather_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to) override {
        for (std::int64_t r = 0; r < to.rows; ++r)
            for (std::int64_t c = 0; c < to.cols; ++c) at<T>(to, r, c) = at<T>(from, rows[r], c);
    }
    void do_scatter_add_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to) override {
        for (std::int64_t r = 0; r < from.rows; ++r)
            for (std::int64_t c = 0; c < from.cols; ++c) at<T>(to, rows[r], c) += at<T>(from, r, c);
    }
    std::unique_ptr<Transport> do_connect(const ProcessGroup& group) override {
        if (group.size() == 1) return make_mpi_transport(group);
        const auto copy = [](const void* from, void* to, std::size_t bytes) { std::memcpy(to, from, bytes); };
        const auto gather = [this](ConstMatrixView from, const std::int32_t* rows, MatrixView to) {
            do_gather_rows(from, rows, to);
        };
        const auto add = [this](ConstMatrixView from, const std::int32_t* rows, MatrixView to) {
            do_scatter_add_rows(from, rows, to);
        };
        return make_shared_transport(group, memory_, {copy, gather, add}, transport_);
    }
    std::string do_notes() const override { return transport_; }

    std::shared_ptr<SharedHostMemory> memory_;
    std::string transport_;  ///< for the notes
};

class ReferencePlugin final : public BackendPlugin {
public:
    std::string why_unsupported(const KernelSetting&) const override { return {}; }
    std::string device_name(const KernelSetting&) const override { return "CPU, 1 thread"; }
    std::unique_ptr<Backend> create(const KernelSetting& s) const override {
        auto memory = s.local_ranks > 1 ? SharedHostMemory::make(s.local_ranks) : nullptr;
        if (s.dtype == DType::f32) return std::make_unique<ReferenceBackend<float>>(std::move(memory));
        return std::make_unique<ReferenceBackend<double>>(std::move(memory));
    }
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN_WITHOUT_PARAMS(kernel, gnnbench::ReferencePlugin, "reference", "1.0.0",
                               "naive loops in float32 or float64: the oracle of every other kernel")
GNNBENCH_KERNEL_IN_HOST_MEMORY
