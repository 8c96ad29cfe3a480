#include "calibrate/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include <gnnbench/backend.hpp>
#include <gnnbench/random.hpp>
#include <gnnbench/simulation/machine.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "calibrate/attention_walks.hpp"
#include "calibrate/drawn_matrices.hpp"
#include "plugin/loader.hpp"
#include "record/statistics.hpp"

namespace gnnbench {
namespace {

/// Samples of each candidate. GNNBENCH_CALIBRATION_ROUNDS lowers them, for tests that need none of the numbers.
int rounds() {
    const char* const set = std::getenv("GNNBENCH_CALIBRATION_ROUNDS");
    return set ? static_cast<int>(std::clamp(std::strtol(set, nullptr, 10), 1L, 7L)) : 7;
}
constexpr double least_sample_s = 4e-3;  ///< short candidates are repeated within a sample

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What is timed, and where its median goes.
struct Candidate {
    std::function<void()> run;
    std::function<void(double seconds)> take;
    /// Untimed, before each run: brings memory into the state that an epoch has it in.
    std::function<void()> before = {};
    int repetitions = 1;
    std::vector<double> seconds = {};
};

class Measuring {
public:
    Measuring(const ProcessGroup& world, int threads)
        : world_(world),
          cpu_(catalog_.kernel("cpu")),
          float32_(make(DType::f32, threads)),
          float64_(make(DType::f64, threads)),
          attending_(make(DType::f32, threads, AttentionWalks::heads)) {}

    MachineSamples all() {
        streams();
        gathers();
        uneven();
        attention();
        gemms(*float32_, samples_.gemm_float32);
        gemms(*float64_, samples_.gemm_float64);
        small_and_copies();
        losses();
        take_turns(world_);
        samples_.tile_columns = tile_columns();
        // Others wait without using a core.
        const ProcessGroup pair = world_.split(world_.rank() < 2 ? 0 : 1, world_.rank());
        if (world_.size() > 1 && world_.rank() < 2) operations(pair);
        world_.wait_for_all();
        return std::move(samples_);
    }

private:
    std::unique_ptr<Backend> make(DType dtype, int threads, int of_heads = 0) const {
        return cpu_->create({.dtype = dtype,
                             .threads = threads,
                             .local_rank = world_.rank(),
                             .local_ranks = world_.size(),
                             .params = Params(catalog_.find(PluginKind::kernel, "cpu").params),
                             .heads = of_heads});
    }

    MatrixView matrix(Backend& k, std::int64_t rows, std::int64_t cols) {
        memory_.push_back(k.matrix(rows, cols));
        k.fill(memory_.back(), 0.5);
        return memory_.back().view();
    }

    void add(std::function<void()> run, std::function<void(double)> take) {
        candidates_.push_back({std::move(run), std::move(take)});
    }

    /// Element-wise verbs of 2 and 3 operands; what each moves is what the model says of it.
    void streams() {
        constexpr std::int64_t cols = 64;
        Epilogue relu;
        relu.activation = Activation::relu;
        for (const double bytes : {5e4, 4e5, 1.5e6, 6e6, 1.2e7, 2.4e7, 4.8e7, 9.6e7, 1.92e8}) {
            const auto rows = static_cast<std::int64_t>(bytes / (3 * cols * 4));
            const MatrixView a = matrix(*float32_, rows, cols), b = matrix(*float32_, rows, cols),
                             c = matrix(*float32_, rows, cols);
            const auto of = static_cast<double>(a.bytes());
            stream(3 * of, 3 * of, [this, relu, a, b, c] { float32_->apply_backward(relu, a, b, c); });
            stream(3 * of, 2 * of, [this, a, b] { float32_->axpby(0.5, a, 0.5, b); });
            stream(2 * of, 2 * of, [this, a, c] { float32_->copy(a, c); });
        }
    }
    void stream(double bytes, double touched_bytes, std::function<void()> run) {
        const std::size_t i = samples_.stream.size();
        samples_.stream.push_back({bytes, touched_bytes, 0});
        add(std::move(run), [this, i](double s) { samples_.stream[i].seconds = s; });
    }

