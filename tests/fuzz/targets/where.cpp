// An expression over cells: anything but an answer or a SpecError is a defect, and so is a cell that there is not.
#include "fuzz/targets/mutate.hpp"
#include "fuzz/targets/target.hpp"

#include "record/cell_filter.hpp"

using namespace gnnbench;

GNNBENCH_FUZZ_MUTATOR(gnnbench::fuzz::mutated_text)

GNNBENCH_FUZZ_TARGET(text) {
    static const std::vector<CellFields> cells = {
        {{"gpus", std::int64_t{2}}, {"scheme", std::string("mg-gcn")}, {"train.lr", 0.1}},
        {{"gpus", std::int64_t{4}}, {"scheme", std::string("serial")}, {"scheme.overlap", std::int64_t{1}}}};
    static const CellFilter filter(cells);
    if (filter.where(std::string(text)).size() != cells.size()) __builtin_trap();
}
