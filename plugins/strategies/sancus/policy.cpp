#include "policy.hpp"

#include <fmt/format.h>

namespace gnnbench::sancus {
namespace {

/// The released code sends a layer's rows in so many epochs, and from then on in every second one.
constexpr std::int64_t released_warmup = 51;
/// The only layer that it skips: the second.
constexpr int released_layer = 1;

}  // namespace

Policy::Policy(const Params& params)
    : when(params.choice("policy") == "interval" ? When::interval
           : params.choice("policy") == "change" ? When::change
                                                 : When::released),
      interval(params.integer("interval")),
      least_change(params.real("least_change")),
      most_epochs(params.integer("most_epochs")),
      caches_input(params.boolean("cache_input")),
      own_cached(params.choice("own_rows") == "cached") {}

std::string Policy::approximation() const {
    const char* const own = own_cached ? ", this rank's own among them" : "";
    switch (when) {
        case When::interval:
            if (interval == 1) return {};
            return fmt::format("rows of layers' inputs are up to {} {} old{}", interval - 1,
                               interval == 2 ? "epoch" : "epochs", own);
        case When::change:
            if (least_change == 0 || most_epochs == 0) return {};
            return fmt::format("rows of layers' inputs are up to {} {} old{}", most_epochs,
                               most_epochs == 1 ? "epoch" : "epochs", own);
        case When::released:
            return fmt::format("rows of the second layer's input are up to one epoch old, after {} epochs{}",
                               released_warmup, own);
    }
    return {};
}

std::string Policy::why_unsupported() const {
    if (when == When::released && most_epochs == 0)
        return "policy: released leaves rows one epoch old, and most_epochs: 0 allows none";
    if (when != When::interval || interval - 1 <= most_epochs) return {};
    return fmt::format("interval: {} leaves rows {} epochs old, and most_epochs: {} allows no more than that many",
                       interval, interval - 1, most_epochs);
}

bool CachedLayer::caches(const Policy& p) const {
    if (!aggregates) return false;
    if (constant) return p.caches_input;
    if (p.approximation().empty()) return false;
    return p.when != Policy::When::released || model_layer == released_layer;
}

bool CachedLayer::sends(const Policy& p, std::int64_t epoch) const {
    if (!caches(p) || epoch == 0) return true;
    if (constant) return false;
    switch (p.when) {
        case Policy::When::interval:
            return epoch % p.interval == 0;
        case Policy::When::change:
            return true;
        case Policy::When::released:
            return epoch < released_warmup || epoch % 2 == 0;
    }
    return true;
}

}  // namespace gnnbench::sancus
