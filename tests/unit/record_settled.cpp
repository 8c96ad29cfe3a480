// Which verifications are not tried again, and count as no failure.
#include <string>

#include <catch2/catch.hpp>

#include "record/verifications.hpp"

using namespace gnnbench;

TEST_CASE("a verification is settled where trying again would find no more") {
    const auto settled = [](VerificationStatus status, const std::string& reason,
                            const std::string& approximation) {
        VerificationRecord found;
        found.status = status;
        found.reason = reason;
        return is_settled(found, approximation);
    };
    using enum VerificationStatus;
    CHECK(settled(verified, "", ""));
    CHECK(settled(unverified, "approximate: samples", "samples"));
    CHECK(settled(unverified, std::string(ill_conditioned_here) + "no step is tame", ""));
    CHECK_FALSE(settled(unverified, "its verification ended as crashed: signal 11", ""));
    CHECK_FALSE(settled(unverified, "its verification ended as crashed: signal 11", "samples"));
    CHECK_FALSE(settled(unverified, "", ""));
    CHECK_FALSE(settled(failed, "differs", ""));
    CHECK_FALSE(settled(failed, "differs", "samples"));
}
