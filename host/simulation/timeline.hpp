#pragma once
#include <cstdint>
#include <queue>
#include <vector>

namespace gnnbench::simulation {

/// What happens at a time.
class Happening {
public:
    virtual ~Happening() = default;
    virtual void happens(std::uint64_t tag) = 0;
};

/// Virtual time: what happens, in order; at equal times in the order in which it was scheduled.
class Timeline {
public:
    double now_s() const { return now_s_; }
    /// `target` must live until then. A time that has passed is now.
    void at(double time_s, Happening& target, std::uint64_t tag) {
        queue_.push({time_s < now_s_ ? now_s_ : time_s, next_++, &target, tag});
    }
    /// Advances to what happens next; false: nothing will.
    bool step() {
        if (queue_.empty()) return false;
        const Entry e = queue_.top();
        queue_.pop();
        now_s_ = e.time_s;
        ++steps_;
        e.target->happens(e.tag);
        return true;
    }
    std::int64_t steps() const { return steps_; }

private:
    struct Entry {
        double time_s;
        std::uint64_t number;
        Happening* target;
        std::uint64_t tag;
        bool operator<(const Entry& o) const {  // std::priority_queue gives the largest
            return time_s != o.time_s ? time_s > o.time_s : number > o.number;
        }
    };
    std::priority_queue<Entry> queue_;
    double now_s_ = 0;
    std::uint64_t next_ = 0;
    std::int64_t steps_ = 0;
};

}  // namespace gnnbench::simulation
