#include "spec/fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

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
constexpr Range seconds{0, 1e9, true};  // of a limit, which clocks can hold
constexpr Range below(double minimum, double maximum) { return {minimum, maximum, false, true}; }

/// part<&Cell::model, &ModelSpec::bias>(cell) is cell.model.bias.
template <auto... path>
constexpr auto& part(auto& whole) {
    return (whole.*....*path);
}

template <class To>
To value_as(const V& v) {
    if constexpr (std::is_same_v<To, bool> || !std::is_integral_v<To>)
        return std::get<To>(v);
    else
        return static_cast<To>(std::get<std::int64_t>(v));
}

template <class From>
FieldRef ref_to(const From& value) {
    if constexpr (std::is_same_v<From, bool> || std::is_same_v<From, double>)
        return value;
    else if constexpr (std::is_integral_v<From>)
        return static_cast<std::int64_t>(value);
    else if constexpr (std::is_same_v<From, std::string>)
        return std::string_view(value);
    else
        return &value;
}

template <auto... path>
void assign_to(auto& whole, const V& v) {
    auto& target = part<path...>(whole);
    target = value_as<std::remove_reference_t<decltype(target)>>(v);
}

/// Access to a member of Draft that is not part of a cell.
template <auto... path>
constexpr Access of_experiment{PartOf::experiment, [](Draft& d, const V& v) { assign_to<path...>(d, v); },
                               nullptr};

template <PartOf what, auto... path>
constexpr Access of_cell{what, [](Draft& d, const V& v) { assign_to<path...>(d.cell, v); },
                         [](const Cell& c) -> FieldRef { return ref_to(part<path...>(c)); }};
template <auto... path>
constexpr Access of_identity = of_cell<PartOf::identity, path...>;
template <auto... path>
constexpr Access of_verification = of_cell<PartOf::verification, path...>;

/// `given` is set where the key is: without it the value depends on others.
template <PartOf what, bool Draft::* given, auto... path>
constexpr Access of_cell_if_given{what,
                                  [](Draft& d, const V& v) {
                                      assign_to<path...>(d.cell, v);
                                      d.*given = true;
                                  },
                                  [](const Cell& c) -> FieldRef { return ref_to(part<path...>(c)); }, given};

/// An enumeration, by its words.
template <PartOf what, const auto& all, auto... path>
constexpr Access word_of_cell{what,
                              [](Draft& d, const V& v) {
                                  auto& target = part<path...>(d.cell);
                                  target = static_cast<std::remove_reference_t<decltype(target)>>(
                                      words::index_of(all, std::get<std::string>(v)));
                              },
                              [](const Cell& c) -> FieldRef {
                                  return std::string_view(all.at(static_cast<std::size_t>(part<path...>(c))));
                              }};
template <PartOf what, bool Draft::* given, const auto& all, auto... path>
constexpr Access word_of_cell_if_given{what,
                                       [](Draft& d, const V& v) {
                                           word_of_cell<what, all, path...>.assign(d, v);
                                           d.*given = true;
                                       },
                                       word_of_cell<what, all, path...>.of_cell, given};
template <const auto& all, auto... path>
constexpr Access word_of_verification = word_of_cell<PartOf::verification, all, path...>;

