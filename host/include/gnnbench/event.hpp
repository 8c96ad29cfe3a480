#pragma once
#include <functional>
#include <memory>
#include <utility>

namespace gnnbench {

/// An asynchronous operation of a back end or a transport that is in flight. Each implements it: a set of MPI
/// requests on the CPU, a CUDA event on a GPU.
class EventState {
public:
    virtual ~EventState();
    /// Blocks the host until the operation is complete.
    virtual void wait_on_host() = 0;
    /// True once the operation is complete; never blocks. May make progress.
    virtual bool ready() = 0;
    /// True if only the host can complete it (MPI requests); false if the device completes it by itself.
    virtual bool completed_by_host() const = 0;
    /// True if it is not completed before this rank waits, since ranks that share a process take turns.
    virtual bool needs_a_wait() const { return false; }
};

/// A handle to an asynchronous operation. Cheap to copy; a default-constructed one is complete.
/// Wait with Backend::wait, which makes a stream wait instead of the host where the device supports that.
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
