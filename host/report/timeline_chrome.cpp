#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/timeline.hpp"
#include "report/timeline_lanes.hpp"

namespace gnnbench {
namespace {

using nlohmann::json;

/// Lane 0 of the compute stream is thread 1, of the communication stream thread 2. A thread's events must not
/// overlap unless they nest, hence a thread for each lane.
int thread_of(bool communicates, int lane) { return 1 + 2 * lane + (communicates ? 1 : 0); }

double whole_nanoseconds(double s) { return std::round(s * 1e9); }

json metadata(const char* what, std::int64_t rank, int thread, json args) {
    return {{"ph", "M"}, {"name", what}, {"pid", rank}, {"tid", thread}, {"args", std::move(args)}};
}

void name_rank(std::vector<json>& events, const Timeline& t, const std::vector<SpanPlace>& places,
               std::int64_t rank) {
    // A viewer shows the name, and hides what is beside the events.
    const std::string simulated = t.simulated_on.empty() ? "" : ", SIMULATED on " + t.simulated_on;
    events.push_back(metadata("process_name", rank, 0, {{"name", fmt::format("rank {}{}", rank, simulated)}}));
    events.push_back(metadata("process_sort_index", rank, 0, {{"sort_index", rank}}));
    int position = 0;
    for (const bool communicates : {false, true})
        for (int lane = 0; lane < lane_count(t, places, rank, communicates); ++lane) {
            std::string name = communicates ? "communication" : "computation";
            if (lane > 0) name += fmt::format(" ({})", lane + 1);
            const int thread = thread_of(communicates, lane);
            events.push_back(metadata("thread_name", rank, thread, {{"name", name}}));
            events.push_back(metadata("thread_sort_index", rank, thread, {{"sort_index", position++}}));
        }
}

json event(const TimelineSpan& s, const SpanPlace& place) {
    json args = {{"phase", s.phase}};
    if (s.group_size > 0) {
        args["bytes"] = s.bytes;
        args["group_size"] = s.group_size;
    }
    if (place.stage > 0) args["stage"] = place.stage;
    // A span ends where its rounded end is, so that it does not reach into the one that follows.
    const double begin_ns = whole_nanoseconds(s.begin_s), end_ns = whole_nanoseconds(s.end_s);
    return {{"ph", "X"},
            {"name", s.operation},
            {"cat", s.phase},
            {"pid", s.rank},
            {"tid", thread_of(s.communicates, place.lane)},
            {"ts", begin_ns / 1e3},
            {"dur", (end_ns - begin_ns) / 1e3},
            {"args", std::move(args)}};
}

}  // namespace

std::string timeline_chrome(const Timeline& t) {
    const std::vector<SpanPlace> places = places_of(t);
    std::vector<json> events;
    for (std::int64_t rank = 0; rank < t.ranks; ++rank) name_rank(events, t, places, rank);
    for (std::size_t i = 0; i < t.spans.size(); ++i) events.push_back(event(t.spans[i], places[i]));
    const json about = {
        {"trial", t.trial},     {"experiment", t.experiment},     {"dataset", t.dataset},
        {"scheme", t.scheme},   {"partitioner", t.partitioner},   {"kernel", t.kernel},
        {"machine", t.machine}, {"started", t.started},           {"epoch", t.epoch},
        {"ranks", t.ranks},     {"simulated_on", t.simulated_on}, {"oversubscribed", t.oversubscribed}};
    // An event a line, so that the file can be searched and compared.
    std::string out = "{\"displayTimeUnit\": \"ms\",\n\"otherData\": " + about.dump() + ",\n\"traceEvents\": [\n";
    for (std::size_t i = 0; i < events.size(); ++i)
        out += events[i].dump() + (i + 1 < events.size() ? ",\n" : "\n");
    return out + "]}\n";
}

}  // namespace gnnbench
