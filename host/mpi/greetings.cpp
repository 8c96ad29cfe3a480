#include <fmt/format.h>

#include "mpi/check.hpp"
#include "mpi/mpi.hpp"

namespace gnnbench {
namespace {

class MpiGreetings final : public Greetings {
public:
    explicit MpiGreetings(const ProcessGroup& world)
        : comm_(*static_cast<MPI_Comm*>(world.native())), rank_(world.rank()) {
        const int size = world.size();
        for (int distance = 1; distance < size; distance *= 2) from_.push_back((rank_ + size - distance) % size);
        heard_.resize(from_.size());
        requests_.resize(2 * from_.size(), MPI_REQUEST_NULL);
        for (std::size_t i = 0; i < from_.size(); ++i) {
            const int to = (2 * rank_ + size - from_[i]) % size;
            said("MPI_Irecv", from_[i],
                 MPI_Irecv(&heard_[i], 1, MPI_INT, from_[i], tag, comm_, &requests_[2 * i]));
            said("MPI_Isend", to, MPI_Isend(&rank_, 1, MPI_INT, to, tag, comm_, &requests_[2 * i + 1]));
        }
    }
    bool all_heard() override {
        int done = 0;
        check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
                  "MPI_Testall");
        return done != 0;
    }
    std::vector<int> missing() override {
        std::vector<int> ranks;
        for (std::size_t i = 0; i < from_.size(); ++i) {
            int done = 0;
            if (requests_[2 * i] != MPI_REQUEST_NULL) MPI_Test(&requests_[2 * i], &done, MPI_STATUS_IGNORE);
            if (requests_[2 * i] != MPI_REQUEST_NULL) ranks.push_back(from_[i]);
        }
        return ranks;
    }

private:
    static constexpr int tag = 1;

    static void said(const char* call, int peer, int code) {
        try {
            check_mpi(code, call);
        } catch (const CommunicationError& e) {
            throw CommunicationError(fmt::format("cannot reach rank {}: {}", peer, e.what()));
        }
    }

    MPI_Comm comm_;
    int rank_;
    std::vector<int> from_, heard_;
    std::vector<MPI_Request> requests_;  ///< [2 · peer]: received, sent
};

}  // namespace

std::unique_ptr<Greetings> Greetings::among(const ProcessGroup& world) {
    return std::make_unique<MpiGreetings>(world);
}

}  // namespace gnnbench
