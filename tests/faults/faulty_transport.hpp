#pragma once
#include <map>
#include <vector>

#include <gnnbench/backend.hpp>

#include "check/forwarding_transport.hpp"
#include "faults/faults.hpp"

namespace gnnbench::faults {

/// A transport with one fault. What it spoils it waits for first, so that the fault is the only thing that is wrong.
class FaultyTransport final : public ForwardingTransport {
public:
    FaultyTransport(std::unique_ptr<Transport> inner, Backend& backend, Injected injected)
        : ForwardingTransport(std::move(inner)), backend_(backend), injected_(injected) {}

private:
    std::unique_ptr<Transport> do_split(int color, int key) const override {
        return std::make_unique<FaultyTransport>(inner().split(color, key), backend_, injected_);
    }
    Event do_broadcast(void* data, std::int64_t bytes, int root, Wait wait) override;
    Event do_all_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, Wait wait) override;
    Event do_exchange(std::span<const Message> sends, std::span<const Message> receives) override;
    std::vector<Event> do_exchange_each(std::span<const Message> sends,
                                        std::span<const Message> receives) override;
    Event do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) override;
    std::vector<Event> do_read_rows(ConstMatrixView from, std::span<const RowSet> sends,
                                    std::span<const RowSet> receives) override;
    Event spoiled(Event event, std::span<const Message> receives);
    std::vector<double> sum_of_sizes(const std::vector<double>& mine);

    Backend& backend_;
    Injected injected_;
    std::map<std::pair<void*, std::int64_t>, std::vector<std::byte>> before_;
};

}  // namespace gnnbench::faults
