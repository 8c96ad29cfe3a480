#include <gnnbench/transport.hpp>

#include <numeric>
#include <utility>

#include <gnnbench/usize.hpp>

#include "core/idle_wait.hpp"
#include "core/mpi_check.hpp"

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
    constexpr std::size_t piece = std::size_t{1} << 30;
    for (std::size_t at = 0; at < bytes; at += piece)
        check_mpi(MPI_Bcast(static_cast<char*>(data) + at, static_cast<int>(std::min(piece, bytes - at)), MPI_BYTE,
                            root, impl_->comm),
                  "MPI_Bcast");
}

std::vector<double> ProcessGroup::sum(std::vector<double> v) const {
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, v.data(), mpi_count(std::ssize(v), "MPI_Allreduce"), MPI_DOUBLE, MPI_SUM,
                            impl_->comm),
              "MPI_Allreduce");
    return v;
}

std::vector<double> ProcessGroup::maximum(std::vector<double> v) const {
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, v.data(), mpi_count(std::ssize(v), "MPI_Allreduce"), MPI_DOUBLE, MPI_MAX,
                            impl_->comm),
              "MPI_Allreduce");
    return v;
}

namespace {

/// Splits rank-ordered concatenated text.
std::vector<std::string> cut(const std::string& all, const std::vector<int>& sizes) {
    std::vector<std::string> out;
    std::size_t at = 0;
    for (const int s : sizes) {
        out.push_back(all.substr(at, usize(s)));
        at += usize(s);
    }
    return out;
}

}  // namespace

std::vector<std::string> ProcessGroup::gather(const std::string& text, int root) const {
    const int mine = mpi_count(std::ssize(text), "MPI_Gatherv");
    const auto k = usize(size());
    std::vector<int> sizes(k), starts(k);
    check_mpi(MPI_Gather(&mine, 1, MPI_INT, sizes.data(), 1, MPI_INT, root, impl_->comm), "MPI_Gather");
    std::exclusive_scan(sizes.begin(), sizes.end(), starts.begin(), 0);
    std::string all(rank() == root ? usize(starts.back() + sizes.back()) : 0, '\0');
    check_mpi(MPI_Gatherv(text.data(), mine, MPI_CHAR, all.data(), sizes.data(), starts.data(), MPI_CHAR, root,
                          impl_->comm),
              "MPI_Gatherv");
    return rank() == root ? cut(all, sizes) : std::vector<std::string>();
}

std::vector<std::string> ProcessGroup::all_gather(const std::string& text) const {
    const int mine = mpi_count(std::ssize(text), "MPI_Allgatherv");
    const auto k = usize(size());
    std::vector<int> sizes(k), starts(k);
    check_mpi(MPI_Allgather(&mine, 1, MPI_INT, sizes.data(), 1, MPI_INT, impl_->comm), "MPI_Allgather");
    std::exclusive_scan(sizes.begin(), sizes.end(), starts.begin(), 0);
    std::string all(usize(starts.back() + sizes.back()), '\0');
    check_mpi(MPI_Allgatherv(text.data(), mine, MPI_CHAR, all.data(), sizes.data(), starts.data(), MPI_CHAR,
                             impl_->comm),
              "MPI_Allgatherv");
    return cut(all, sizes);
}

void* ProcessGroup::native() const { return static_cast<void*>(&impl_->comm); }

}  // namespace gnnbench
