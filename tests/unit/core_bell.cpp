#include <atomic>
#include <chrono>
#include <thread>

#include <catch2/catch.hpp>

#include "core/bell.hpp"

using namespace gnnbench;
using namespace std::chrono_literals;

namespace {

/// One of two that pass a number back and forth; each reads what the other has written.
struct Side {
    Bell bell;
    alignas(64) std::atomic<int> news{0};
    int slept_through = 0;

    void await(int number) {
        while (news.load(std::memory_order_acquire) < number) {
            bell.listen();
            if (news.load(std::memory_order_acquire) < number && !bell.sleep(5s)) ++slept_through;
        }
        bell.stop_listening();
    }
    void tell(int number) {
        news.store(number, std::memory_order_release);
        bell.ring();
    }
};

}  // namespace

TEST_CASE("a bell: no news is slept through") {
    constexpr int rounds = 20'000;
    Side one, other;
    std::thread partner([&] {
        for (int i = 1; i <= rounds; ++i) {
            other.await(i);
            one.tell(i);
        }
    });
    for (int i = 1; i <= rounds; ++i) {
        other.tell(i);
        one.await(i);
    }
    partner.join();
    CHECK(one.slept_through == 0);
    CHECK(other.slept_through == 0);
}

TEST_CASE("a bell: a ring before the sleep ends it, and without one it lasts as long as it may") {
    Bell bell;
    bell.listen();
    bell.ring();
    CHECK(bell.sleep(60s));
    bell.listen();
    CHECK_FALSE(bell.sleep(1ms));
    SECTION("one that does not listen is not rung for") {
        bell.stop_listening();
        bell.ring();
        CHECK_FALSE(bell.sleep(1ms));
    }
}
