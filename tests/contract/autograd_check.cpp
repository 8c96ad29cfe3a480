// `serial` on `reference` in float64 against PyTorch: losses and gradients by its autograd, weights by its optimizers.
// Every other check ends at serial, which shares its trainer with half the schemes; this one ends outside the tree.
// autograd/make.py wrote autograd/cases.json.
#include "contract/serial_training.hpp"
#include "contract/torch_cases.hpp"

using namespace gnnbench;
using namespace gnnbench::contract::torch;
using contract::SerialTraining;

namespace {

constexpr double allowed = 1e-10;

}  // namespace

TEST_CASE("serial has the losses and gradients of PyTorch's autograd, and its optimizers' weights") {
    const json made = read_cases("autograd/cases.json");
    const PluginCatalog catalog;
    int optimizers_seen = 0, kinds_seen = 0, label_matrices = 0;
    for (const json& c : made.at("cases")) {
        const OwnedDataset owned =
            dataset(made.at("graphs").at(c.at("graph").get<std::size_t>()), c.at("widths").at(0));
        ModelSpec model = model_of(c);
        const TrainSpec train = training_of(c, made.at("learning_rate"));
        const ModelWeights initial = matrices(c.at("initial"), model);
        const bool trained = c.at("trained_features");
        optimizers_seen |= 1 << static_cast<int>(train.optimizer);
        kinds_seen |= 1 << static_cast<int>(model.kind);
        label_matrices += owned.view().multi_label();
        for (const bool aggregate : {false, true}) {
            if (trained && aggregate) continue;  // X changes
            model.aggregate_input = aggregate;
            const SerialTraining found = contract::train_serially(catalog, owned.view(), model, train, &initial,
                                                                  made.at("epochs"), trained);
            INFO(owned.name << ", layers " << c.at("layers") << ", widths " << c.at("widths") << ", "
                            << c.at("activation") << ", " << c.at("normalisation") << ", bias " << c.at("bias")
                            << ", self-loops " << c.at("self_loops") << ", " << c.at("optimizer")
                            << ", trained features " << trained << ", aggregated input " << aggregate);
            for (std::size_t e = 0; e < found.loss.size(); ++e) {
                const double wanted = c.at("loss").at(e);
                INFO("epoch " << e << ": loss " << found.loss[e] << ", PyTorch's " << wanted);
                CHECK(std::abs(found.loss[e] - wanted) <= allowed * wanted);
            }
            const double of_gradient = worst_error(found.gradient[0], matrices(c.at("gradient"), model));
            const double of_weights = worst_error(found.weights, matrices(c.at("final"), model));
            INFO("gradient error " << of_gradient << ", error of the final weights " << of_weights);
            CHECK(of_gradient <= allowed);
            CHECK(of_weights <= allowed);
        }
    }
    CHECK(optimizers_seen == 7);
    CHECK(kinds_seen == 7);
    CHECK(label_matrices == 9);
}
