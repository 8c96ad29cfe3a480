#include "spec/fields.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "spec/words.hpp"

namespace gnnbench {
namespace {

using T = FieldType;
using V = FieldValue;

constexpr std::span<const char* const> no_words{};
constexpr Range any{};
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr Range from(double minimum) { return {minimum, infinite}; }
constexpr Range above(double minimum) { return {minimum, infinite, true}; }
constexpr Range between(double minimum, double maximum) { return {minimum, maximum}; }
constexpr Range below(double minimum, double maximum) { return {minimum, maximum, false, true}; }

template <class E, std::size_t n>
E as(const std::array<const char*, n>& all, const V& v) {
    return static_cast<E>(words::index_of(all, std::get<std::string>(v)));
}
std::int64_t whole(const V& v) { return std::get<std::int64_t>(v); }
int small(const V& v) { return static_cast<int>(whole(v)); }
double real(const V& v) { return std::get<double>(v); }
bool flag(const V& v) { return std::get<bool>(v); }
const std::string& text(const V& v) { return std::get<std::string>(v); }

/// The declaration of every key, in the order of the reference page.
const Field declared[] = {
    {"name", T::text, nullptr, "the file's name without its ending", false, any, no_words,
     "What the experiment is called, in the database and in tables",
     [](Draft& d, const V& v) { d.name = text(v); }},
    {"description", T::text, "''", nullptr, false, any, no_words, "Its purpose, in a sentence or two",
     [](Draft& d, const V& v) { d.description = text(v); }},
    {"dataset", T::dataset, nullptr, nullptr, true, any, no_words,
     "The graph: a store's name, {store: name}, {path: file} with import options, {generate: kind} with its "
     "parameters, or {expect: profile}, which simulated ranks alone can train on",
     [](Draft& d, const V& v) { d.cell.dataset = std::get<DatasetChoice>(v); }},
    {"scheme", T::strategy, nullptr, nullptr, true, any, no_words, "The parallel training algorithm, a plugin",
     [](Draft& d, const V& v) { d.cell.scheme = std::get<PluginChoice>(v); }},
    {"partitioner", T::partitioner, "block", nullptr, true, any, no_words,
     "How vertices are distributed over ranks, a plugin; without effect if there is one part",
     [](Draft& d, const V& v) { d.cell.partitioner = std::get<PluginChoice>(v); }},
    {"kernel", T::kernel, "cpu", nullptr, true, any, no_words, "The compute back end, a plugin",
     [](Draft& d, const V& v) { d.cell.kernel = std::get<PluginChoice>(v); }},
    {"gpus", T::integer, "1", nullptr, true, between(1, 65536), no_words,
     "Devices, each driven by one rank: GPUs under kernel cuda, shares of the CPU under kernel cpu",
     [](Draft& d, const V& v) { d.cell.gpus = small(v); }},
    {"threads_per_rank", T::integer, nullptr, "cores ÷ ranks of one host, at least 1", true, between(1, 4096),
     no_words, "CPU threads of each rank",
     [](Draft& d, const V& v) { d.cell.threads_per_rank = small(v), d.threads_given = true; }},
    {"precision", T::word, "float32", nullptr, true, any, words::precision, "The type of all matrices",
     [](Draft& d, const V& v) { d.cell.precision = text(v); }},
    {"epochs", T::integer, "20", nullptr, true, between(1, 1e9), no_words, "Measured epochs of a trial",
     [](Draft& d, const V& v) { d.cell.epochs = whole(v); }},
    {"warmup", T::integer, "2", nullptr, true, between(0, 1e9), no_words,
     "Epochs before the measured ones; stored and flagged, left out of times",
     [](Draft& d, const V& v) { d.cell.warmup = whole(v); }},
    {"trials", T::integer, "3", nullptr, false, between(1, 1e6), no_words,
     "Launches of each cell; comparisons give a verdict from 6 on",
     [](Draft& d, const V& v) { d.trials = whole(v); }},
    {"seed", T::integer, "0", nullptr, true, from(0), no_words,
     "Seed of initial weights, dropout masks and random partitions",
     [](Draft& d, const V& v) { d.cell.train.seed = static_cast<std::uint64_t>(whole(v)); }},
    {"separate_wait", T::boolean, "false", nullptr, true, any, no_words,
     "Whether a barrier before each communication separates waiting for late ranks from moving data; costs time",
     [](Draft& d, const V& v) { d.cell.separate_wait = flag(v); }},
    {"slowdown", T::slowdown, "{}", nullptr, true, any, no_words,
     "How much slower than they could ranks train, in schemes that train by batches: after each batch, rank 3 in "
     "{3: 2} is busy for (2 − 1) × the processor time that the batch took. Jitter j multiplies every rank's "
     "factor, "
     "for each batch, by a number drawn by the seed from 1 − j to 1 + j. Shown as text, which is none without a "
     "slowdown",
     [](Draft& d, const V& v) { d.cell.slowdown = std::get<Slowdown>(v); }},

    {"model.layers", T::word, "gcn", nullptr, true, any, words::layers,
     "The kind of all layers: graph convolutions; GraphSAGE with the mean of the neighbours and self weights; GIN "
     "with "
     "an MLP of two linear maps",
     [](Draft& d, const V& v) { d.cell.model.kind = as<LayerKind>(words::layers, v); }},
    {"model.hidden", T::widths, "[16]", nullptr, true, between(1, 1e6), no_words,
     "Widths of the hidden layers; [] is a model of one layer",
     [](Draft& d, const V& v) { d.cell.model.widths = std::get<std::vector<std::int64_t>>(v); }},
    {"model.activation", T::word, "relu", nullptr, true, any, words::activation, "After every layer but the last",
     [](Draft& d, const V& v) { d.cell.model.activation = as<Activation>(words::activation, v); }},
    {"model.normalisation", T::word, nullptr, "symmetric for gcn; sage has mean, gin has none", true, any,
     words::normalisation, "Of the adjacency matrix: D^-½ A D^-½, each row divided by its sum, or as it is",
     [](Draft& d, const V& v) {
         d.cell.model.normalisation = as<Normalisation>(words::normalisation, v), d.normalisation_given = true;
     }},
    {"model.feature_normalisation", T::word, "none", nullptr, true, any, words::feature_normalisation,
     "row: each vertex's features are divided by their sum",
     [](Draft& d, const V& v) {
         d.cell.model.feature_normalisation = as<FeatureNormalisation>(words::feature_normalisation, v);
     }},
    {"model.self_loops", T::boolean, nullptr, "true for gcn; sage and gin have none", true, any, no_words,
     "Whether every vertex without a loop gets one of weight 1",
     [](Draft& d, const V& v) { d.cell.model.self_loops = flag(v), d.self_loops_given = true; }},
    {"model.epsilon", T::real, "0", nullptr, true, any, no_words,
     "GIN's ε, which is not trained: a vertex's own row counts 1 + ε times",
     [](Draft& d, const V& v) { d.cell.model.epsilon = real(v); }},
    {"model.bias", T::boolean, "true", nullptr, true, any, no_words, "Whether layers add a trained bias",
     [](Draft& d, const V& v) { d.cell.model.bias = flag(v); }},
    {"model.initialiser", T::word, "glorot", nullptr, true, any, words::initialiser, "Of the weights",
     [](Draft& d, const V& v) { d.cell.model.initialiser = as<Initialiser>(words::initialiser, v); }},
    {"model.aggregate_input", T::boolean, "false", nullptr, true, any, no_words,
     "Whether ÂX is computed once at set-up, so that layer 0 has no SpMM in an epoch; no paper's scheme does this",
     [](Draft& d, const V& v) { d.cell.model.aggregate_input = flag(v); }},
    {"model.sparse_features", T::boolean, "false", nullptr, true, any, no_words,
     "Whether X is a sparse matrix in layer 0's products, X·W and the weight gradient, as far as the scheme's "
     "order "
     "has them; no paper's scheme does this",
     [](Draft& d, const V& v) { d.cell.model.sparse_features = flag(v); }},

    {"train.optimizer", T::word, "adam", nullptr, true, any, words::optimizer, "The optimizer",
     [](Draft& d, const V& v) { d.cell.train.optimizer = as<OptimizerKind>(words::optimizer, v); }},
    {"train.lr", T::real, "0.01", nullptr, true, above(0), no_words, "Learning rate",
     [](Draft& d, const V& v) { d.cell.train.learning_rate = real(v); }},
    {"train.weight_decay", T::per_layer, "0", nullptr, true, from(0), no_words,
     "Of the weights, not of the biases: one number for all layers, or a list with one per layer",
     [](Draft& d, const V& v) { d.cell.train.weight_decay = std::get<std::vector<double>>(v); }},
    {"train.dropout", T::real, "0", nullptr, true, below(0, 1), no_words,
     "Probability that an element of a hidden layer's input is dropped",
     [](Draft& d, const V& v) { d.cell.train.dropout = real(v); }},
    {"train.input_dropout", T::real, nullptr, "the same as train.dropout", true, below(0, 1), no_words,
     "The same for the first layer's input, the features",
     [](Draft& d, const V& v) { d.cell.train.input_dropout = real(v), d.input_dropout_given = true; }},
    {"train.beta1", T::real, "0.9", nullptr, true, below(0, 1), no_words, "Adam's decay of the first moment",
     [](Draft& d, const V& v) { d.cell.train.beta1 = real(v); }},
    {"train.beta2", T::real, "0.999", nullptr, true, below(0, 1), no_words, "Adam's decay of the second moment",
     [](Draft& d, const V& v) { d.cell.train.beta2 = real(v); }},
    {"train.epsilon", T::real, "1e-8", nullptr, true, above(0), no_words, "Adam's guard against division by zero",
     [](Draft& d, const V& v) { d.cell.train.epsilon = real(v); }},
    {"train.evaluate_every", T::integer, "0", nullptr, true, between(0, 1e9), no_words,
     "Epochs between evaluations of accuracy, or of micro-F1 where vertices have several labels; 0: only after "
     "the last",
     [](Draft& d, const V& v) { d.cell.evaluate_every = whole(v); }},
    {"train.patience", T::integer, "0", nullptr, true, between(0, 1e9), no_words,
     "Evaluations without a better validation accuracy or micro-F1 before training stops early; 0: never",
     [](Draft& d, const V& v) { d.cell.patience = whole(v); }},
    {"train.initial_weights", T::folder, "''", nullptr, true, any, no_words,
     "Folder of W0.npy, b0.npy, W1.npy … (sage: W0_self, W0_neighbour, b0; gin: W0_first, b0_first, W0_second, "
     "b0_second); empty: weights are drawn from the seed",
     [](Draft& d, const V& v) { d.cell.initial_weights = text(v); }},

    {"limits.trial_timeout", T::real, "3600", nullptr, false, above(0), no_words,
     "Seconds after which a trial is ended as timeout",
     [](Draft& d, const V& v) { d.limits.trial_timeout_s = real(v); }},
    {"limits.verify_timeout", T::real, "600", nullptr, false, above(0), no_words,
     "Seconds after which a verification, or the step checked after a measured trial, is ended",
     [](Draft& d, const V& v) { d.limits.verify_timeout_s = real(v); }},
    {"limits.memory_per_rank", T::real, nullptr,
     "a share of the host's under the kernels in host memory, else unknown", false, above(0), no_words,
     "GiB of one device; a cell that cannot fit is skipped, with the number, unless `--force` is given",
     [](Draft& d, const V& v) { d.limits.memory_per_rank_gib = real(v); }},

    {"launcher.name", T::word, "local", nullptr, false, any, words::launcher,
     "What starts the ranks: mpiexec on this host, srun, or srun inside jobs submitted by sbatch",
     [](Draft& d, const V& v) { d.launcher.name = text(v); }},
    {"launcher.partition", T::text, nullptr, "Slurm's default", false, any, no_words, "Slurm's partition",
     [](Draft& d, const V& v) { d.launcher.partition = text(v); }},
    {"launcher.account", T::text, nullptr, "Slurm's default", false, any, no_words, "Slurm's account",
     [](Draft& d, const V& v) { d.launcher.account = text(v); }},
    {"launcher.time", T::text, nullptr, "the sum of its trials' limits", false, any, no_words,
     "Slurm's time limit of a job, as Slurm writes it: minutes, \"1:30:00\", \"2-00:00:00\" (with quotes)",
     [](Draft& d, const V& v) { d.launcher.time = text(v); }},
    {"launcher.nodes", T::integer, nullptr, "as few as the ranks need", false, between(1, 65536), no_words,
     "Nodes over which ranks are distributed", [](Draft& d, const V& v) { d.launcher.nodes = whole(v); }},
    {"launcher.gpus", T::word, "auto", nullptr, false, any, words::launcher_gpus,
     "How GPUs are requested from Slurm for a kernel that needs them: one for each rank if the partition has "
     "them, or not at all, leaving it to `options`",
     [](Draft& d, const V& v) { d.launcher.gpus = text(v); }},
    {"launcher.mpi", T::text, nullptr, "pmix under Open MPI, pmi2 under MPICH", false, any, no_words,
     "srun's `--mpi`", [](Draft& d, const V& v) { d.launcher.mpi = text(v); }},
    {"launcher.options", T::texts, "[]", nullptr, false, any, no_words,
     "Further options of srun and sbatch, one each: [--constraint=a100, --exclusive]",
     [](Draft& d, const V& v) { d.launcher.options = std::get<std::vector<std::string>>(v); }},
    {"launcher.jobs", T::word, "array", nullptr, false, any, words::launcher_jobs,
     "What sbatch submits: one array with an element for each cell, a job for each cell, or one job for all cells "
     "with their trials in random order",
     [](Draft& d, const V& v) { d.launcher.jobs = text(v); }},
    {"launcher.before", T::text, "''", nullptr, false, any, no_words,
     "Shell lines that each job of sbatch starts with, as `module load openmpi`",
     [](Draft& d, const V& v) { d.launcher.before = text(v); }},
    {"launcher.poll", T::real, "15", nullptr, false, above(0), no_words,
     "The longest interval, in seconds, between two polls of Slurm's queue while sbatch jobs are followed",
     [](Draft& d, const V& v) { d.launcher.poll_s = real(v); }},
};

const Section declared_sections[] = {
    {"model", true, "What is learned"},
    {"train", true, "How it is learned"},
    {"limits", false, "Limits of a trial; without effect on what is measured"},
    {"launcher", false,
     "How trials are started; docs/clusters.md describes the use of Slurm. A single word is its name: "
     "`launcher: srun`, which `--launcher srun` says, too",
     "name"},
};

constexpr const char* rules[] = {"zip", "exclude", "include"};
constexpr const char* whole_file[] = {"imports", "profiles", "profile"};

std::string number(double v) { return v == std::floor(v) ? fmt::format("{:.0f}", v) : fmt::format("{}", v); }

std::string range_text(const Range& r) {
    // A bound that only keeps a number within its type is no bound to a person.
    const bool low = r.minimum != -infinite, high = r.maximum < 1e9;
    if (!low && !high) return "";
    if (!high) return (r.open_minimum ? " above " : " of at least ") + number(r.minimum);
    return fmt::format(" between {} and {}{}", number(r.minimum), number(r.maximum),
                       r.open_maximum ? fmt::format(" ({} excluded)", number(r.maximum)) : "");
}

}  // namespace

bool Range::contains(double v) const {
    return (open_minimum ? v > minimum : v >= minimum) && (open_maximum ? v < maximum : v <= maximum);
}

std::span<const Field> fields() { return declared; }
std::span<const Section> sections() { return declared_sections; }
std::span<const char* const> matrix_rules() { return rules; }
std::span<const char* const> file_keys() { return whole_file; }

const Field* find_field(std::string_view path) {
    for (const Field& f : declared)
        if (path == f.path) return &f;
    return nullptr;
}

const Section* find_section(std::string_view name) {
    for (const Section& s : declared_sections)
        if (name == s.name) return &s;
    return nullptr;
}

std::string expectation(const Field& f) {
    switch (f.type) {
        case T::boolean:
            return "true or false";
        case T::integer:
            return "an integer" + range_text(f.range);
        case T::real:
            return "a number" + range_text(f.range);
        case T::text:
            return "text";
        case T::texts:
            return "a list of texts";
        case T::folder:
            return "a folder's path";
        case T::word:
            return fmt::format("one of: {}", fmt::join(f.words, ", "));
        case T::widths:
            return "a list of integers" + range_text(f.range);
        case T::per_layer:
            return fmt::format("a number{}, or a list with one per layer", range_text(f.range));
        case T::slowdown:
            return "a mapping from ranks to factors of at least 1, with a jitter between 0 and 1 if there is any: "
                   "{3: 2, jitter: 0.2}";
        case T::dataset:
            return "a dataset: a store's name, {store: name}, {path: file, …}, {generate: kind, …} or {expect: "
                   "profile, …}";
        default:
            return fmt::format("a {0}: a name, or {{name: …}} with the plugin's parameters", f.path);
    }
}

std::string_view last_word(std::string_view path) { return path.substr(path.find('.') + 1); }
std::string_view section_of(std::string_view path) { return path.substr(0, path.find('.')); }

}  // namespace gnnbench
