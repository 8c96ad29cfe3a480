#include "spec/metrics.hpp"

#include <array>

namespace gnnbench {
namespace {

using K = MetricKind;

constexpr std::array all_metrics{
    Metric{"epoch_s", "s", K::time,
           "time of an epoch: the slowest rank's, median over epochs; where ranks do not end epochs together, the "
           "mean"},
    Metric{"training_s", "s", K::time, "all measured epochs together; with `until`, as many as a score took"},
    Metric{"setup_s", "s", K::time, "loading, partitioning and building, before the first epoch"},
    Metric{"load_s", "s", K::time, "of it, reading the data"},
    Metric{"partition_s", "s", K::time, "of it, partitioning"},
    Metric{"build_s", "s", K::time, "of it, building each rank's matrices"},
    Metric{"exposed_comm_s", "s", K::time, "communication not hidden by computation, of the slowest rank"},
    Metric{"communication_s", "s", K::time, "the phases comm and wait: mean over ranks and epochs"},
    Metric{"computation_s", "s", K::time, "all other phases, likewise"},
    Metric{"spmm_s", "s", K::time, "the phase spmm, likewise; so the following"},
    Metric{"gemm_s", "s", K::time, "the phase gemm"},
    Metric{"activation_s", "s", K::time, "the phase activation"},
    Metric{"loss_s", "s", K::time, "the phase loss"},
    Metric{"optimizer_s", "s", K::time, "the phase optimizer"},
    Metric{"pack_s", "s", K::time, "the phase pack"},
    Metric{"sampling_s", "s", K::time, "the phase sampling: training waits for its next batch"},
    Metric{"comm_s", "s", K::time, "the phase comm"},
    Metric{"wait_s", "s", K::time, "the phase wait"},
    Metric{"other_s", "s", K::time, "the phase other"},
    Metric{
        "product_s", "s", K::time,
        "one distributed SpMM of a traced epoch, the first that moves most bytes: from its first rank's begin to "
        "its last one's end"},
    Metric{"spmm_share", "", K::time, "the phase spmm divided by all phases; likewise the following"},
    Metric{"gemm_share", "", K::time, "the phase gemm"},
    Metric{"activation_share", "", K::time, "the phase activation"},
    Metric{"loss_share", "", K::time, "the phase loss"},
    Metric{"optimizer_share", "", K::time, "the phase optimizer"},
    Metric{"sent_bytes_per_epoch", "B", K::volume, "payload sent in an epoch by all ranks, mean over epochs"},
    Metric{"mean_sent_bytes", "B", K::volume, "the same for a rank, mean over ranks"},
    Metric{"mean_point_to_point_bytes", "B", K::volume,
           "of it, messages between two ranks: rows of the halo, without gradients"},
    Metric{"max_sent_bytes", "B", K::volume, "the same for the rank that sends most"},
    Metric{"messages_per_epoch", "", K::volume, "messages of an epoch, all ranks"},
    Metric{"mean_messages", "", K::volume, "the same for a rank, mean over ranks"},
    Metric{"max_messages", "", K::volume, "the same for the rank that sends most"},
    Metric{"final_loss", "", K::quality, "loss of the last epoch"},
    Metric{"train_accuracy", "", K::quality,
           "of the last evaluation; of a dataset with several labels a vertex it is micro-F1; likewise the "
           "following"},
    Metric{"validation_accuracy", "", K::quality, "on the validation split"},
    Metric{"test_accuracy", "", K::quality, "on the test split"},
    Metric{
        "stale_epochs", "", K::quality,
        "how many epochs old the rows of other ranks were, where a scheme computes with old ones: mean over rows, "
        "layers and measured epochs"},
    Metric{"peak_memory_bytes", "B", K::memory, "of the rank that needs most"},
    Metric{"energy_j_per_epoch", "J", K::time,
           "energy of an epoch, mean over measured epochs: of the hosts' processors with their DRAM and of the "
           "devices, "
           "whoever else uses them"},
    Metric{"host_energy_j_per_epoch", "J", K::time, "of it, the hosts' processors with their DRAM"},
    Metric{"device_energy_j_per_epoch", "J", K::time, "of it, the devices"},
    Metric{"edge_cut", "", K::partition, "edges between parts"},
    Metric{"connectivity_minus_one", "", K::partition,
           "sum over vertices of the number of other parts that need it"},
    Metric{"vertex_imbalance", "", K::partition, "largest part over mean part, in vertices"},
    Metric{"nonzero_imbalance", "", K::partition, "the same in nonzeros, the diagonal included"},
    Metric{"vertices", "", K::data, "of the graph"},
    Metric{"edges", "", K::data, "stored entries; an undirected edge counts twice"},
    Metric{"average_degree", "", K::data, "edges over vertices"},
    Metric{"features", "", K::data, "of a vertex"},
    Metric{"classes", "", K::data, "of labels"},
};

constexpr std::array all_units{
    ShownUnit{"h", "s", 3600},          ShownUnit{"s", "s", 1},           ShownUnit{"ms", "s", 1e-3},
    ShownUnit{"µs", "s", 1e-6},         ShownUnit{"B", "B", 1},           ShownUnit{"kB", "B", 1e3},
    ShownUnit{"MB", "B", 1e6},          ShownUnit{"GB", "B", 1e9},        ShownUnit{"J", "J", 1},
    ShownUnit{"mJ", "J", 1e-3},         ShownUnit{"kJ", "J", 1e3},        ShownUnit{"MJ", "J", 1e6},
    ShownUnit{"Wh", "J", 3600},         ShownUnit{"%", "", 1e-2},         ShownUnit{"thousand", "", 1e3},
    ShownUnit{"million", "", 1e6},      ShownUnit{"billion", "", 1e9},    ShownUnit{"×", "", 1},
    ShownUnit{"devices", "devices", 1}, ShownUnit{"epochs", "epochs", 1}, ShownUnit{"", "", 1},
};

template <class All>
const auto* named(const All& all, std::string_view name) {
    for (const auto& one : all)
        if (one.name == name) return &one;
    return static_cast<decltype(&all[0])>(nullptr);
}

}  // namespace

std::span<const Metric> metrics() { return all_metrics; }
const Metric* find_metric(std::string_view name) { return named(all_metrics, name); }
std::span<const ShownUnit> shown_units() { return all_units; }
const ShownUnit* find_unit(std::string_view name) { return named(all_units, name); }

}  // namespace gnnbench
