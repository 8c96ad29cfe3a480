#pragma once

namespace gnnbench {

/// Processor seconds of the calling thread, which takes part in all that its backend's threads do, less those between
/// pause() and resume(): waiting for other ranks may spin, and is not what a slow rank does slowly.
class BusyTime {
public:
    void start();
    void pause();
    void resume();
    /// From start() to now, or to the pause().
    double seconds() const;

private:
    double start_s_ = 0, done_s_ = 0;
    bool runs_ = false;
};

}  // namespace gnnbench