/// The declaration of every key, in the order of the reference page.
const Field declared[] = {
    {"name", T::text, nullptr, "the file's name without its ending", false, any, no_words,
     "What the experiment is called, in the database and in tables", of_experiment<&Draft::name>},
    {"description", T::text, "''", nullptr, false, any, no_words, "Its purpose, in a sentence or two",
     of_experiment<&Draft::description>},
    {"dataset", T::dataset, nullptr, nullptr, true, any, no_words,
     "The graph: a store's name, {store: name}, {path: file} with import options, {generate: kind} with its "
     "parameters, or {expect: profile}, which simulated ranks alone can train on",
     of_verification<&Cell::dataset>},
    {"scheme", T::strategy, nullptr, nullptr, true, any, no_words, "The parallel training algorithm, a plugin",
     of_verification<&Cell::scheme>},
    {"partitioner", T::partitioner, "block", nullptr, true, any, no_words,
     "How vertices are distributed over ranks, a plugin; without effect if there is one part",
     of_verification<&Cell::partitioner>},
    {"kernel", T::kernel, "cpu", nullptr, true, any, no_words, "The compute back end, a plugin",
     of_verification<&Cell::kernel>},
    {"gpus", T::integer, "1", nullptr, true, between(1, 65536), no_words,
     "Devices, each driven by one rank: GPUs under kernel cuda, shares of the CPU under kernel cpu",
     of_verification<&Cell::gpus>},
    {"threads_per_rank", T::integer, nullptr, "cores ÷ ranks of one host, at least 1", true, between(1, 4096),
     no_words, "CPU threads of each rank",
     of_cell_if_given<PartOf::identity, &Draft::threads_given, &Cell::threads_per_rank>},
    {"precision", T::word, "float32", nullptr, true, any, words::precision, "The type of all matrices",
     of_verification<&Cell::precision>},
    {"epochs", T::integer, "20", "20; 1 of ranks that are simulated without values", true, between(1, 1e9),
     no_words, "Measured epochs of a trial",
     of_cell_if_given<PartOf::identity, &Draft::epochs_given, &Cell::epochs>},
    {"warmup", T::integer, "2", nullptr, true, between(0, 1e9), no_words,
     "Epochs before the measured ones; stored and flagged, left out of times", of_identity<&Cell::warmup>},
    {"trials", T::integer, "3", nullptr, false, between(1, 1e6), no_words,
     "Launches of each cell; comparisons give a verdict from 6 on", of_experiment<&Draft::trials>},
    {"seed", T::integer, "0", nullptr, true, from(0), no_words,
     "Seed of initial weights, dropout masks and random partitions", of_identity<&Cell::train, &TrainSpec::seed>},
    {"separate_wait", T::boolean, "false", nullptr, true, any, no_words,
     "Whether a barrier before each communication separates waiting for late ranks from moving data; costs time",
     of_identity<&Cell::separate_wait>},
    {"slowdown", T::slowdown, "{}", nullptr, true, any, no_words,
     "How much slower than they could ranks train, in schemes that train by batches: after each batch, rank 3 in "
     "{3: 2} is busy for (2 − 1) × the processor time that the batch took; a simulated rank takes 2 × as "
     "long. Jitter j multiplies every rank's factor, for each batch, by a number drawn by the seed from 1 − j to "
     "1 "
     "+ j, spread s by e^(s·z), z drawn from a normal distribution; what a real rank would take less time by is "
     "left out. With lasts t both are drawn anew only every t seconds, of virtual time where ranks are simulated; "
     "a pace is relative to a median one, so that some are faster. Shown as text, which is none without a "
     "slowdown",
     of_identity<&Cell::slowdown>},

    {"model.layers", T::word, "gcn", nullptr, true, any, words::layers,
     "The kind of all layers: graph convolutions; GraphSAGE with the mean of the neighbours and self weights; GIN "
     "with an MLP of two linear maps; GAT and GATv2, whose vertices attend to their neighbours",
     word_of_verification<words::layers, &Cell::model, &ModelSpec::kind>},
    {"model.hidden", T::widths, "[16]", nullptr, true, between(1, 1e6), no_words,
     "Widths of the hidden layers; [] is a model of one layer", of_verification<&Cell::model, &ModelSpec::widths>,
     "widths"},
    {"model.activation", T::word, "relu", nullptr, true, any, words::activation, "After every layer but the last",
     word_of_verification<words::activation, &Cell::model, &ModelSpec::activation>},
    {"model.normalisation", T::word, nullptr, "symmetric for gcn; sage has mean, gin, gat and gatv2 have none",
     true, any, words::normalisation,
     "Of the adjacency matrix: D^-½ A D^-½, each row divided by its sum, or as it is",
     word_of_cell_if_given<PartOf::verification, &Draft::normalisation_given, words::normalisation, &Cell::model,
                           &ModelSpec::normalisation>},
    {"model.feature_normalisation", T::word, "none", nullptr, true, any, words::feature_normalisation,
     "row: each vertex's features are divided by their sum",
     word_of_verification<words::feature_normalisation, &Cell::model, &ModelSpec::feature_normalisation>},
    {"model.self_loops", T::boolean, nullptr, "true for gcn, gat and gatv2; sage and gin have none", true, any,
     no_words, "Whether every vertex without a loop gets one of weight 1",
     of_cell_if_given<PartOf::verification, &Draft::self_loops_given, &Cell::model, &ModelSpec::self_loops>},
    {"model.epsilon", T::real, "0", nullptr, true, any, no_words,
     "GIN's ε, which is not trained: a vertex's own row counts 1 + ε times",
     of_verification<&Cell::model, &ModelSpec::epsilon>},
    {"model.heads", T::count_per_layer, "1", nullptr, true, between(1, 1024), no_words,
     "Heads of GAT and GATv2: one number for all layers, or one for each, hidden ones and the last",
     of_verification<&Cell::model, &ModelSpec::heads>, nullptr, true},
    {"model.combine", T::word, "concat", nullptr, true, any, words::heads_combined,
     "What a hidden layer of GAT or GATv2 makes of its heads: their columns, of which the width is a multiple of "
     "the "
     "heads, or "
     "their mean; the last layer has the mean",
     word_of_verification<words::heads_combined, &Cell::model, &ModelSpec::combine>, nullptr, true},
    {"model.negative_slope", T::real, "0.2", nullptr, true, between(0, 1), no_words,
     "Of the leaky ReLU of GAT's and GATv2's scores", of_verification<&Cell::model, &ModelSpec::negative_slope>,
     nullptr, true},
    {"model.residual", T::boolean, "false", nullptr, true, any, no_words,
     "Whether a layer of GAT or GATv2 adds a vertex's own row by weights of its own",
     of_verification<&Cell::model, &ModelSpec::residual>, nullptr, true},
    {"model.attention_dropout", T::real, "0", nullptr, true, below(0, 1), no_words,
     "Share of GAT's and GATv2's coefficients, of which an entry has one a head, that training drops after the "
     "softmax; the "
     "others are scaled by 1 / (1 − share)",
     of_verification<&Cell::model, &ModelSpec::attention_dropout>, nullptr, true},
    {"model.share_weights", T::boolean, "false", nullptr, true, any, no_words,
     "Whether a layer of GATv2 has one matrix for the row that attends and for those attended to",
     of_verification<&Cell::model, &ModelSpec::share_weights>, nullptr, true},
    {"model.bias", T::boolean, "true", nullptr, true, any, no_words, "Whether layers add a trained bias",
     of_verification<&Cell::model, &ModelSpec::bias>},
    {"model.initialiser", T::word, "glorot", nullptr, true, any, words::initialiser, "Of the weights",
     word_of_verification<words::initialiser, &Cell::model, &ModelSpec::initialiser>},
    {"model.aggregate_input", T::boolean, "false", nullptr, true, any, no_words,
     "Whether ÂX is computed once at set-up, so that layer 0 has no SpMM in an epoch; input dropout then falls on "
     "it, and in GraphSAGE on [X, ÂX], instead of on X",
     of_verification<&Cell::model, &ModelSpec::aggregate_input>},
    {"model.sparse_features", T::boolean, "false", nullptr, true, any, no_words,
     "Whether X is a sparse matrix in layer 0's products, X·W and the weight gradient, as far as the scheme's "
     "order "
     "has them",
     of_verification<&Cell::model, &ModelSpec::sparse_features>},

    {"train.optimizer", T::word, "adam", nullptr, true, any, words::optimizer, "The optimizer",
     word_of_cell<PartOf::identity, words::optimizer, &Cell::train, &TrainSpec::optimizer>},
    {"train.lr", T::real, "0.01", nullptr, true, above(0), no_words, "Learning rate",
     of_identity<&Cell::train, &TrainSpec::learning_rate>},
    {"train.weight_decay", T::per_layer, "0", nullptr, true, from(0), no_words,
     "Of the weights, not of the biases: one number for all layers, or a list with one per layer",
     of_identity<&Cell::train, &TrainSpec::weight_decay>},
    {"train.dropout", T::real, "0", nullptr, true, below(0, 1), no_words,
     "Probability that an element of a hidden layer's input is dropped",
     of_verification<&Cell::train, &TrainSpec::dropout>},
    {"train.input_dropout", T::real, nullptr, "the same as train.dropout", true, below(0, 1), no_words,
     "The same for the first layer's input, the features",
     of_cell_if_given<PartOf::verification, &Draft::input_dropout_given, &Cell::train, &TrainSpec::input_dropout>},
    {"train.beta1", T::real, "0.9", nullptr, true, below(0, 1), no_words, "Adam's decay of the first moment",
     of_identity<&Cell::train, &TrainSpec::beta1>},
    {"train.beta2", T::real, "0.999", nullptr, true, below(0, 1), no_words, "Adam's decay of the second moment",
     of_identity<&Cell::train, &TrainSpec::beta2>},
    {"train.epsilon", T::real, "1e-8", nullptr, true, above(0), no_words, "Adam's guard against division by zero",
     of_identity<&Cell::train, &TrainSpec::epsilon>},
    {"train.evaluate_every", T::integer, "0", nullptr, true, between(0, 1e9), no_words,
     "Epochs between evaluations of accuracy, or of micro-F1 where vertices have several labels; 0: only after "
     "the last",
     of_identity<&Cell::evaluate_every>},
    {"train.patience", T::integer, "0", nullptr, true, between(0, 1e9), no_words,
     "Evaluations without a better validation accuracy or micro-F1 before training stops early; 0: never",
     of_identity<&Cell::patience>},
    {"train.initial_weights", T::folder, "''", nullptr, true, any, no_words,
     "Folder of W0.npy, b0.npy, W1.npy … (sage: W0_self, W0_neighbour, b0; gin: W0_first, b0_first, W0_second, "
     "b0_second); empty: weights are drawn from the seed",
     of_identity<&Cell::initial_weights>},

    {"limits.trial_timeout", T::real, "3600", nullptr, false, seconds, no_words,
     "Seconds after which a trial is ended as timeout", of_experiment<&Draft::limits, &Limits::trial_timeout_s>},
    {"limits.verify_timeout", T::real, "600", nullptr, false, seconds, no_words,
     "Seconds after which a verification, or the step checked after a measured trial, is ended",
     of_experiment<&Draft::limits, &Limits::verify_timeout_s>},
    {"limits.memory_per_rank", T::real, nullptr,
     "a share of the host's under the kernels in host memory, else unknown", false, above(0), no_words,
     "GiB of one device; a cell that cannot fit is skipped, with the number, unless `--force` is given",
     of_experiment<&Draft::limits, &Limits::memory_per_rank_gib>},

    {"launcher.name", T::text, "local", nullptr, false, any, no_words,
     "What starts the ranks: `gnnbench launcher list` shows the launchers of the program, the user and the site",
     of_experiment<&Draft::launcher, &LauncherChoice::name>},
    {"launcher.partition", T::text, nullptr, "the scheduler's default", false, any, no_words,
     "The scheduler's partition or queue", of_experiment<&Draft::launcher, &LauncherChoice::partition>},
    {"launcher.account", T::text, nullptr, "the scheduler's default", false, any, no_words,
     "The account or project that pays", of_experiment<&Draft::launcher, &LauncherChoice::account>},
    {"launcher.time", T::text, nullptr, "the sum of its trials' limits", false, any, no_words,
     "Time limit of a job, as the scheduler writes it; Slurm: minutes, \"1:30:00\", \"2-00:00:00\" (with quotes)",
     of_experiment<&Draft::launcher, &LauncherChoice::time>},
    {"launcher.nodes", T::integer, nullptr, "as few as the ranks need", false, between(1, 65536), no_words,
     "Nodes over which ranks are distributed", of_experiment<&Draft::launcher, &LauncherChoice::nodes>},
    {"launcher.gpus", T::word, "auto", nullptr, false, any, words::launcher_gpus,
     "How GPUs are requested from the scheduler for a kernel that needs them: one for each rank if the nodes have "
     "them, or not at all, leaving it to `options`",
     of_experiment<&Draft::launcher, &LauncherChoice::gpus>},
    {"launcher.mpi", T::text, nullptr, "pmix under Open MPI, pmi2 under MPICH", false, any, no_words,
     "srun's `--mpi`", of_experiment<&Draft::launcher, &LauncherChoice::mpi>},
    {"launcher.hosts", T::text, nullptr, "none", false, any, no_words,
     "File of hosts, one a line as mpiexec reads it, for the launcher ssh",
     of_experiment<&Draft::launcher, &LauncherChoice::hosts>},
    {"launcher.options", T::texts, "[]", nullptr, false, any, no_words,
     "Further options of the commands that request resources, one each: [--constraint=a100, --exclusive]",
     of_experiment<&Draft::launcher, &LauncherChoice::options>},
    {"launcher.jobs", T::word, "array", nullptr, false, any, words::launcher_jobs,
     "What a launcher with jobs submits: one array with an element for each cell, a job for each cell, or one job "
     "for "
     "all cells with their trials in random order",
     of_experiment<&Draft::launcher, &LauncherChoice::jobs>},
    {"launcher.before", T::text, "''", nullptr, false, any, no_words,
     "Shell lines that each job starts with, as `module load openmpi`",
     of_experiment<&Draft::launcher, &LauncherChoice::before>},
    {"launcher.poll", T::real, "15", nullptr, false, above(0), no_words,
     "The longest interval, in seconds, between two polls of the scheduler's queue while jobs are followed",
     of_experiment<&Draft::launcher, &LauncherChoice::poll_s>},
};

