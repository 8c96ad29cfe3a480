#pragma once
#include <iostream>

#include <catch2/catch.hpp>

/// A contract in which nothing was asserted has not been kept: a filter that matches nothing, a loop over plugins that are
/// not there.
namespace gnnbench::tests {

/// What the tests of this process asserted; -1 before they end.
inline long& assertions() {
    static long count = -1;
    return count;
}

class CountsAssertions final : public Catch::TestEventListenerBase {
public:
    using TestEventListenerBase::TestEventListenerBase;
    void testRunEnded(const Catch::TestRunStats& stats) override {
        assertions() = static_cast<long>(stats.totals.assertions.total());
    }
};

/// Catch's result, or a failure where nothing was asserted.
inline int judged(int result) {
    if (result != 0 || assertions() > 0) return result;
    std::cerr << "no assertion ran: is there a test, and a section, by the name that was asked for?\n";
    return 3;
}

}  // namespace gnnbench::tests
