#pragma once
#include <functional>
#include <list>
#include <memory>

#include "check/forwarding_transport.hpp"
#include "check/in_flight.hpp"

#include <gnnbench/backend.hpp>

namespace gnnbench {

/// An operation of a checked transport: checked when it is first waited for, before the received data can change.
class CheckedEvent final : public EventState {
public:
    using Judge = std::function<void(StreamRole)>;
    CheckedEvent(Event inner, Judge judge) : inner_(std::move(inner)), judge_(std::move(judge)) {}

    const Event& inner() const { return inner_; }
    /// Once; `stream` already waits for the inner event.
    void judge(StreamRole stream);

    void wait_on_host() override;
    bool ready() override { return done_ || inner_.ready(); }
    bool completed_by_host() const override {
        return inner_.happened_at_once() || inner_.state()->completed_by_host();
    }

private:
    Event inner_;
    Judge judge_;
    bool done_ = false;
};

/// Host messages of the check itself, by MPI, never through the transport under test.
class ControlMessages;

/// A transport under test. When an operation starts, its input is copied and sent to the ranks that need it on a
/// separate path; when it is waited for, received data is compared: bytes with the sender's, sums of P ranks within
/// γ_{P−1}Σ|x| (one rounding for each addition, in any order), maxima exactly.
class CheckedTransport final : public ForwardingTransport {
public:
    /// `control`: the same ranks, for this purpose only. `backend` owns the memory and must outlive it.
    CheckedTransport(std::unique_ptr<Transport> under_test, ProcessGroup control, Backend& backend,
                     std::shared_ptr<Ledger> ledger, std::shared_ptr<InFlight> in_flight);
    ~CheckedTransport() override;

private:
    std::unique_ptr<Transport> do_split(int color, int key) const override;
    std::unique_ptr<Transport> do_aside() const override;
    Event do_broadcast(void* data, std::int64_t bytes, int root, Wait wait) override;
    Event do_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, int root, Wait wait) override;
    Event do_all_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, Wait wait) override;
    Event do_all_gather(void* all, std::span<const std::int64_t> byte_counts, Wait wait) override;
    Event do_reduce_scatter(const void* all, void* mine, std::span<const std::int64_t> counts, DType dtype,
                            Wait wait) override;
    Event do_exchange(std::span<const Message> sends, std::span<const Message> receives) override;
    std::vector<Event> do_exchange_each(std::span<const Message> sends,
                                        std::span<const Message> receives) override;
    Event do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) override;
    std::vector<Event> do_read_rows(ConstMatrixView from, std::span<const RowSet> sends,
                                    std::span<const RowSet> receives) override;
    Event do_add_rows(MatrixView to, std::span<const Message> sends, std::span<const RowSet> receives) override;

    /// The event that checks; immediately if the operation is already complete.
    Event judged(Event event, CheckedEvent::Judge judge) const;
    /// Compares received with sent data, and removes the operation from the memory in flight.
    CheckedEvent::Judge same_bytes(const char* operation, const void* data, std::int64_t bytes,
                                   std::size_t expected, InFlight::Id id) const;
    /// data [count] is expected to be the reduction `sums`, from its element `first` on.
    struct Reduction {
        const void* data;
        std::int64_t count;
        DType dtype;
        ReduceOp op;
        std::size_t sums;  ///< see ControlMessages
        std::int64_t first = 0;
    };
    CheckedEvent::Judge reduced(const char* operation, const Reduction& reduction, InFlight::Id id) const;
    void send_copies(const char* operation, std::span<const Message> sends);
    std::vector<CheckedEvent::Judge> receive_copies(const char* operation, std::span<const Message> receives);
    CheckedEvent::Judge sends_end(const char* operation, std::span<const Message> sends);

    std::shared_ptr<ControlMessages> control_;
    Backend& backend_;
    std::shared_ptr<Ledger> ledger_;
    std::shared_ptr<InFlight> in_flight_;
};

}  // namespace gnnbench
