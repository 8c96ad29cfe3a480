#pragma once

namespace gnnbench {

/// Of the parts of a partition, the largest ÷ their mean; 1: all alike.
struct PartImbalance {
    double vertices = 1;
    double nonzeros = 1;  ///< of a part's rows, with their diagonal
    double halo = 1;      ///< of the rows that a part needs of others

    bool operator==(const PartImbalance&) const = default;
    bool even() const { return *this == PartImbalance{}; }
};

}  // namespace gnnbench
