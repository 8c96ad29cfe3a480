#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <string>

#include <gnnbench/host_memory.hpp>
#include <gnnbench/backend.hpp>
#include <gnnbench/shared_host_memory.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "dynamic_attention.hpp"
#include "plain.hpp"
#include "products.hpp"

namespace gnnbench {
namespace {

using reference::at;
using reference::PlainMatrix;

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
        case Activation::elu:
            return x > 0 ? x : std::expm1(x);
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
        case Activation::elu:
            return y > 0 ? 1 : 1 + y;
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

template <class T>
class ReferenceBackend final : public Backend {
public:
    /// `memory`: read by the other ranks of this host, if there are any.
    ReferenceBackend(std::shared_ptr<SharedHostMemory> memory, int threads)
        : Backend(std::is_same_v<T, float> ? DType::f32 : DType::f64),
          memory_(std::move(memory)),
          threads_(threads) {}

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
        m->row_vertices = a.row_vertices;
        m->col_vertices = a.col_vertices;
        m->format = "csr";
        return m;
    }

    std::unique_ptr<PreparedMatrix> do_refer(const CsrView& a) override {
        auto m = std::make_unique<PlainMatrix<T>>();
        const auto* values = static_cast<const T*>(a.values);
        m->indptr.assign(a.indptr, a.indptr + a.rows + 1);
        m->indices.assign(a.indices, a.indices + a.nonzeros);
        m->values.assign(values, values + a.nonzeros);
        if (!a.row_vertices) return m;
        for (std::int64_t r = 0; r < a.rows; ++r) m->row_vertices.push_back(GlobalId{a.row_vertices[r]});
        for (std::int64_t c = 0; c < a.cols; ++c) m->col_vertices.push_back(GlobalId{a.col_vertices[c]});
        return m;
    }

    void perform(const verb::Spmm& v) override {
        const auto& m = static_cast<const PlainMatrix<T>&>(v.a);
        perform(verb::SpmmUnprepared{
            {m.indptr.data(), m.indices.data(), m.values.data(), m.rows, m.cols}, v.b, v.c, v.s, v.e});
    }

    void perform(const verb::SpmmUnprepared& v) override {
        const T* values = static_cast<const T*>(v.a.values);
        const double work = static_cast<double>(v.a.nonzeros) * static_cast<double>(v.c.cols);
        reference::over_rows(threads_, v.c.rows, work, [&](std::int64_t first, std::int64_t last) {
            std::vector<double> sums(usize(v.c.cols));
            for (std::int64_t r = first; r < last; ++r) {
                const std::int64_t begin = v.a.indptr[r], end = v.a.indptr[r + 1];
                reference::sum_row(std::span(values + begin, values + end), v.a.indices + begin, v.b, sums.data());
                for (std::int64_t j = 0; j < v.c.cols; ++j) store(v.c, r, j, v.s, v.e, sums[usize(j)]);
            }
        });
    }

    void perform(const verb::SpmmTransposed& v) override {
        const auto& m = static_cast<const PlainMatrix<T>&>(v.a);
        std::vector<std::vector<double>> sums(usize(v.c.rows), std::vector<double>(usize(v.c.cols)));
        for (std::int64_t r = 0; r < m.rows; ++r)
            for (auto k = usize(m.indptr[usize(r)]); k < usize(m.indptr[usize(r) + 1]); ++k)
                for (std::int64_t j = 0; j < v.c.cols; ++j)
                    sums[usize(m.indices[k])][usize(j)] += double{m.values[k]} * at<T>(v.b, r, j);
        for (std::int64_t r = 0; r < v.c.rows; ++r)
            for (std::int64_t j = 0; j < v.c.cols; ++j) store(v.c, r, j, v.s, v.e, sums[usize(r)][usize(j)]);
    }

