#pragma once
#include <memory>

#include <gnnbench/transport.hpp>

namespace gnnbench {

/// A transport that forwards every operation to another: the base of decorators. Each decorates the transport of a part
/// of its ranks itself (do_split), and the one aside (do_aside).
class ForwardingTransport : public Transport {
public:
    explicit ForwardingTransport(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}

protected:
    Transport& inner() const { return *inner_; }

    int do_rank() const override { return inner_->rank(); }
    int do_size() const override { return inner_->size(); }
    StreamRole do_stream() const override { return inner_->stream(); }
    Event do_broadcast(void* data, std::int64_t bytes, int root, Wait wait) override {
        return inner_->broadcast(data, bytes, root, wait);
    }
    Event do_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, int root, Wait wait) override {
        return inner_->reduce(data, count, dtype, op, root, wait);
    }
    Event do_all_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, Wait wait) override {
        return inner_->all_reduce(data, count, dtype, op, wait);
    }
    Event do_all_gather(void* all, std::span<const std::int64_t> byte_counts, Wait wait) override {
        return inner_->all_gather(all, byte_counts, wait);
    }
    Event do_reduce_scatter(const void* all, void* mine, std::span<const std::int64_t> counts, DType dtype,
                            Wait wait) override {
        return inner_->reduce_scatter(all, mine, counts, dtype, wait);
    }
    Event do_exchange(std::span<const Message> sends, std::span<const Message> receives) override {
        return inner_->exchange(sends, receives);
    }
    std::vector<Event> do_exchange_each(std::span<const Message> sends,
                                        std::span<const Message> receives) override {
        return inner_->exchange_each(sends, receives);
    }
    Event do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) override {
        return inner_->all_to_all(sends, receives);
    }
    bool do_reads_rows() const override { return inner_->reads_rows(); }
    std::vector<Event> do_read_rows(ConstMatrixView from, std::span<const RowSet> sends,
                                    std::span<const RowSet> receives) override {
        return inner_->read_rows(from, sends, receives);
    }
    Event do_add_rows(MatrixView to, std::span<const Message> sends, std::span<const RowSet> receives) override {
        return inner_->add_rows(to, sends, receives);
    }
    void do_barrier() override { inner_->barrier(); }

private:
    std::unique_ptr<Transport> inner_;
};

}  // namespace gnnbench
