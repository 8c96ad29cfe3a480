#include <gnnbench/transport.hpp>

#include <algorithm>
#include <utility>

#include "core/all_of.hpp"
#include "core/lone_transport.hpp"

namespace gnnbench {

Transport::~Transport() = default;

std::vector<Event> Transport::do_exchange_each(std::span<const Message> sends, std::span<const Message> receives) {
    return std::vector<Event>(receives.size() + 1, do_exchange(sends, receives));
}

std::vector<Event> Transport::do_read_rows(ConstMatrixView, std::span<const RowSet>, std::span<const RowSet>) {
    throw LogicError("this transport reads no rows in place");
}

Event Transport::do_add_rows(MatrixView, std::span<const Message>, std::span<const RowSet>) {
    throw LogicError("this transport adds no rows in place");
}

void AllOf::wait_on_host() {
    for (const Event& e : events_)
        if (!e.happened_at_once()) e.state()->wait_on_host();
}
bool AllOf::ready() {
    return std::ranges::all_of(events_, [](const Event& e) { return e.ready(); });
}
bool AllOf::completed_by_host() const {
    return std::ranges::any_of(
        events_, [](const Event& e) { return !e.happened_at_once() && e.state()->completed_by_host(); });
}

Event all_of(std::vector<Event> events) {
    std::erase_if(events, [](const Event& e) { return e.happened_at_once(); });
    if (events.empty()) return {};
    return Event(std::make_shared<AllOf>(std::move(events)));
}

std::unique_ptr<Transport> make_mpi_transport(const ProcessGroup& group) {
    if (auto transport = group.host_transport()) return transport;
    if (group.size() == 1) return make_lone_transport();
    throw Unsupported("needs messages between processes, which ranks that share a process do not have");
}

}  // namespace gnnbench