    void perform(const verb::Gemm& v) override {
        const double work =
            static_cast<double>(v.c.rows) * static_cast<double>(v.c.cols) * static_cast<double>(v.inner());
        reference::over_rows(threads_, v.c.rows, work, [&](std::int64_t first, std::int64_t last) {
            const std::vector<double> sums = reference::gemm_rows<T>(v, first, last);
            for (std::int64_t r = first; r < last; ++r)
                for (std::int64_t j = 0; j < v.c.cols; ++j)
                    store(v.c, r, j, v.s, v.e, sums[usize((r - first) * v.c.cols + j)]);
        });
    }

    static void store(MatrixView c, std::int64_t r, std::int64_t j, Scale s, const Epilogue& e, double product) {
        const double old = s.beta == 0 ? 0 : s.beta * at<T>(c, r, j);
        at<T>(c, r, j) = static_cast<T>(finish<T>(e, s.alpha * product + old, r, j));
    }

    void perform(const verb::Attend& v) override { reference::attend<T>(v); }
    void perform(const verb::AttendBackward& v) override { reference::attend_backward<T>(v); }
    void perform(const verb::DynamicAttend& v) override { reference::dynamic_attend<T>(v); }
    void perform(const verb::DynamicBackward& v) override { reference::dynamic_backward<T>(v); }
    void perform(const verb::HeadDots& v) override { reference::head_dots<T>(v); }
    void perform(const verb::HeadSums& v) override { reference::head_sums<T>(v); }
    void perform(const verb::AddHeads& v) override { reference::add_heads<T>(v); }
    void perform(const verb::RescaleHeads& v) override { reference::rescale_heads<T>(v); }
    void perform(const verb::MeanOfHeads& v) override { reference::mean_of_heads<T>(v); }
    void perform(const verb::SpreadToHeads& v) override { reference::spread_to_heads<T>(v); }

    void perform(const verb::Apply& v) override {
        for (std::int64_t r = 0; r < v.z.rows; ++r)
            for (std::int64_t c = 0; c < v.z.cols; ++c)
                at<T>(v.z, r, c) = static_cast<T>(finish<T>(v.e, at<T>(v.x, r, c), r, c));
    }

    void perform(const verb::ApplyBackward& v) override {
        const double scale = v.e.dropout.active() ? v.e.dropout.scale() : 1;
        for (std::int64_t r = 0; r < v.dz.rows; ++r)
            for (std::int64_t c = 0; c < v.dz.cols; ++c) {
                const double y = at<T>(v.h, r, c) / scale;
                at<T>(v.dz, r, c) =
                    dropped(v.e, r, c)
                        ? T{0}
                        : static_cast<T>(at<T>(v.dh, r, c) * scale * derivative_from_output(v.e.activation, y));
            }
    }

    void perform(const verb::ColumnSums& v) override {
        for (std::int64_t c = 0; c < v.g.cols; ++c) {
            double sum = 0;
            for (std::int64_t r = 0; r < v.g.rows; ++r) sum += at<T>(v.g, r, c);
            at<T>(v.out, 0, c) = static_cast<T>(sum);
        }
    }

    void perform(const verb::SoftmaxCrossEntropy& v) override {
        double loss = 0;
        for (std::int64_t r = 0; r < v.logits.rows; ++r) {
            const bool counted = v.in.split[r] == v.in.counted;
            double largest = -INFINITY, sum = 0;
            for (std::int64_t c = 0; c < v.logits.cols; ++c)
                largest = std::max<double>(largest, at<T>(v.logits, r, c));
            for (std::int64_t c = 0; c < v.logits.cols; ++c) sum += std::exp(at<T>(v.logits, r, c) - largest);
            if (counted) loss += (largest + std::log(sum) - at<T>(v.logits, r, v.in.labels[r])) * v.in.scale;
            for (std::int64_t c = 0; c < v.logits.cols; ++c) {
                const double p = std::exp(at<T>(v.logits, r, c) - largest) / sum;
                at<T>(v.grad, r, c) =
                    counted ? static_cast<T>((p - (c == v.in.labels[r] ? 1 : 0)) * v.in.scale) : T{0};
            }
        }
        *v.loss_out = loss;
    }

