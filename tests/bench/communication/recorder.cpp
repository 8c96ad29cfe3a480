#include "recorder.hpp"

#include <numeric>
#include <utility>

#include "core/mpi_check.hpp"

namespace gnnbench::bench {
namespace {

class RecordingTransport final : public Transport {
public:
    /// Owns `comm`.
    RecordingTransport(std::unique_ptr<Transport> inner, MPI_Comm comm, Recording& recording)
        : inner_(std::move(inner)), comm_(comm), recording_(recording) {}
    ~RecordingTransport() override { MPI_Comm_free(&comm_); }

private:
    int do_rank() const override { return inner_->rank(); }
    int do_size() const override { return inner_->size(); }
    std::unique_ptr<Transport> do_split(int color, int key) const override {
        MPI_Comm part = MPI_COMM_NULL;
        check_mpi(MPI_Comm_split(comm_, color, key, &part), "MPI_Comm_split");
        return std::make_unique<RecordingTransport>(inner_->split(color, key), part, recording_);
    }

    Event do_broadcast(void* data, std::int64_t bytes, int root, Wait wait) override {
        note({.operation = CommOp::broadcast,
              .comm = comm_,
              .from = data,
              .to = data,
              .size = bytes,
              .root = root});
        return completed(inner_->broadcast(data, bytes, root, wait));
    }
    Event do_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, int root, Wait wait) override {
        note({.operation = CommOp::reduce,
              .comm = comm_,
              .from = data,
              .to = data,
              .size = count,
              .dtype = dtype,
              .reduce = op,
              .root = root});
        return completed(inner_->reduce(data, count, dtype, op, root, wait));
    }
    Event do_all_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, Wait wait) override {
        note({.operation = CommOp::all_reduce,
              .comm = comm_,
              .from = data,
              .to = data,
              .size = count,
              .dtype = dtype,
              .reduce = op});
        return completed(inner_->all_reduce(data, count, dtype, op, wait));
    }
    Event do_all_gather(void* all, std::span<const std::int64_t> counts, Wait wait) override {
        note({.operation = CommOp::all_gather,
              .comm = comm_,
              .from = all,
              .to = all,
              .size = std::reduce(counts.begin(), counts.end()),
              .counts = {counts.begin(), counts.end()}});
        return completed(inner_->all_gather(all, counts, wait));
    }
    Event do_reduce_scatter(const void* all, void* mine, std::span<const std::int64_t> counts, DType dtype,
                            Wait wait) override {
        note({.operation = CommOp::reduce_scatter,
              .comm = comm_,
              .from = all,
              .to = mine,
              .size = std::reduce(counts.begin(), counts.end()),
              .dtype = dtype,
              .counts = {counts.begin(), counts.end()}});
        return completed(inner_->reduce_scatter(all, mine, counts, dtype, wait));
    }
    Event do_exchange(std::span<const Message> sends, std::span<const Message> receives) override {
        note_messages(CommOp::point_to_point, sends, receives);
        return completed(inner_->exchange(sends, receives));
    }
    std::vector<Event> do_exchange_each(std::span<const Message> sends,
                                        std::span<const Message> receives) override {
        note_messages(CommOp::point_to_point, sends, receives);
        for (Event& e : inner_->exchange_each(sends, receives)) completed(std::move(e));
        return std::vector<Event>(receives.size() + 1);
    }
    Event do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) override {
        note_messages(CommOp::all_to_all, sends, receives);
        return completed(inner_->all_to_all(sends, receives));
    }
    void do_barrier() override { inner_->barrier(); }

    void note(Call call) {
        if (recording_.on) recording_.calls.push_back(std::move(call));
    }
    void note_messages(CommOp op, std::span<const Message> sends, std::span<const Message> receives) {
        note({.operation = op,
              .comm = comm_,
              .sends = {sends.begin(), sends.end()},
              .receives = {receives.begin(), receives.end()}});
    }
    static Event completed(Event event) {
        if (!event.happened_at_once()) event.state()->wait_on_host();
        return {};
    }

    std::unique_ptr<Transport> inner_;
    MPI_Comm comm_;
    Recording& recording_;
};

}  // namespace

std::unique_ptr<Transport> make_recording_transport(std::unique_ptr<Transport> inner, MPI_Comm same_ranks,
                                                    Recording& recording) {
    MPI_Comm own = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(same_ranks, &own), "MPI_Comm_dup");
    return std::make_unique<RecordingTransport>(std::move(inner), own, recording);
}

}  // namespace gnnbench::bench
