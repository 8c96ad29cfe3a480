#pragma once
#include "record/comparison.hpp"

namespace gnnbench {

namespace sqlite {
class Connection;
}

/// The experiment's axis, as it last ran.
ScalingAxis declared_scaling(const sqlite::Connection& connection, std::int64_t experiment);

/// Of weak scaling: datasets that differ in nothing but the parameter that grows as the GPUs do are one series, named by its
/// smallest: "dcsbm-20000x40 on 1 gpu, vertices × gpus". Cells of another size for their GPUs are of another series.
void name_series(ComparisonData& data);

/// Of strong scaling speed-up ÷ (GPUs ÷ the base's GPUs). Of weak scaling the base's time ÷ the cell's, where the base is
/// serial on one GPU of the series if that was measured, else the same scheme, with the same partitioner or none, on its
/// fewest GPUs; speed-ups are removed, since each is over a problem of another size, or over itself.
void add_efficiencies(ComparisonData& data);

}  // namespace gnnbench