    void perform(const verb::RowMaxima& v) override {
        for (std::int64_t r = 0; r < v.logits.rows; ++r) {
            T largest = -std::numeric_limits<T>::infinity();
            for (std::int64_t c = 0; c < v.logits.cols; ++c) largest = std::max(largest, at<T>(v.logits, r, c));
            at<T>(v.maxima, r, 0) = largest;
        }
    }

    void perform(const verb::RowExpSums& v) override {
        for (std::int64_t r = 0; r < v.logits.rows; ++r) {
            double sum = 0;
            for (std::int64_t c = 0; c < v.logits.cols; ++c)
                sum += std::exp(double{at<T>(v.logits, r, c)} - at<T>(v.maxima, r, 0));
            at<T>(v.sums, r, 0) = static_cast<T>(sum);
        }
    }

    void perform(const verb::SoftmaxCrossEntropyShard& v) override {
        double loss = 0;
        for (std::int64_t r = 0; r < v.logits.rows; ++r) {
            const bool counted = v.in.split[r] == v.in.counted;
            const std::int64_t label = v.in.labels[r] - v.first_class;
            const double largest = at<T>(v.maxima, r, 0), sum = at<T>(v.sums, r, 0);
            if (counted && label >= 0 && label < v.logits.cols)
                loss += (largest + std::log(sum) - at<T>(v.logits, r, label)) * v.in.scale;
            for (std::int64_t c = 0; c < v.logits.cols; ++c) {
                const double p = std::exp(at<T>(v.logits, r, c) - largest) / sum;
                at<T>(v.grad, r, c) = counted ? static_cast<T>((p - (c == label ? 1 : 0)) * v.in.scale) : T{0};
            }
        }
        *v.loss_out = loss;
    }

    void perform(const verb::CountCorrect& v) override {
        std::fill_n(v.counts, 6, 0);
        for (std::int64_t r = 0; r < v.logits.rows; ++r) {
            if (v.in.split[r] == Split::none) continue;
            std::int64_t best = 0;
            for (std::int64_t c = 1; c < v.logits.cols; ++c)
                if (at<T>(v.logits, r, c) > at<T>(v.logits, r, best)) best = c;
            const auto s = 2 * (usize(v.in.split[r]) - 1);
            v.counts[s] += best == v.in.labels[r];
            ++v.counts[s + 1];
        }
    }

    /// With t = −x where y = 1, else x: log(1 + eᵗ), whose derivative by x is ±σ(t).
    void perform(const verb::BinaryCrossEntropy& v) override {
        double loss = 0;
        for (std::int64_t r = 0; r < v.logits.rows; ++r)
            for (std::int64_t c = 0; c < v.logits.cols; ++c) {
                if (v.in.split[r] != v.in.counted) {
                    at<T>(v.grad, r, c) = T{0};
                    continue;
                }
                const double sign = v.in.label_matrix[r * v.logits.cols + c] != 0 ? -1 : 1;
                const double t = sign * at<T>(v.logits, r, c), e = std::exp(-std::abs(t));
                loss += (std::max(t, 0.0) + std::log1p(e)) * v.in.scale;
                at<T>(v.grad, r, c) = static_cast<T>(sign * (t > 0 ? 1 : e) / (1 + e) * v.in.scale);
            }
        *v.loss_out = loss;
    }

    void perform(const verb::CountPositives& v) override {
        std::fill_n(v.counts, 9, 0);
        for (std::int64_t r = 0; r < v.logits.rows; ++r) {
            if (v.in.split[r] == Split::none) continue;
            std::int64_t* of_split = v.counts + 3 * (static_cast<std::ptrdiff_t>(v.in.split[r]) - 1);
            for (std::int64_t c = 0; c < v.logits.cols; ++c) {
                const bool has = v.in.label_matrix[r * v.logits.cols + c] != 0,
                           claimed = at<T>(v.logits, r, c) > 0;
                of_split[0] += has && claimed;
                of_split[1] += !has && claimed;
                of_split[2] += has && !claimed;
            }
        }
    }

