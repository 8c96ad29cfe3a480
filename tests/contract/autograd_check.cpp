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

/// What the cases of a file had.
struct Seen {
    int optimizers = 0, kinds = 0, label_matrices = 0;
};

Seen check_cases(const std::string& file) {
    const json made = read_cases(file);
    const PluginCatalog catalog;
    Seen seen;
    for (const json& c : made.at("cases")) {
        const OwnedDataset owned =
            dataset(made.at("graphs").at(c.at("graph").get<std::size_t>()), c.at("widths").at(0));
        ModelSpec model = model_of(c);
        const TrainSpec train = training_of(c, made.at("learning_rate"));
        const ModelWeights initial = matrices(c.at("initial"), model);
        const bool trained = c.at("trained_features"), attends = model.attends();
        seen.optimizers |= 1 << static_cast<int>(train.optimizer);
        seen.kinds |= 1 << static_cast<int>(model.kind);
        seen.label_matrices += owned.view().multi_label();
        for (const bool aggregate : {false, true}) {
            if ((trained || attends) && aggregate) continue;  // X changes, or is transformed first
            model.aggregate_input = aggregate;
            const SerialTraining found = contract::train_serially(catalog, owned.view(), model, train, &initial,
                                                                  made.at("epochs"), trained);
            INFO(owned.name << ", layers " << c.at("layers") << ", widths " << c.at("widths") << ", "
                            << c.at("activation") << ", " << c.at("normalisation") << ", bias " << c.at("bias")
                            << ", self-loops " << c.at("self_loops") << ", " << c.at("optimizer")
                            << ", trained features " << trained << ", aggregated input " << aggregate
                            << (attends ? ", heads " + c.at("heads").dump() : ""));
            for (std::size_t e = 0; e < found.loss.size(); ++e) {
                const double wanted = c.at("loss").at(e);
                INFO("epoch " << e << ": loss " << found.loss[e] << ", PyTorch's " << wanted);
                CHECK(std::abs(found.loss[e] - wanted) <= allowed * wanted);
            }
            // Where all of a row's scores are on one side of λ's kink, the row's own vector has no gradient.
            const double least = attends ? 1e-5 : 1e-12;
            const double of_gradient = worst_error(found.gradient[0], matrices(c.at("gradient"), model), least);
            const double of_weights = worst_error(found.weights, matrices(c.at("final"), model));
            INFO("gradient error " << of_gradient << ", error of the final weights " << of_weights);
            CHECK(of_gradient <= allowed);
            // And of such a gradient's last digits Adam makes steps.
            CHECK(of_weights <= (attends && train.optimizer != OptimizerKind::sgd ? 1e-8 : allowed));
        }
    }
    return seen;
}

}  // namespace

TEST_CASE("serial has the losses and gradients of PyTorch's autograd, and its optimizers' weights") {
    const Seen seen = check_cases("autograd/cases.json");
    CHECK(seen.optimizers == 7);
    CHECK(seen.kinds == 7);
    CHECK(seen.label_matrices == 9);
}

TEST_CASE("so has attention, of one to eight heads, on vertices without anybody to attend to, too") {
    const Seen seen = check_cases("attention/cases.json");
    CHECK(seen.optimizers == 7);
    CHECK(seen.kinds == 24);
}
