#include "report/figure_scales.hpp"

#include <algorithm>

#include "report/paper_setting.hpp"

namespace gnnbench {
namespace {

template <class F>
void for_places(std::vector<std::vector<ResolvedCell>>& cells, F&& f) {
    for (auto& row : cells)
        for (ResolvedCell& place : row) f(place);
}

bool is_of_smaller_graph(const ResolvedCell& place, const ResolvedTable& r) {
    return place.ours && !place.counted && !place.papers_graph && !has_measured_graph_of_papers_size(place, r);
}

}  // namespace

FigureScales by_scale(const ResolvedTable& r) {
    ResolvedTable papers = r, smaller = r;
    bool any_smaller = false, any_papers = false;
    for_places(smaller.cells, [&](ResolvedCell& place) {
        const bool own = is_of_smaller_graph(place, r);
        any_smaller |= own;
        any_papers |= place.published.has_value() || (place.ours && !own);
        if (!own) place.ours.reset(), place.word.clear();
        place.published.reset();
        place.given = nullptr;
    });
    for (const auto& row : r.simulated)
        any_papers |= std::ranges::any_of(row, [](const ResolvedCell& place) { return place.ours.has_value(); });
    if (!any_smaller || !any_papers) return {r, std::nullopt};
    for_places(papers.cells, [&](ResolvedCell& place) {
        if (is_of_smaller_graph(place, r)) place.ours.reset();
    });
    smaller.simulated.clear();
    return {std::move(papers), std::move(smaller)};
}

}  // namespace gnnbench
