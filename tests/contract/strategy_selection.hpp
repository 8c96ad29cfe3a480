#pragma once
#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "contract/backend_choice.hpp"
#include "contract/strategy_case.hpp"
#include "mpi/mpi.hpp"

/// What the contract of strategies runs over: strategies, partitioners and kernels that there are, and how much of their
/// product.
namespace gnnbench::contract {

inline std::vector<std::string> usable(PluginKind kind) {
    std::vector<std::string> names;
    for (const ListedPlugin& p : catalog().list())
        if (p.kind == kind && p.usable()) names.push_back(p.name);
    return names;
}

/// One for each kind of layout: equal blocks, balanced by nonzeros or refused, cut, and without locality. The others
/// are tested for what they promise in partitioner_contract.cpp, and a strategy sees parts alone.
inline std::vector<std::string> layouts() {
    std::vector<std::string> names = usable(PluginKind::partitioner);
    std::erase_if(names, [](const std::string& name) {
        return name != "block" && name != "hypergraph" && name != "metis" && name != "random";
    });
    return names;
}

inline std::vector<std::string> full_batch_strategies() {
    std::vector<std::string> names = usable(PluginKind::strategy);
    std::erase_if(names, [](const std::string& name) { return trains_on_batches(catalog(), name); });
    return names;
}

/// float64 on `reference`, and float32 on every back end this machine can serve; or float32 on the one that is asked
/// for.
inline std::vector<KernelVariant> kernels() {
    std::vector<KernelVariant> out;
    if (asked_backend().empty()) out.push_back({"reference", DType::f64});
    for (const BackendChoice& choice : backend_choices(catalog())) {
        const KernelVariant k{choice.name, DType::f32, choice.params};
        const std::string why = catalog().kernel(k.name)->why_unsupported(kernel_setting_of(k));
        if (why.empty())
            out.push_back(k);
        else if (!asked_backend().empty())
            FAIL("skipped: kernel " << k.name << ": "
                                    << why);  // CTest may know a machine without it by these words
    }
    return out;
}

/// Why a strategy with default parameters does not serve a model at so many ranks; empty when it does.
inline std::string refusal_at(int ranks, const std::string& name, const ModelVariant& v = {.name = "default"}) {
    const ModelSpec model = v.complete_model();
    const TrainSpec train = v.complete_train();
    const StrategyVariant s = variants(name)[0];
    return catalog().strategy(name)->why_unsupported({ranks, model, train, s.params});
}
inline std::string refusal(const std::string& name, const ModelVariant& v = {.name = "default"}) {
    return refusal_at(mpi_world().size(), name, v);
}

/// Those with something to test at this many ranks. The others are named by a test of their own, below.
inline std::vector<std::string> served_strategies() {
    std::vector<std::string> names = full_batch_strategies();
    std::erase_if(names, [](const std::string& name) { return !refusal(name).empty(); });
    return names;
}

/// GNNBENCH_CONTRACT=full: every case also of the tests of one process of which CI takes some.
inline bool every_case() {
    const char* asked = std::getenv("GNNBENCH_CONTRACT");
    return asked && std::string(asked) == "full";
}

/// One case in so many is run. GNNBENCH_CONTRACT asks for "full", a "third", a "sixth", a "twelfth" or a
/// "twentyfourth"; without it every case at 1 rank, a sixth at 2 to 4, and above, where a case takes long, a twelfth.
inline std::size_t one_case_in() {
    const char* asked = std::getenv("GNNBENCH_CONTRACT");
    const int ranks = mpi_world().size();
    const std::string request = asked ? asked : "";
    if (request == "full") return 1;
    if (request == "third") return 3;
    if (request == "sixth") return 6;
    if (request == "twelfth") return 12;
    if (request == "twentyfourth") return 24;
    return ranks == 1 ? 1 : ranks <= 4 ? 6 : 12;
}

/// A variant with one partitioner or kernel meets some of the graphs or models, with the next one others; at 2, 3 and 4 ranks each
/// time other ones, and at 6 and 8. A strategy's first case runs at every number of ranks.
inline bool of_selection(std::size_t place) {
    const std::size_t stride = one_case_in();
    if (place == 0) return true;
    const auto ranks = static_cast<std::size_t>(mpi_world().size());
    // By 24, 3 and 4 ranks begin where a scheme's defaults meet a model that attends, too.
    if (stride > 1) place += stride == 24 ? 3 * ranks : stride == 12 ? ranks / 2 : ranks;
    return place % stride == 0;
}

}  // namespace gnnbench::contract
