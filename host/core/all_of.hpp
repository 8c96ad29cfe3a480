#pragma once
#include <vector>

#include <gnnbench/event.hpp>

namespace gnnbench {

/// What all_of() makes of several events.
class AllOf final : public EventState {
public:
    explicit AllOf(std::vector<Event> events) : events_(std::move(events)) {}
    const std::vector<Event>& events() const { return events_; }
    void wait_on_host() override;
    bool ready() override;
    bool completed_by_host() const override;

private:
    std::vector<Event> events_;
};

}  // namespace gnnbench
