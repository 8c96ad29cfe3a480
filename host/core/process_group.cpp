#include <gnnbench/transport.hpp>

#include <numeric>
#include <utility>

#include <gnnbench/usize.hpp>

#include "core/idle_wait.hpp"
#include "core/mpi_check.hpp"
#include "core/mpi_pieces.hpp"

namespace gnnbench {

struct ProcessGroup::Impl {
    MPI_Comm comm = MPI_COMM_NULL;
    bool owned = false;
    ~Impl() {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (owned && comm != MPI_COMM_NULL && !finalized) MPI_Comm_free(&comm);
    }
};

ProcessGroup::ProcessGroup(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ProcessGroup::ProcessGroup(ProcessGroup&&) noexcept = default;
ProcessGroup& ProcessGroup::operator=(ProcessGroup&&) noexcept = default;
ProcessGroup::~ProcessGroup() = default;

ProcessGroup ProcessGroup::world() {
    auto impl = std::make_unique<Impl>();
    impl->comm = MPI_COMM_WORLD;
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return ProcessGroup(std::move(impl));
}

ProcessGroup ProcessGroup::self() {
    auto impl = std::make_unique<Impl>();
    impl->comm = MPI_COMM_SELF;
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return ProcessGroup(std::move(impl));
}

std::string ProcessGroup::library() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    check_mpi(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
    const std::string whole(text, usize(length));
    return whole.substr(0, whole.find_first_of(",\n"));
}

int ProcessGroup::rank() const {
    int r = 0;
    check_mpi(MPI_Comm_rank(impl_->comm, &r), "MPI_Comm_rank");
    return r;
}

int ProcessGroup::size() const {
    int s = 0;
    check_mpi(MPI_Comm_size(impl_->comm, &s), "MPI_Comm_size");
    return s;
}

ProcessGroup ProcessGroup::split(int color, int key) const {
    auto impl = std::make_unique<Impl>();
    check_mpi(MPI_Comm_split(impl_->comm, color, key, &impl->comm), "MPI_Comm_split");
    impl->owned = true;
    return ProcessGroup(std::move(impl));
}

ProcessGroup ProcessGroup::split_by_host() const {
    auto impl = std::make_unique<Impl>();
    check_mpi(MPI_Comm_split_type(impl_->comm, MPI_COMM_TYPE_SHARED, rank(), MPI_INFO_NULL, &impl->comm),
              "MPI_Comm_split_type");
    impl->owned = true;
    return ProcessGroup(std::move(impl));
}

void ProcessGroup::barrier() const { check_mpi(MPI_Barrier(impl_->comm), "MPI_Barrier"); }

void ProcessGroup::wait_for_all() const {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(impl_->comm, &request), "MPI_Ibarrier");
    wait_idly({&request, 1});
}

void ProcessGroup::broadcast(void* data, std::size_t bytes, int root) const {
    for_mpi_pieces(static_cast<std::int64_t>(bytes), 1, mpi_piece_bytes(), [&](std::int64_t first, int n) {
        check_mpi(MPI_Bcast(static_cast<char*>(data) + first, n, MPI_BYTE, root, impl_->comm), "MPI_Bcast");
    });
}

namespace {

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

}  // namespace

std::vector<double> ProcessGroup::sum(std::vector<double> v) const {
    return all_reduced(std::move(v), MPI_SUM, impl_->comm);
}

std::vector<double> ProcessGroup::maximum(std::vector<double> v) const {
    return all_reduced(std::move(v), MPI_MAX, impl_->comm);
}

std::vector<std::string> ProcessGroup::gather(const std::string& text, int root) const {
    const TextSizes sizes(std::ssize(text), size(), impl_->comm);
    const std::int64_t piece = mpi_piece_bytes();
    std::string all(rank() == root ? usize(sizes.total) : 0, '\0');
    if (sizes.total <= piece) {
        check_mpi(
            MPI_Gatherv(text.data(), static_cast<int>(text.size()), MPI_CHAR, all.data(),
                        narrow(sizes.bytes).data(), narrow(sizes.starts).data(), MPI_CHAR, root, impl_->comm),
            "MPI_Gatherv");
    } else if (rank() != root) {
        for_mpi_pieces(std::ssize(text), 1, piece, [&](std::int64_t first, int n) {
            check_mpi(MPI_Send(text.data() + first, n, MPI_CHAR, root, 0, impl_->comm), "MPI_Send");
        });
    } else {
        text.copy(all.data() + sizes.starts[usize(root)], text.size());
        for (int from = 0; from < size(); ++from)
            for_mpi_pieces(from == root ? 0 : sizes.bytes[usize(from)], 1, piece, [&](std::int64_t first, int n) {
                check_mpi(MPI_Recv(all.data() + sizes.starts[usize(from)] + first, n, MPI_CHAR, from, 0,
                                   impl_->comm, MPI_STATUS_IGNORE),
                          "MPI_Recv");
            });
    }
    return rank() == root ? sizes.cut(all) : std::vector<std::string>();
}

std::vector<std::string> ProcessGroup::all_gather(const std::string& text) const {
    const TextSizes sizes(std::ssize(text), size(), impl_->comm);
    std::string all(usize(sizes.total), '\0');
    if (sizes.total <= mpi_piece_bytes()) {
        check_mpi(MPI_Allgatherv(text.data(), static_cast<int>(text.size()), MPI_CHAR, all.data(),
                                 narrow(sizes.bytes).data(), narrow(sizes.starts).data(), MPI_CHAR, impl_->comm),
                  "MPI_Allgatherv");
        return sizes.cut(all);
    }
    text.copy(all.data() + sizes.starts[usize(rank())], text.size());
    for (int from = 0; from < size(); ++from)
        broadcast(all.data() + sizes.starts[usize(from)], usize(sizes.bytes[usize(from)]), from);
    return sizes.cut(all);
}

void* ProcessGroup::native() const { return static_cast<void*>(&impl_->comm); }

}  // namespace gnnbench
