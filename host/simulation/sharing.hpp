#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "simulation/timeline.hpp"

namespace gnnbench::simulation {

/// What an activity takes of a resource while it runs at full speed: 1 is all of it.
struct Demand {
    std::size_t resource = 0;
    double share = 0;
};

/// Activities that share resources (a device's memory, a node's network cards). Where the demands on a resource add up
/// to more than 1, all activities on it slow down alike, by that sum; an activity is as slow as the scarcest of its
/// resources makes it. So a kernel that takes all of a memory beside a transfer that takes 1/6 of it both run at 6/7 of
/// their speed.
class Sharing final : public Happening {
public:
    Sharing(Timeline& timeline, std::size_t resources) : timeline_(timeline), resources_(resources) {}

    /// `alone_s` seconds of work from now; `done` happens, with `tag`, when it is complete.
    void start(double alone_s, std::span<const Demand> demands, Happening& done, std::uint64_t tag);

private:
    struct Resource {
        double slowdown = 1;
        struct User {
            std::size_t activity;
            double share;
        };
        std::vector<User> users;
    };
    struct Activity {
        double left_s = 0;     ///< of work at full speed, at `updated_s`
        double slowdown = 1;   ///< its scarcest resource's
        int scarcest = 0;      ///< how many of its resources are as scarce
        double updated_s = 0;  ///< virtual time
        std::uint32_t version = 0;
        std::vector<Demand> demands;
        Happening* done = nullptr;
        std::uint64_t tag = 0;
    };

    void happens(std::uint64_t tag) override;
    void end(std::size_t number);
    void changed(std::size_t resource, std::size_t but);
    void find_scarcest(Activity& a) const;
    void set_pace(std::size_t number, double slowdown_before);
    void schedule(std::size_t number);

    Timeline& timeline_;
    std::vector<Resource> resources_;
    std::vector<Activity> activities_;
    std::vector<std::size_t> free_;
};

}  // namespace gnnbench::simulation
