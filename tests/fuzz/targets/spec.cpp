// An experiment, from YAML to cells.
#include "fuzz/targets/mutate.hpp"
#include "fuzz/targets/target.hpp"

#include <unit/spec_fakes.hpp>

GNNBENCH_FUZZ_MUTATOR(gnnbench::fuzz::mutated_text)

GNNBENCH_FUZZ_TARGET(text) {
    static const gnnbench::test::FakePlugins plugins;
    static const gnnbench::test::FakeDatasets datasets;
    gnnbench::read_experiment(std::string(text), "exp.yaml", {{}, 8, 1, ""}, plugins, datasets);
}
