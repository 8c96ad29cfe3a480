#pragma once
#include <cstddef>
#include <functional>
#include <memory>

namespace gnnbench::test {

/// A function with a stack of its own, on the thread that resumes it: runs only while it is resumed, until it yields or
/// ends. What the body throws must not leave it. A fibre that is destroyed before its end leaves its stack's objects
/// undestroyed.
class Fibre {
public:
    explicit Fibre(std::function<void()> body);
    ~Fibre();
    Fibre(const Fibre&) = delete;
    Fibre& operator=(const Fibre&) = delete;

    /// Called by whoever schedules.
    void resume();
    /// Called by the body: back to whoever resumed it.
    void yield();
    bool ended() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace gnnbench::test
