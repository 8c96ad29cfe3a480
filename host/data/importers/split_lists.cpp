#include <data/importers/split_lists.hpp>

#include <fmt/format.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

void make_masks(RawDataset& data, std::int64_t splits, std::int64_t n, const std::string& what) {
    if (splits < 1 || splits > most_splits)
        throw DataError(fmt::format("{} has {} splits, allowed are 1 to {}", what, splits, most_splits));
    data.splits = static_cast<std::int32_t>(splits);
    data.masks.assign(array_elements(what, {splits, n}, sizeof(Split)), Split::none);
}

std::string put_in_mask(std::span<Split> masks, std::int64_t vertex, Split mask) {
    static constexpr const char* names[] = {"no", "train", "validation", "test"};
    if (vertex < 0 || vertex >= std::ssize(masks))
        return fmt::format("vertex {}, allowed are 0 to {}", vertex, std::ssize(masks) - 1);
    auto& held = masks[usize(vertex)];
    if (held == mask) return fmt::format("vertex {} is listed twice for the {} mask", vertex, names[usize(mask)]);
    if (held != Split::none)
        return fmt::format("vertex {} is in the {} and the {} mask", vertex, names[usize(held)],
                           names[usize(mask)]);
    held = mask;
    return {};
}

}  // namespace gnnbench
