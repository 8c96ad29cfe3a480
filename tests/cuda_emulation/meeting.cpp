// Where ranks are in NCCL: each tells its peers of every call, and a rank that waits for one that can never come is found
// by what it has been told.
#include "meeting.hpp"

#include <chrono>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <thread>
#include <utility>

#include "order.hpp"

namespace emulated {
namespace {

constexpr int tag = 77;
/// Longer than a peer takes to get somewhere, however busy the machine.
constexpr auto patience = std::chrono::seconds(60);

enum class Of : long { collective, messages, leaves };

/// What one rank has told this one about a communicator, and this one has not met yet.
struct Told {
    std::deque<std::array<long, 5>> collectives;
    std::deque<long> sends, receives;  ///< bytes of messages to this rank, and from it
    bool left = false;
    bool waits() const { return !collectives.empty() || !sends.empty() || !receives.empty(); }
};

struct Peers {
    std::map<std::pair<long, int>, Told> told;  ///< by communicator and rank of the world
    std::map<long, bool> mine;                  ///< communicators that this rank is in
    std::list<std::pair<std::vector<long>, MPI_Request>> under_way;
} peers;

void tell(int rank, std::vector<long> text) {
    peers.under_way.remove_if([](auto& message) {
        int sent = 0;
        MPI_Test(&message.second, &sent, MPI_STATUS_IGNORE);
        return sent != 0;
    });
    auto& [kept, request] = peers.under_way.emplace_back(std::move(text), MPI_REQUEST_NULL);
    MPI_Isend(kept.data(), static_cast<int>(kept.size()), MPI_LONG, rank, tag, control(), &request);
}

/// {communicator, Of, …}: a collective's five numbers; or how many sends, their bytes, and the bytes of receives.
void listen() {
    for (int here = 1; here != 0;) {
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, tag, control(), &here, &status);
        if (here == 0) return;
        int count = 0;
        MPI_Get_count(&status, MPI_LONG, &count);
        std::vector<long> text(static_cast<std::size_t>(count));
        MPI_Recv(text.data(), count, MPI_LONG, status.MPI_SOURCE, tag, control(), MPI_STATUS_IGNORE);
        Told& told = peers.told[{text[0], status.MPI_SOURCE}];
        switch (static_cast<Of>(text[1])) {
            case Of::collective:
                told.collectives.push_back({text[2], text[3], text[4], text[5], text[6]});
                break;
            case Of::messages: {
                const auto first = text.begin() + 3, middle = first + text[2];
                told.sends.insert(told.sends.end(), first, middle);
                told.receives.insert(told.receives.end(), middle, text.end());
                break;
            }
            case Of::leaves:
                told.left = true;
                break;
        }
    }
}

/// Whether this rank is held up by `rank` in `where` while that one is held up by this one.
void check_progress(int rank, long id, const char* where, std::chrono::steady_clock::time_point since) {
    if (peers.told[{id, rank}].left) broken("%s waits for rank %d, which has left the communicator", where, rank);
    for (const auto& [of, told] : peers.told)
        if (of.second == rank && told.waits() && peers.mine[of.first])
            broken("%s waits for rank %d, which waits for this rank in another call, %s%s", where, rank,
                   told.collectives.empty() ? "a message" : "a collective",
                   of.first == id ? "" : " of another communicator");
    if (std::chrono::steady_clock::now() - since > patience)
        broken("%s has waited a minute for rank %d", where, rank);
}

void wait_for_peers(long id, const char* where, const std::vector<int>& members, int rank, auto&& met) {
    const auto since = std::chrono::steady_clock::now();
    for (bool all = false; !all; std::this_thread::yield()) {
        listen();
        all = true;
        for (std::size_t m = 0; m < members.size(); ++m) {
            if (static_cast<int>(m) == rank || met(m, peers.told[{id, members[m]}])) continue;
            all = false;
            check_progress(members[m], id, where, since);
        }
    }
}

}  // namespace

MPI_Comm control() {
    static MPI_Comm comm = [] {
        MPI_Comm c = MPI_COMM_NULL;
        MPI_Group all;
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Comm_create_group(MPI_COMM_WORLD, all, 4711, &c);
        MPI_Group_free(&all);
        return c;
    }();
    return comm;
}

Meeting::Meeting(MPI_Comm comm, std::vector<int> members, int rank) : members_(std::move(members)), rank_(rank) {
    static long made = 0;
    id_ = ++made * 10000 + members_[static_cast<std::size_t>(rank)];
    MPI_Bcast(&id_, 1, MPI_LONG, 0, comm);
    peers.mine[id_] = true;
}

Meeting::~Meeting() {
    listen();
    for (std::size_t m = 0; m < members_.size(); ++m) {
        if (static_cast<int>(m) == rank_) continue;
        if (peers.told[{id_, members_[m]}].waits())
            broken("a communicator ends in which rank %d waits for this one", members_[m]);
        tell(members_[m], {id_, static_cast<long>(Of::leaves)});
        peers.told.erase({id_, members_[m]});
    }
    peers.mine.erase(id_);
}

void Meeting::collective(const Collective& call) {
    const std::array<long, 5> mine = {call.kind, call.bytes, call.type, call.op, call.root};
    for (std::size_t m = 0; m < members_.size(); ++m)
        if (static_cast<int>(m) != rank_)
            tell(members_[m],
                 {id_, static_cast<long>(Of::collective), mine[0], mine[1], mine[2], mine[3], mine[4]});
    std::vector<bool> here(members_.size());
    wait_for_peers(id_, call.name, members_, rank_, [&](std::size_t m, Told& told) {
        if (here[m]) return true;
        if (told.collectives.empty()) return false;
        if (told.collectives.front() != mine)
            broken(
                "%s of %ld bytes by rank %d meets another call by rank %d: its kind, bytes, type, operation and "
                "root are %ld, "
                "%ld, %ld, %ld, %ld, and not %ld, %ld, %ld, %ld, %ld",
                call.name, call.bytes, members_[static_cast<std::size_t>(rank_)], members_[m],
                told.collectives.front()[0], told.collectives.front()[1], told.collectives.front()[2],
                told.collectives.front()[3], told.collectives.front()[4], mine[0], mine[1], mine[2], mine[3],
                mine[4]);
        told.collectives.pop_front();
        here[m] = true;
        return true;
    });
}

void Meeting::messages(const Bytes& sends, const Bytes& receives) {
    for (std::size_t m = 0; m < members_.size(); ++m) {
        if (static_cast<int>(m) == rank_ || (sends[m].empty() && receives[m].empty())) continue;
        std::vector<long> text = {id_, static_cast<long>(Of::messages), static_cast<long>(sends[m].size())};
        text.insert(text.end(), sends[m].begin(), sends[m].end());
        text.insert(text.end(), receives[m].begin(), receives[m].end());
        tell(members_[m], std::move(text));
    }
    std::vector<std::size_t> sent(members_.size()), received(members_.size());
    const auto match = [&](const char* what, const std::vector<long>& mine, std::size_t& done,
                           std::deque<long>& theirs, int peer) {
        for (; done < mine.size() && !theirs.empty(); ++done, theirs.pop_front())
            if (mine[done] != theirs.front())
                broken("%s of %ld bytes meets one of %ld bytes of rank %d", what, mine[done], theirs.front(),
                       peer);
        return done == mine.size();
    };
    wait_for_peers(id_, "a group of messages", members_, rank_, [&](std::size_t m, Told& told) {
        const bool out = match("a send", sends[m], sent[m], told.receives, members_[m]);
        return match("a receive", receives[m], received[m], told.sends, members_[m]) && out;
    });
}

}  // namespace emulated
