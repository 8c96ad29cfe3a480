#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "check/forwarding_backend.hpp"

namespace gnnbench::contract {

/// Leaves out one wait of all that its rank makes.
class LeavesOutAWait final : public ForwardingBackend {
public:
    LeavesOutAWait(std::unique_ptr<Backend> inner, std::int64_t left_out, std::int64_t& waits)
        : ForwardingBackend(std::move(inner)), left_out_(left_out), waits_(waits) {}

private:
    void do_wait(StreamRole stream, const Event& event) override {
        if (waits_++ != left_out_) inner().wait(stream, event);
    }

    std::int64_t left_out_;
    std::int64_t& waits_;
};

}  // namespace gnnbench::contract
