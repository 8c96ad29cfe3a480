#pragma once
#include <cstdint>
#include <string>

#include <gnnbench/params.hpp>

namespace gnnbench::dist {

/// What the paper calls cd-0, cd-r and 0c.
struct Algorithm {
    enum class Exchange : std::uint8_t { at_once, late, never };

    /// Alone, a rank has nothing to exchange.
    Algorithm(const Params& params, int ranks)
        : exchange(ranks == 1 || params.choice("algorithm") == "0c" ? Exchange::never
                   : params.choice("algorithm") == "cd-r"           ? Exchange::late
                                                                    : Exchange::at_once),
          bins(exchange == Exchange::late ? static_cast<int>(params.integer("delay")) : 1),
          backward(exchange != Exchange::never && params.choice("backward") == "summed"),
          runs_on(exchange == Exchange::late && params.choice("transfers") == "run_on"),
          loops_at_copies(ranks > 1 && params.choice("self_loops") == "copies"),
          known_degrees(ranks > 1 && exchange != Exchange::at_once && params.choice("degrees") == "known") {}

    Exchange exchange;
    int bins;       ///< r, if exchanges are late
    bool backward;  ///< gradients of copies are summed as partial sums are
    bool runs_on;   ///< late exchanges are waited for where they are used
    /// Every copy adds what a diagonal of Â that the graph has not does to its row, after the exchange; else the root does,
    /// before.
    bool loops_at_copies;
    /// Rows are divided by the degrees that a rank knows, where these may be others than the whole graph's.
    bool known_degrees;
};

}  // namespace gnnbench::dist
