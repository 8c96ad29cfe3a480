// Code that may crash or hang, called in a process of its own.
#include <cstdlib>

#include <unistd.h>

#include <catch2/catch.hpp>

#include "launch/in_child.hpp"

using namespace gnnbench;
using Catch::Contains;

TEST_CASE("a function that ends its process, or does not end, is told; this process goes on") {
    CHECK_THAT(call_in_child([]() -> std::string { std::abort(); }, 10).failure, Contains("signal 6"));
    CHECK_THAT(call_in_child([]() -> std::string { ::_exit(7); }, 10).failure, Contains("code 7"));
    CHECK_THAT(call_in_child([]() -> std::string { throw 1; }, 10).failure, Contains("code 1"));
    const auto endless = [] {
        for (;;) ::pause();
        return std::string();
    };
    CHECK_THAT(call_in_child(endless, 0.1).failure, Contains("did not end within 0.1 s"));
}

TEST_CASE("what a function returns comes back, and what it changes does not") {
    int here = 1;
    const auto look = [&] {
        here = 2;
        return std::string(100000, 'x') + "\n\"\xc3\xa9";
    };
    const ChildResult result = call_in_child(look, 10);
    CHECK(result.failure.empty());
    CHECK(result.said == std::string(100000, 'x') + "\n\"\xc3\xa9");
    CHECK(here == 1);
}
