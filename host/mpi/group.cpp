#include <numeric>
#include <utility>

#include <gnnbench/process_group.hpp>
#include <gnnbench/usize.hpp>

#include "mpi/check.hpp"
#include "mpi/idle_wait.hpp"
#include "mpi/mpi.hpp"
#include "mpi/pieces.hpp"
#include "mpi/transport.hpp"
#include "mpi/words.hpp"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace gnnbench {
namespace {

bool accepts_device_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
}

void progress_of(MPI_Comm comm) {
    int found = 0;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

std::vector<double> all_reduced(std::vector<double> v, MPI_Op op, MPI_Comm comm) {
    for_mpi_pieces(std::ssize(v), sizeof(double), mpi_piece_bytes(), [&](std::int64_t first, int n) {
        check_mpi(MPI_Allreduce(MPI_IN_PLACE, v.data() + first, n, MPI_DOUBLE, op, comm), "MPI_Allreduce");
    });
    return v;
}

/// How long every rank's text is, known to all; texts follow each other in rank order.
struct TextSizes {
    std::vector<std::int64_t> bytes, starts;
    std::int64_t total = 0;

    TextSizes(std::int64_t mine, int ranks, MPI_Comm comm) : bytes(usize(ranks)), starts(usize(ranks)) {
        check_mpi(MPI_Allgather(&mine, 1, MPI_INT64_T, bytes.data(), 1, MPI_INT64_T, comm), "MPI_Allgather");
        std::exclusive_scan(bytes.begin(), bytes.end(), starts.begin(), std::int64_t{0});
        total = starts.back() + bytes.back();
    }
    std::vector<std::string> cut(const std::string& all) const {
        std::vector<std::string> out;
        for (std::size_t r = 0; r < bytes.size(); ++r)
            out.push_back(all.substr(usize(starts[r]), usize(bytes[r])));
        return out;
    }
};

/// For a gather that fits one call.
std::vector<int> narrow(const std::vector<std::int64_t>& v) { return {v.begin(), v.end()}; }

/// The processes of an MPI communicator.
class MpiGroup final : public ProcessGroup::Implementation {
public:
    /// `owned`: freed with it.
    MpiGroup(MPI_Comm comm, bool owned) : comm_(comm), owned_(owned) {}
    MpiGroup(const MpiGroup&) = delete;
    MpiGroup& operator=(const MpiGroup&) = delete;
    ~MpiGroup() override {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (owned_ && comm_ != MPI_COMM_NULL && !finalized) MPI_Comm_free(&comm_);
    }

    int rank() const override {
        int r = 0;
        check_mpi(MPI_Comm_rank(comm_, &r), "MPI_Comm_rank");
        return r;
    }
    int size() const override {
        int s = 0;
        check_mpi(MPI_Comm_size(comm_, &s), "MPI_Comm_size");
        return s;
    }
    std::unique_ptr<Implementation> split(int color, int key) const override {
        MPI_Comm part = MPI_COMM_NULL;
        check_mpi(MPI_Comm_split(comm_, color, key, &part), "MPI_Comm_split");
        return std::make_unique<MpiGroup>(part, true);
    }
    std::unique_ptr<Implementation> split_by_host() const override {
        MPI_Comm part = MPI_COMM_NULL;
        check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank(), MPI_INFO_NULL, &part),
                  "MPI_Comm_split_type");
        return std::make_unique<MpiGroup>(part, true);
    }
    void barrier() const override { check_mpi(MPI_Barrier(comm_), "MPI_Barrier"); }
    void wait_for_all() const override {
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
        wait_idly({&request, 1});
    }
    void broadcast(void* data, std::size_t bytes, int root) const override {
        for_mpi_pieces(static_cast<std::int64_t>(bytes), 1, mpi_piece_bytes(), [&](std::int64_t first, int n) {
            check_mpi(MPI_Bcast(static_cast<char*>(data) + first, n, MPI_BYTE, root, comm_), "MPI_Bcast");
        });
    }
    std::vector<double> sum(std::vector<double> v) const override {
        return all_reduced(std::move(v), MPI_SUM, comm_);
    }
    std::vector<double> maximum(std::vector<double> v) const override {
        return all_reduced(std::move(v), MPI_MAX, comm_);
    }

    std::vector<std::string> gather(const std::string& text, int root) const override {
        const TextSizes sizes(std::ssize(text), size(), comm_);
        const std::int64_t piece = mpi_piece_bytes();
        std::string all(rank() == root ? usize(sizes.total) : 0, '\0');
        if (sizes.total <= piece) {
            check_mpi(MPI_Gatherv(text.data(), static_cast<int>(text.size()), MPI_CHAR, all.data(),
                                  narrow(sizes.bytes).data(), narrow(sizes.starts).data(), MPI_CHAR, root, comm_),
                      "MPI_Gatherv");
        } else if (rank() != root) {
            for_mpi_pieces(std::ssize(text), 1, piece, [&](std::int64_t first, int n) {
                check_mpi(MPI_Send(text.data() + first, n, MPI_CHAR, root, 0, comm_), "MPI_Send");
            });
        } else {
            text.copy(all.data() + sizes.starts[usize(root)], text.size());
            for (int from = 0; from < size(); ++from)
                for_mpi_pieces(from == root ? 0 : sizes.bytes[usize(from)], 1, piece,
                               [&](std::int64_t first, int n) {
                                   check_mpi(MPI_Recv(all.data() + sizes.starts[usize(from)] + first, n, MPI_CHAR,
                                                      from, 0, comm_, MPI_STATUS_IGNORE),
                                             "MPI_Recv");
                               });
        }
        return rank() == root ? sizes.cut(all) : std::vector<std::string>();
    }

    std::vector<std::string> all_gather(const std::string& text) const override {
        const TextSizes sizes(std::ssize(text), size(), comm_);
        std::string all(usize(sizes.total), '\0');
        if (sizes.total <= mpi_piece_bytes()) {
            check_mpi(MPI_Allgatherv(text.data(), static_cast<int>(text.size()), MPI_CHAR, all.data(),
                                     narrow(sizes.bytes).data(), narrow(sizes.starts).data(), MPI_CHAR, comm_),
                      "MPI_Allgatherv");
            return sizes.cut(all);
        }
        text.copy(all.data() + sizes.starts[usize(rank())], text.size());
        for (int from = 0; from < size(); ++from)
            broadcast(all.data() + sizes.starts[usize(from)], usize(sizes.bytes[usize(from)]), from);
        return sizes.cut(all);
    }

    void progress() const override { progress_of(comm_); }
    std::unique_ptr<RemoteWords> remote_words(int count, bool in_place) const override {
        const bool one_host = split_by_host()->size() == size();
        return words_in_window(comm_, count, one_host, in_place);
    }
    void trade(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) const override {
        const int count = mpi_count(std::ssize(mine), "MPI_Isend");
        MPI_Request both[2];
        check_mpi(MPI_Irecv(theirs.data(), count, MPI_INT64_T, partner, 0, comm_, &both[0]), "MPI_Irecv");
        check_mpi(MPI_Isend(mine.data(), count, MPI_INT64_T, partner, 0, comm_, &both[1]), "MPI_Isend");
        wait_idly(both);
    }
    std::unique_ptr<Transport> host_transport() const override { return transport_among(comm_); }
    bool device_messages() const override { return accepts_device_memory(); }
    std::string library() const override { return mpi_library(); }
    void* native() const override { return static_cast<void*>(&comm_); }

private:
    mutable MPI_Comm comm_;
    bool owned_;
};

/// One of MPI's own communicators, whose calls report errors instead of aborting.
ProcessGroup predefined(MPI_Comm comm) {
    check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return ProcessGroup(std::make_unique<MpiGroup>(comm, false));
}

}  // namespace

ProcessGroup mpi_world() { return predefined(MPI_COMM_WORLD); }
ProcessGroup mpi_self() { return predefined(MPI_COMM_SELF); }
void let_messages_through() { progress_of(MPI_COMM_SELF); }

}  // namespace gnnbench
