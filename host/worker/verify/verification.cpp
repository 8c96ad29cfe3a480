#include "worker/verify/verification.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <xxhash.h>

#include <gnnbench/training/layer_zero.hpp>
#include <gnnbench/training/parameters.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "check/gradient_sizes.hpp"
#include "data/content.hpp"
#include "data/npy.hpp"
#include "launch/machine.hpp"
#include "spec/cell.hpp"
#include "worker/verify/step_size.hpp"

namespace gnnbench {
namespace fs = std::filesystem;

namespace {

/// The backward pass goes from the last matrix to the first, with one product for each weight, one sum for each bias, one
/// of heads for each attention vector.
GradientScale scale_of(const ModelWeights& gradient, GradientSizes& backend) {
    std::vector<double> products = backend.take_products(), sums = backend.take_sums(),
                        head_sums = backend.take_head_sums();
    GradientScale scale;
    for (const NamedMatrix& m : gradient.matrices) {
        const bool attention =
            m.role == ParameterRole::attention_row || m.role == ParameterRole::attention_neighbour;
        std::vector<double>& from = m.role == ParameterRole::bias ? sums : attention ? head_sums : products;
        require(!from.empty(),
                "serial makes each weight's gradient with one product, each bias' with one column sum");
        scale.push_back(from.back());
        from.pop_back();
    }
    require(products.empty() && sums.empty() && head_sums.empty(),
            "serial makes no other product or sum of this kind");
    return scale;
}

/// Trusts only the rows of the given graph: symmetry is measured, and what a store adds to spare ranks the walk over
/// all rows (transpose, sums, self-loops) is computed anew.
DatasetView from_rows_alone(const DatasetView& given) {
    DatasetView data = given;
    const GraphView& g = given.graph;
    data.graph = {.indptr = g.indptr, .indices = g.indices, .weights = g.weights, .in_files = g.in_files};
    data.graph.symmetric = measure_symmetry(data.graph).weights;
    return data;
}

}  // namespace

int lone_threads() { return usable_cores(); }

std::unique_ptr<Backend> lone_reference(const PluginCatalog& catalog, DType dtype) {
    return catalog.kernel("reference")->create({.dtype = dtype, .threads = lone_threads()});
}

ReferenceResult compute_reference(const PluginCatalog& catalog, const ReferenceTraining& training,
                                  const KeepTraining& keep) {
    const auto& [given, model, train, initial, epochs, trained_features] = training;
    const DatasetView data = from_rows_alone(given);
    const ProcessGroup alone = ProcessGroup::alone();
    GradientSizes backend(lone_reference(catalog));
    const auto strategy = catalog.strategy("serial");
    VolumeCounter counter;
    Communicator self(backend.connect(alone), backend, counter);
    const IndexMap index = IndexMap::one_part(data.graph.vertices());
    const auto declared = catalog.find(PluginKind::strategy, "serial").params;
    Params params(declared);
    for (const ParamDecl& p : declared)
        if (std::string_view(p.name) == trainable_features) params.set(p, trained_features ? "true" : "false");
    ModelSpec dense = model;  // the oracle of sparse features multiplies none
    dense.sparse_features = false;
    const Problem problem{data, index, dense, train, params, initial};
    const auto trainer = strategy->make_collective_trainer(problem, {backend, self, alone});
    const ModelWeights before = trainer->weights();
    ReferenceResult r{.loss = {}, .gradient = {}, .scale = {}, .learning_rate = train.learning_rate};
    for (std::int64_t e = 0; e < epochs && (e == 0 || !keep || keep(r)); ++e) {
        r.loss.push_back(trainer->train_epoch(e).loss);
        r.gradient.push_back(trainer->gradients());
        r.scale.push_back(scale_of(r.gradient.back(), backend));
    }
    r.moved = distance(trainer->weights(), before) / norm(before);
    return r;
}

std::string reference_key(const std::string& dataset_digest, const ReferenceTraining& training) {
    const auto& [data, model, train, initial, epochs, trained_features] = training;
    Cell cell;
    cell.model = model;
    cell.train = train;
    std::string key =
        fmt::format("6 {} {} {} {}", dataset_digest, data.graph.vertices(), data.graph.edges(), epochs);
    for (const char* part : {"model", "train", "seed"}) key += " " + identity_part(cell, part).dump();
    if (trained_features) key += " trained features";
    if (data.multi_label()) key += " label matrix";
    if (initial)
        for (const auto& [name, layer, role, w] : initial->matrices)
            key += fmt::format(" {:016x}", XXH3_64bits(w.values.data(), w.values.size() * sizeof(double)));
    const XXH128_hash_t h = XXH3_128bits(key.data(), key.size());
    return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

namespace {

/// All epochs' scales in one row.
constexpr const char* scales_name = "scales.npy";

/// Learning rate and how far the weights moved.
constexpr const char* step_name = "step.npy";
constexpr const char* untame_name = "untame.txt";

std::string gradient_name(std::size_t epoch, const std::string& matrix) {
    return fmt::format("epoch{}_{}.npy", epoch, matrix);
}

void save(const fs::path& folder, const ReferenceResult& r) {
    const fs::path draft = folder.string() + fmt::format(".{}", ::getpid());
    std::error_code left;
    fs::remove_all(draft, left);  // of a killed process
    fs::create_directories(folder.parent_path());
    if (!fs::create_directory(draft)) return;  // only where nobody else has prepared it
    write_npy<double>(draft / "loss.npy", r.loss, {std::ssize(r.loss)});
    for (std::size_t e = 0; e < r.gradient.size(); ++e)
        for (const NamedMatrix& m : r.gradient[e].matrices)
            write_matrix_npy(draft / gradient_name(e, m.name), m.values);
    std::vector<double> scales;
    for (const GradientScale& s : r.scale) scales.insert(scales.end(), s.begin(), s.end());
    write_npy<double>(draft / scales_name, scales, {std::ssize(scales)});
    const std::vector<double> step = {r.learning_rate, r.moved};
    write_npy<double>(draft / step_name, step, {std::ssize(step)});
    std::ofstream(draft / untame_name) << r.untame;
    std::error_code taken;
    fs::rename(draft, folder, taken);  // another trial may have written the same content first
    if (taken) fs::remove_all(draft);
}

ReferenceResult load(const fs::path& folder, const ModelSpec& model) {
    ReferenceResult r;
    r.loss = read_matrix_npy(folder / "loss.npy").values;
    const std::vector<double> step = read_matrix_npy(folder / step_name).values;
    r.learning_rate = step.at(0);
    r.moved = step.at(1);
    std::ifstream untame(folder / untame_name);
    std::getline(untame, r.untame);
    const std::vector<double> scales = read_matrix_npy(folder / scales_name).values;
    auto next = scales.begin();
    for (std::size_t e = 0; e < r.loss.size(); ++e) {
        ModelWeights g = zero_weights(model);
        for (NamedMatrix& m : g.matrices) m.values = read_matrix_npy(folder / gradient_name(e, m.name));
        r.scale.emplace_back(next, next + std::ssize(g.matrices));
        next += std::ssize(g.matrices);
        r.gradient.push_back(std::move(g));
    }
    return r;
}

}  // namespace

double norm(const HostMatrix& m) {
    double sum = 0;
    for (const double x : m.values) sum += x * x;
    return std::sqrt(sum);
}

double norm(const ModelWeights& w) {
    double sum = 0;
    for (const NamedMatrix& m : w.matrices) sum += norm(m.values) * norm(m.values);
    return std::sqrt(sum);
}

double distance(const ModelWeights& a, const ModelWeights& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.matrices.size(); ++i) {
        const double d = distance(a.matrices[i].values, b.matrices.at(i).values);
        sum += d * d;
    }
    return std::sqrt(sum);
}

double distance(const HostMatrix& a, const HostMatrix& b) {
    if (a.rows != b.rows || a.cols != b.cols) return INFINITY;
    HostMatrix d = a;
    for (std::size_t i = 0; i < d.values.size(); ++i) d.values[i] -= b.values[i];
    return norm(d);
}

ReferenceResult cached_reference(const std::string& folder, const std::string& dataset_digest,
                                 const PluginCatalog& catalog, const ReferenceTraining& training) {
    if (folder.empty()) return tame_reference(catalog, training);
    const fs::path mine = fs::path(folder) / reference_key(dataset_digest, training);
    if (fs::exists(mine / "loss.npy")) return load(mine, training.model);
    ReferenceResult r = tame_reference(catalog, training);
    save(mine, r);
    return r;
}

Agreement agreement_for(DType dtype) {
    Agreement a;
    a.tolerance = dtype == DType::f32 ? 1e-4 : 1e-10;
    a.floor = dtype == DType::f32 ? 0x1p-24 : 1e3 * 0x1p-53;
    return a;
}

double largest_loss_error(std::span<const double> losses, std::span<const double> reference) {
    double largest = 0;
    for (std::size_t e = 0; e < losses.size(); ++e) {
        const double off = std::abs(losses[e] - reference[e]) / std::max(std::abs(reference[e]), 1e-30);
        largest = std::max(largest, std::isfinite(off) ? off : INFINITY);
    }
    return largest;
}

void Agreement::compare(std::int64_t epoch, double loss, const ModelWeights& gradient,
                        const ReferenceResult& reference) {
    const auto e = usize(epoch);
    const double loss_off = largest_loss_error({&loss, 1}, {&reference.loss.at(e), 1});
    loss_error = std::max(loss_error, loss_off);
    finite = finite && std::isfinite(loss_off);
    const GradientScale* scale = reference.scale.empty() ? nullptr : &reference.scale.at(e);
    const auto& theirs = reference.gradient.at(e).matrices;
    for (std::size_t i = 0; i < theirs.size(); ++i) {
        const double d = distance(gradient.matrices.at(i).values, theirs[i].values);
        if (d == 0) continue;
        const double relative = std::isfinite(d) ? d / norm(theirs[i].values) : INFINITY;
        finite = finite && std::isfinite(d);
        const double small = scale ? floor * scale->at(i) : 0;
        if (d <= small) continue;
        if (!(relative <= tolerance)) gradients_agree = false;
        if (relative <= gradient_error) continue;
        gradient_error = relative;
        worst = fmt::format("epoch {}, {}", epoch, theirs[i].name);
    }
}

TrainSpec verification_training(TrainSpec t) {
    t.optimizer = OptimizerKind::sgd;
    t.learning_rate = 0.05;
    return t;
}

std::int64_t verifiable_vertices(const DatasetView& data, const ModelSpec& model, const VerifyRequest& limits) {
    const double n = static_cast<double>(data.graph.vertices()),
                 nonzeros = static_cast<double>(data.graph.edges()) + n;
    double work = 0;  // multiply-adds of an epoch: three products of each kind a layer
    for (const ParameterSpec& p : parameters_of(model)) {
        if (p.role == ParameterRole::bias) continue;
        const double f = static_cast<double>(p.rows), g = static_cast<double>(p.cols);
        if (p.heads > 0) {
            // Two vectors a layer: P beside Z, ⟨G, h⟩ beside dh, and an exponential taken as 20, forward and back.
            work += nonzeros * (g + 20 * p.heads);
            continue;
        }
        work += 3 * n * f * g + 2 * nonzeros * std::max(f, g);
    }
    work *= static_cast<double>(limits.epochs);
    const double share = std::min(1.0, static_cast<double>(limits.max_work) / std::max(work, 1.0));
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(n * share),
                                    std::min<std::int64_t>(1, data.graph.vertices()),
                                    std::min(limits.max_vertices, data.graph.vertices()));
}

}  // namespace gnnbench