    /// Products of a matrix whose rows have 16 nonzeros in columns in no order, of narrow and wide rows of B, which lie
    /// in as many bytes.
    void gathers() {
        constexpr std::int64_t rows = 16384, of_row = 16;
        for (const double row_bytes : {simulation::Device::narrow_row, simulation::Device::wide_row})
            for (std::int64_t lie_in = 1 << 16; lie_in <= 1 << 26; lie_in *= 2) {
                const auto cols = static_cast<std::int64_t>(static_cast<double>(lie_in) / row_bytes);
                const std::size_t i = samples_.gather.size();
                samples_.gather.push_back(product(uniform(rows, cols, of_row), row_bytes,
                                                  [this, i](double s) { samples_.gather[i].seconds = s; }));
            }
    }
    /// Products of rows of many lengths, 4, 8 and 16 in the mean, of narrow rows of B.
    void uneven() {
        constexpr std::int64_t rows = 32768, cols = 8192;
        for (const std::int64_t mean : {4, 8, 16}) {
            const std::size_t i = samples_.uneven.size();
            samples_.uneven.push_back({.rows = rows, .gather = {}});
            samples_.uneven[i].gather = product(of_many_lengths(rows, cols, mean), simulation::Device::narrow_row,
                                                [this, i](double s) { samples_.uneven[i].gather.seconds = s; });
        }
    }
    /// Has it timed. What it moves, without its time.
    GatherSample product(const Csr& matrix_of, double row_bytes, std::function<void(double)> take) {
        prepared_.push_back(float32_->prepare(matrix_of));
        const PreparedMatrix& a = *prepared_.back();
        const auto width = static_cast<std::int64_t>(row_bytes / 4);
        const MatrixView b = matrix(*float32_, matrix_of.cols, width),
                         c = matrix(*float32_, matrix_of.rows, width);
        add([this, &a, b, c] { float32_->spmm(a, b, c); }, std::move(take));
        const auto z = static_cast<double>(a.nonzeros), rows = static_cast<double>(matrix_of.rows);
        return {.gathered_bytes = z * row_bytes,
                .row_bytes = row_bytes,
                .lie_in_bytes = std::min(z, static_cast<double>(matrix_of.cols)) * row_bytes,
                .in_order_bytes = 8 * z + 8 * (rows + 1) + rows * row_bytes};
    }
    /// Attention's walks over a matrix whose rows have 32 entries, each beside a product of its operand's width.
    void attention() {
        walks_.emplace(*attending_, uniform(16384, 4096, 32));
        for (const auto& [walks, into] : {std::pair(&walks_->of_gat(), &samples_.attention),
                                          {&walks_->of_gatv2(), &samples_.dynamic_attention}})
            for (const AttentionWalks::Walk& w : *walks) {
                const std::size_t i = into->size();
                into->push_back(w.sample);
                add(w.run, [into = into, i](double s) { (*into)[i].seconds = s; });
                add(w.product, [into = into, i](double s) { (*into)[i].product_s = s; });
            }
    }
    /// From the format that a matrix with long rows is given: "tiled 4096".
    int tile_columns() {
        const std::string format = float32_->prepare(uniform(256, 1 << 16, 4096))->format, tiled = "tiled ";
        return format.starts_with(tiled) ? std::stoi(format.substr(tiled.size())) : 0;
    }
    /// A layer's three products: H·W, Hᵀ·G and G·Wᵀ.
    void gemms(Backend& k, std::vector<GemmSample>& out) {
        constexpr std::int64_t n = 16384;
        for (const auto& [in, width] : {std::pair<std::int64_t, std::int64_t>{32, 32},
                                        {64, 64},
                                        {128, 128},
                                        {100, 160},
                                        {160, 24},
                                        {112, 40}}) {
            const MatrixView h = matrix(k, n, in), w = matrix(k, in, width), g = matrix(k, n, width),
                             dw = matrix(k, in, width);
            gemm(out, {n, width, in}, [&k, h, w, g] { k.gemm(Transpose::no, h, Transpose::no, w, g); });
            gemm(out, {in, width, n}, [&k, h, g, dw] { k.gemm(Transpose::yes, h, Transpose::no, g, dw); });
            gemm(out, {n, in, width}, [&k, h, w, g] { k.gemm(Transpose::no, g, Transpose::yes, w, h); });
        }
    }
    void gemm(std::vector<GemmSample>& out, const GemmSample& shape, std::function<void()> run) {
        const std::size_t i = out.size();
        out.push_back(shape);
        add(std::move(run), [&out, i](double s) { out[i].seconds = s; });
    }

    void small_and_copies() {
        const MatrixView one = matrix(*float32_, 1, 16), large = matrix(*float32_, 1 << 18, 16);
        add([this, one] { float32_->fill(one, 0); }, [this](double s) { samples_.empty_kernel_s = s; });
        host_.resize(large.bytes());
        add([this, large] { float32_->download_bytes(large.data, host_.data(), host_.size()); },
            [this](double s) { samples_.copy_rate = static_cast<double>(host_.size()) / s; });
    }

