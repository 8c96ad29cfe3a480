#pragma once
#include <functional>
#include <memory>
#include <utility>

namespace gnnbench {

/// Something asynchronous that a kernel or a transport has under way. Implemented by each: a bundle of MPI
/// requests on the CPU, a CUDA event on a GPU.
class EventState {
public:
    virtual ~EventState();
    /// Blocks the host until it has happened.
    virtual void wait_on_host() = 0;
    /// True once it has happened; never blocks. May make progress.
    virtual bool ready() = 0;
    /// True if only the host can complete it (MPI requests); false if the device completes it by itself.
    virtual bool completed_by_host() const = 0;
};

/// A handle to something asynchronous. Cheap to copy; a default-constructed one has already happened.
/// Wait with Kernel::wait, which lets a stream wait and not the host where the device can.
class Event {
public:
    Event() = default;
    explicit Event(std::shared_ptr<EventState> state) : state_(std::move(state)) {}
    bool happened_at_once() const { return !state_; }
    EventState* state() const { return state_.get(); }
    bool ready() const { return !state_ || state_->ready(); }

private:
    std::shared_ptr<EventState> state_;
};

}  // namespace gnnbench