const Section declared_sections[] = {
    {"model", true, "What is learned"},
    {"train", true, "How it is learned"},
    {"limits", false, "Limits of a trial; without effect on what is measured"},
    {"launcher", false,
     "How trials are started; docs/clusters.md describes the use of schedulers. A single word is its name: "
     "`launcher: srun`, which `--launcher srun` says, too",
     "name"},
};

constexpr const char* rules[] = {"zip", "exclude", "include"};
constexpr const char* whole_file[] = {"imports", "profiles", "profile"};

std::string number(double v) { return v == std::floor(v) ? fmt::format("{:.0f}", v) : fmt::format("{}", v); }

std::string range_text(const Range& r) {
    const bool low = r.minimum != -infinite, high = r.maximum != infinite;
    if (!low && !high) return "";
    if (!high) return (r.open_minimum ? " above " : " of at least ") + number(r.minimum);
    if (r.open_minimum) return fmt::format(" above {} and at most {}", number(r.minimum), number(r.maximum));
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

namespace {

bool is_plugin(const Field& f) { return f.type == T::strategy || f.type == T::partitioner || f.type == T::kernel; }

}  // namespace

std::vector<ChoosableField> choosable_fields() {
    std::vector<ChoosableField> all;
    for (const Field& f : declared) {
        if (!f.access.of_cell) continue;
        all.push_back({f.path, f.help});
        if (is_plugin(f)) all.push_back({fmt::format("{}_label", f.path), "With what differs from its defaults"});
        if (f.type == T::widths) all.push_back({"model.depth", "Number of layers: hidden ones and the last"});
    }
    return all;
}

bool is_choosable(std::string_view name) {
    for (const Field& f : declared)
        if ((is_plugin(f) || f.type == T::dataset) && name.starts_with(f.path) &&
            name.substr(std::string_view(f.path).size()).starts_with('.'))
            return true;
    return std::ranges::any_of(choosable_fields(), [&](const ChoosableField& f) { return f.name == name; });
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
        case T::count_per_layer:
            return fmt::format("an integer{}, or a list with one per layer", range_text(f.range));
        case T::per_layer:
            return fmt::format("a number{}, or a list with one per layer", range_text(f.range));
        case T::slowdown:
            return "a mapping from ranks to factors of at least 1, with a jitter and a spread between 0 and 1 if "
                   "there are any, and for how many seconds drawn numbers last: {3: 2, jitter: 0.2, lasts: 10}";
        case T::dataset:
            return "a dataset: a store's name, {store: name}, {path: file, …}, {generate: kind, …} or {expect: "
                   "profile, …}";
        default:
            return fmt::format("a {0}: a name, or {{name: …}} with the plugin's parameters", f.path);
    }
}

FieldValue copied(const FieldRef& ref) {
    return std::visit(
        [](const auto& v) -> FieldValue {
            using From = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<From, std::string_view>)
                return std::string(v);
            else if constexpr (std::is_pointer_v<From>)
                return *v;
            else
                return v;
        },
        ref);
}

std::string_view Field::key() const { return json_key ? json_key : last_word(path); }

std::string_view last_word(std::string_view path) { return path.substr(path.find('.') + 1); }
std::string_view section_of(std::string_view path) { return path.substr(0, path.find('.')); }

}  // namespace gnnbench