    /// Softmax cross entropy, with labels in no order, of which two thirds count: of whole vectors of classes, and of such
    /// that fill one in part.
    void losses() {
        constexpr std::int64_t rows = 8192;
        RandomStream random(2, Draw::graph);
        std::int64_t counted = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
            labels_.push_back(static_cast<std::int32_t>(random.below(8)));
            split_.push_back(random.below(3) < 2 ? Split::train : Split::test);
            counted += split_.back() == Split::train;
        }
        const LossInput in{.labels = labels_.data(), .split = split_.data(), .scale = 1.0 / rows};
        for (const std::int64_t classes : {8, 15, 16, 17, 31, 32, 33, 48, 49, 64, 128}) {
            const MatrixView logits = matrix(*float32_, rows, classes), grad = matrix(*float32_, rows, classes),
                             maxima = matrix(*float32_, rows, 1), sums = matrix(*float32_, rows, 1);
            row(samples_.loss, classes, counted,
                [this, logits, in, grad] { float32_->softmax_cross_entropy(logits, in, grad, &loss_); });
            row(samples_.sharded_loss, classes, rows, [this, logits, in, grad, maxima, sums] {
                float32_->row_maxima(logits, maxima);
                float32_->row_exp_sums(logits, maxima, sums);
                float32_->softmax_cross_entropy_shard(logits, maxima, sums, 0, in, grad, &loss_);
            });
        }
    }
    void row(std::vector<LossSample>& into, std::int64_t columns, std::int64_t rows, std::function<void()> run) {
        const std::size_t i = into.size();
        into.push_back({columns, 0});
        add(std::move(run), [&into, i, rows](double s) { into[i].seconds = s / static_cast<double>(rows); });
    }

