#pragma once
#include <array>
#include <string_view>

/// How YAML, cells and databases spell the enumerations of model.hpp: in the order of their values.

namespace gnnbench::words {

inline constexpr std::array activation{"identity", "relu", "leaky_relu", "sigmoid", "elu"};
inline constexpr std::array normalisation{"symmetric", "mean", "none"};
inline constexpr std::array feature_normalisation{"none", "row"};
inline constexpr std::array initialiser{"glorot", "kaiming"};
inline constexpr std::array optimizer{"sgd", "adam", "adamw"};
inline constexpr std::array precision{"float32", "float64"};
inline constexpr std::array layers{"gcn", "sage", "gin", "gat", "gatv2"};
inline constexpr std::array heads_combined{"concat", "mean"};
inline constexpr std::array launcher_gpus{"auto", "none"};
inline constexpr std::array launcher_jobs{"array", "cell", "one"};

/// Position of `word`, or −1.
template <std::size_t n>
constexpr int index_of(const std::array<const char*, n>& all, std::string_view word) {
    for (std::size_t i = 0; i < n; ++i)
        if (word == all[i]) return static_cast<int>(i);
    return -1;
}

}  // namespace gnnbench::words
