#pragma once
#include <cstdint>
#include <string>

#include <gnnbench/params.hpp>

namespace gnnbench::sancus {

/// When a rank's rows of a layer's input are broadcast again.
struct Policy {
    enum class When : std::uint8_t {
        interval,  ///< in every `interval`-th epoch
        change,    ///< once they have changed by `least_change` since they were sent, or are `most_epochs` old
        released,  ///< as the released code
    };
    When when;
    std::int64_t interval;
    double least_change;  ///< ‖H − H_sent‖_F / ‖H_sent‖_F
    std::int64_t most_epochs;
    bool caches_input;  ///< rows that never change are sent once
    bool own_cached;    ///< a rank multiplies its own rows, too, as they were when it last sent them

    explicit Policy(const Params& params);

    /// Empty: every product has all rows as they are.
    std::string approximation() const;
    std::string why_unsupported() const;
};

/// A layer of the plan, as a policy sees it.
struct CachedLayer {
    int model_layer = 0;
    bool aggregates = true;
    bool constant = false;  ///< its input is the same in every epoch
    bool attends = false;

    /// Whether its rows are kept for later epochs at all.
    bool caches(const Policy& p) const;
    /// Whether rows are sent in an epoch, as far as the epoch alone decides; where change decides, that they may be.
    bool sends(const Policy& p, std::int64_t epoch) const;
    /// Whether each rank decides by what its rows have become, so that the others have to be told.
    bool decides_by_change(const Policy& p) const { return !constant && p.when == Policy::When::change; }
    /// Whether a rank keeps its own rows, too, as it sent them. Where layers attend, others' coefficients are of these.
    bool keeps_own(const Policy& p) const {
        return !constant && (p.own_cached || attends || decides_by_change(p));
    }
};

}  // namespace gnnbench::sancus