    /// All candidates once per round, so that other load affects them alike. Ranks begin each sample together.
    void take_turns(const ProcessGroup& group) {
        for (Candidate& c : candidates_) {
            c.run();
            const double begin = now_s();
            if (c.before) c.before();
            c.run();
            c.repetitions = std::clamp(static_cast<int>(least_sample_s / (now_s() - begin)), 1, 100'000);
            group.broadcast(&c.repetitions, sizeof c.repetitions, 0);
        }
        for (int round = 0; round < rounds(); ++round)
            for (Candidate& c : candidates_) {
                group.barrier();
                c.seconds.push_back(c.before ? apart_s(c, group) : together_s(c));
            }
        for (const Candidate& c : candidates_) c.take(median(c.seconds));
        candidates_.clear();
        prepared_.clear();
        walks_.reset();
        memory_.clear();
    }

    static double together_s(const Candidate& c) {
        const double begin = now_s();
        for (int i = 0; i < c.repetitions; ++i) c.run();
        return (now_s() - begin) / c.repetitions;
    }
    /// The median of runs of which each has its memory brought into a state before.
    static double apart_s(const Candidate& c, const ProcessGroup& group) {
        std::vector<double> each;
        for (int i = 0; i < c.repetitions; ++i) {
            c.before();
            group.barrier();
            const double begin = now_s();
            c.run();
            each.push_back(now_s() - begin);
        }
        return median(each);
    }

    void operations(const ProcessGroup& pair) {
        transport_ = float32_->connect(pair);
        others_ = float32_->matrix(1, others_bytes / 4);
        for (const std::int64_t bytes : {64, 1024, 8192, 65536, 262144, 1 << 20, 4 << 20, 16 << 20}) {
            for (const Wait wait : {Wait::at_once, Wait::later}) collectives(bytes, wait);
            exchange(bytes);
            if (transport_->reads_rows()) rows(bytes);
        }
        take_turns(pair);
        transport_.reset();
        others_ = {};
    }
    void collectives(std::int64_t bytes, Wait wait) {
        const MatrixView a = matrix(*float32_, 1, bytes / 4), b = matrix(*float32_, 1, bytes / 8);
        const std::string form = wait == Wait::later ? "_later" : "";
        // Roots alternate, so that no rank runs ahead of the other.
        operation("broadcast" + form, bytes, a,
                  [this, a, bytes, wait] { return transport_->broadcast(a.data, bytes, root(), wait); });
        operation("reduce" + form, bytes, a, [this, a, bytes, wait] {
            return transport_->reduce(a.data, bytes / 4, DType::f32, ReduceOp::sum, root(), wait);
        });
        operation("all_reduce" + form, bytes, a, [this, a, bytes, wait] {
            return transport_->all_reduce(a.data, bytes / 4, DType::f32, ReduceOp::sum, wait);
        });
        operation("all_gather" + form, bytes, a, [this, a, bytes, wait] {
            const std::int64_t halves[] = {bytes / 2, bytes / 2};
            return transport_->all_gather(a.data, halves, wait);
        });
        operation("reduce_scatter" + form, bytes, a, [this, a, b, bytes, wait] {
            const std::int64_t halves[] = {bytes / 8, bytes / 8};
            return transport_->reduce_scatter(a.data, b.data, halves, DType::f32, wait);
        });
    }
    void exchange(std::int64_t bytes) {
        const MatrixView out = matrix(*float32_, 1, bytes / 4), in = matrix(*float32_, 1, bytes / 4);
        operation("exchange", bytes, out, [this, out, in, bytes] {
            const int peer = 1 - transport_->rank();
            const Message send{peer, out.data, bytes}, receive{peer, in.data, bytes};
            return transport_->exchange(std::span(&send, 1), std::span(&receive, 1));
        });
    }
    /// Half of the rows that the other has, of the layers' usual width.
    void rows(std::int64_t bytes) {
        constexpr std::int64_t width = 64;
        const std::int64_t count = std::max<std::int64_t>(1, bytes / (4 * width));
        std::vector<std::int32_t> of_other(usize(count));
        RandomStream random(3, Draw::graph);
        for (std::size_t i = 0; i < of_other.size(); ++i)
            of_other[i] = static_cast<std::int32_t>(2 * i + random.below(2));
        rows_.push_back(std::move(of_other));
        const std::span<const std::int32_t> numbers = rows_.back();
        const MatrixView all = matrix(*float32_, 2 * count, width), some = matrix(*float32_, count, width);
        const auto of_rows = static_cast<std::int64_t>(some.bytes());
        operation("read_rows", of_rows, all, [this, all, some, numbers] {
            const int peer = 1 - transport_->rank();
            const RowSet sent{peer, numbers}, taken{peer, numbers, some};
            return all_of(transport_->read_rows(all, std::span(&sent, 1), std::span(&taken, 1)));
        });
        operation("add_rows", of_rows, some, [this, all, some, numbers, of_rows] {
            const int peer = 1 - transport_->rank();
            const Message sent{peer, some.data, of_rows};
            const RowSet added{peer, numbers};
            return transport_->add_rows(all, std::span(&sent, 1), std::span(&added, 1));
        });
        // Both the sums and what they are added to have just been computed.
        if (auto& before = candidates_.back().before)
            before = [this, all, first = std::move(before)] {
                float32_->fill(all, 0.5);
                first();
            };
    }
    /// `data` is what others read: an epoch has just computed it, and has touched more than a core's own caches hold since
    /// it had the rest. What is small enough to stay there is repeated at once, since a barrier takes longer.
    void operation(const std::string& name, std::int64_t bytes, MatrixView data, std::function<Event()> start) {
        auto& into = samples_.operations[name];
        const std::size_t i = into.size();
        into.push_back({static_cast<double>(bytes), 0});
        add([this, start = std::move(start)] { float32_->wait(StreamRole::compute, start()); },
            [&into, i](double s) { into[i].seconds = s; });
        if (bytes >= large_bytes)
            candidates_.back().before = [this, data] {
                float32_->fill(others_, 0);
                float32_->fill(data, 0.5);
            };
    }
    int root() { return ++calls_ % 2; }

    static constexpr std::int64_t large_bytes = 65536, others_bytes = 4 << 20;

    const ProcessGroup& world_;
    const PluginCatalog catalog_;
    std::unique_ptr<BackendPlugin> cpu_;
    std::unique_ptr<Backend> float32_, float64_, attending_;
    std::unique_ptr<Transport> transport_;
    Matrix others_;
    std::list<std::vector<std::int32_t>> rows_;
    std::optional<AttentionWalks> walks_;
    std::vector<Matrix> memory_;
    std::vector<std::unique_ptr<PreparedMatrix>> prepared_;
    std::vector<char> host_;
    std::vector<std::int32_t> labels_;
    std::vector<Split> split_;
    double loss_ = 0;
    std::vector<Candidate> candidates_;
    MachineSamples samples_;
    int calls_ = 0;
};

}  // namespace

MachineSamples measure_machine(const ProcessGroup& world, int threads) { return Measuring(world, threads).all(); }

}  // namespace gnnbench
