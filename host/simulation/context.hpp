#pragma once
#include <cstddef>
#include <functional>
#include <memory>

namespace gnnbench::simulation {

/// A function with a stack of its own, on the thread that resumes it: it runs while it is resumed, until it suspends
/// itself or returns. Nothing may leave it by an exception, and it must have returned before it is destroyed.
/// docs/decisions/simulated-ranks.md: why not a thread, nor another library's.
class Context {
public:
    Context(std::function<void()> body, std::size_t stack_bytes);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    /// Runs it until it suspends itself or returns.
    void resume();
    /// Called by the function: back to whoever resumed it.
    void suspend();
    bool returned() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gnnbench::simulation
