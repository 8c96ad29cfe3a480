#include "report/timeline_lanes.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace gnnbench {
namespace {

bool ends_a_product(const TimelineSpan& s) {
    return s.phase == "gemm" || s.phase == "activation" || s.phase == "loss" || s.phase == "optimizer";
}
bool can_be_stage(const TimelineSpan& s) { return s.phase == "spmm" || s.phase == "comm"; }

void number_stages(const Timeline& timeline, std::vector<SpanPlace>& places) {
    std::map<std::string, std::vector<std::size_t>> product;  // operation → its spans
    const auto finish = [&] {
        for (const auto& [operation, spans] : product)
            for (std::size_t k = 0; k < spans.size() && spans.size() > 1; ++k)
                places[spans[k]].stage = static_cast<int>(k) + 1;
        product.clear();
    };
    for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
        const TimelineSpan& s = timeline.spans[i];
        if (ends_a_product(s) || (i > 0 && timeline.spans[i - 1].rank != s.rank)) finish();
        if (can_be_stage(s)) product[s.operation].push_back(i);
    }
    finish();
}

/// Each span in the first lane that is free when it begins.
void choose_lanes(const Timeline& timeline, std::vector<SpanPlace>& places) {
    std::map<std::pair<std::int64_t, bool>, std::vector<double>> busy_until;
    for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
        const TimelineSpan& s = timeline.spans[i];
        std::vector<double>& lanes = busy_until[{s.rank, s.communicates}];
        const auto free = std::ranges::find_if(lanes, [&](double end_s) { return end_s <= s.begin_s; });
        places[i].lane = static_cast<int>(free - lanes.begin());
        if (free == lanes.end())
            lanes.push_back(s.end_s);
        else
            *free = s.end_s;
    }
}

}  // namespace

std::vector<SpanPlace> places_of(const Timeline& timeline) {
    std::vector<SpanPlace> places(timeline.spans.size());
    number_stages(timeline, places);
    choose_lanes(timeline, places);
    return places;
}

int lane_count(const Timeline& timeline, const std::vector<SpanPlace>& places, std::int64_t rank,
               bool communicates) {
    int count = 1;
    for (std::size_t i = 0; i < places.size(); ++i)
        if (timeline.spans[i].rank == rank && timeline.spans[i].communicates == communicates)
            count = std::max(count, places[i].lane + 1);
    return count;
}

}  // namespace gnnbench