    /// SGD: w −= lr·(g + λw). Adam (Kingma & Ba 2015) with λ in the gradient; AdamW (Loshchilov & Hutter
    /// 2019) with decoupled λ: w −= lr·λ·w.
    void perform(const verb::OptimizerStep& step) override {
        const TrainSpec& o = step.spec;
        const double c1 = 1 - std::pow(o.beta1, step.step), c2 = 1 - std::pow(o.beta2, step.step);
        for (const ParameterSlot& p : step.slots) {
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

    void perform(const verb::Fill& v) override {
        for (std::int64_t r = 0; r < v.m.rows; ++r)
            for (std::int64_t c = 0; c < v.m.cols; ++c) at<T>(v.m, r, c) = static_cast<T>(v.value);
    }
    void perform(const verb::Copy& v) override {
        for (std::int64_t r = 0; r < v.to.rows; ++r)
            for (std::int64_t c = 0; c < v.to.cols; ++c) at<T>(v.to, r, c) = at<T>(v.from, r, c);
    }
    void perform(const verb::Axpby& v) override {
        const T a = static_cast<T>(v.alpha), b = static_cast<T>(v.beta);
        for (std::int64_t r = 0; r < v.y.rows; ++r)
            for (std::int64_t c = 0; c < v.y.cols; ++c)
                at<T>(v.y, r, c) = a * at<T>(v.x, r, c) + b * at<T>(v.y, r, c);
    }
    void perform(const verb::SquaredDistance& v) override {
        v.out[0] = v.out[1] = 0;
        for (std::int64_t r = 0; r < v.x.rows; ++r)
            for (std::int64_t c = 0; c < v.x.cols; ++c) {
                const double y = at<T>(v.y, r, c), difference = at<T>(v.x, r, c) - y;
                v.out[0] += difference * difference;
                v.out[1] += y * y;
            }
    }
    void perform(const verb::GatherRows& v) override {
        for (std::int64_t r = 0; r < v.to.rows; ++r)
            for (std::int64_t c = 0; c < v.to.cols; ++c) at<T>(v.to, r, c) = at<T>(v.from, v.rows[r], c);
    }
    void perform(const verb::ScatterAddRows& v) override {
        for (std::int64_t r = 0; r < v.from.rows; ++r)
            for (std::int64_t c = 0; c < v.from.cols; ++c) at<T>(v.to, v.rows[r], c) += at<T>(v.from, r, c);
    }
    std::unique_ptr<Transport> do_connect(const ProcessGroup& group) override {
        if (group.size() == 1) return make_mpi_transport(group);
        const auto copy = [](const void* from, void* to, std::size_t bytes) { std::memcpy(to, from, bytes); };
        const auto gather = [this](ConstMatrixView from, const std::int32_t* rows, MatrixView to) {
            perform(verb::GatherRows{from, rows, to});
        };
        const auto add = [this](ConstMatrixView from, const std::int32_t* rows, MatrixView to) {
            perform(verb::ScatterAddRows{from, rows, to});
        };
        return make_shared_transport(group, memory_, {copy, gather, add}, transport_);
    }
    std::string do_notes() const override { return transport_; }

    std::shared_ptr<SharedHostMemory> memory_;
    int threads_;            ///< of products
    std::string transport_;  ///< for the notes
};

class ReferencePlugin final : public BackendPlugin {
public:
    std::string why_unsupported(const KernelSetting&) const override { return {}; }
    std::string device_name(const KernelSetting& s) const override {
        return s.threads == 1 ? "CPU, 1 thread" : "CPU, " + std::to_string(s.threads) + " threads";
    }
    std::unique_ptr<Backend> create(const KernelSetting& s) const override {
        auto memory = s.local_ranks > 1 ? SharedHostMemory::make(s.local_ranks) : nullptr;
        if (s.dtype == DType::f32) return std::make_unique<ReferenceBackend<float>>(std::move(memory), s.threads);
        return std::make_unique<ReferenceBackend<double>>(std::move(memory), s.threads);
    }
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN_WITHOUT_PARAMS(kernel, gnnbench::ReferencePlugin, "reference", "1.0.0",
                               "naive loops in float32 or float64: the oracle of every other kernel")
GNNBENCH_KERNEL_IN_HOST_MEMORY
