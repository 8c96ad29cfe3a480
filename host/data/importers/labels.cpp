#include <data/importers/labels.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

void take_classes(RawDataset& data, std::span<const double> values, const std::string& what) {
    if (values.empty()) throw DataError(fmt::format("{} is empty", what));
    data.labels.resize(values.size());
    std::int32_t largest = -1;
    for (std::size_t v = 0; v < values.size(); ++v) {
        const double value = std::isnan(values[v]) ? -1 : values[v];
        if (value < -1 || value >= static_cast<double>(most_classes) || value != std::floor(value))
            throw DataError(
                fmt::format("{} has the class {} for vertex {}, allowed are 0 to {}, and -1 for unknown", what,
                            value, v, most_classes - 1));
        data.labels[v] = static_cast<std::int32_t>(value);
        largest = std::max(largest, data.labels[v]);
    }
    data.classes = std::max(1, largest + 1);
}

void check_label_columns(std::int64_t n, std::int64_t classes, const std::string& what) {
    if (classes < 2 || classes > most_classes)
        throw DataError(
            fmt::format("{} is a label matrix of {} classes, allowed are 2 to {}; one label a vertex has the "
                        "shape ({})",
                        what, classes, most_classes, n));
}

void take_label_matrix(RawDataset& data, std::span<const double> values, std::int64_t n, std::int64_t classes,
                       const std::string& what) {
    check_label_columns(n, classes, what);
    const auto size = array_elements(what, {n, classes}, sizeof(std::uint8_t));
    if (values.size() != size)
        throw DataError(fmt::format("{} has {} values, expected {} × {}", what, values.size(), n, classes));
    for (std::size_t i = 0; i < size; ++i)
        if (values[i] != 0 && values[i] != 1)
            throw DataError(fmt::format("{} has {} for vertex {} and class {}, allowed are 0 and 1", what,
                                        values[i], i / usize(classes), i % usize(classes)));
    data.classes = static_cast<std::int32_t>(classes);
    data.label_matrix.assign(values.begin(), values.end());
}

}  // namespace gnnbench
